"""A Dagster asset: `simcat sync` every 15 minutes, with a check of the copy's freshness. Settings are the process's environment."""

import json
import subprocess

import dagster as dg

OLDEST_S = 26 * 3600  # A library whose date is not settled is read again after at most a day.


@dg.asset(retry_policy=dg.RetryPolicy(max_retries=2, delay=60))
def simcat(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    code = subprocess.run(["simcat", "sync"], check=False).returncode
    if code in (3, 64, 76, 77, 78):
        raise dg.Failure(f"exit code {code}: another attempt would end the same way", allow_retries=False)
    if code not in (0, 2, 75):  # 2, partial: the rest is stored. 75: another run is in progress.
        raise dg.Failure(f"exit code {code}")
    return dg.MaterializeResult(metadata={"exit_code": code})


@dg.asset_check(asset=simcat)
def freshness() -> dg.AssetCheckResult:
    query = ["simcat", "query", "--json", "SELECT age_seconds FROM data_complete_as_of"]
    age = json.loads(subprocess.run(query, check=True, capture_output=True).stdout)[0]["age_seconds"]
    return dg.AssetCheckResult(passed=age is not None and age <= OLDEST_S, metadata={"age_seconds": age})


job = dg.define_asset_job("simcat_sync", selection=[simcat])
schedule = dg.ScheduleDefinition(job=job, cron_schedule="*/15 * * * *")
defs = dg.Definitions(assets=[simcat], asset_checks=[freshness], jobs=[job], schedules=[schedule])
