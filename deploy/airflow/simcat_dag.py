"""An Airflow 3 DAG: `simcat sync` every 15 minutes, then a check of the copy's freshness. Settings are the worker's environment."""

import json
import subprocess
from datetime import datetime, timedelta

from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

OLDEST = timedelta(hours=26)  # A library whose date is not settled is read again after at most a day.


@dag(schedule="*/15 * * * *", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1)
def simcat():
    @task(retries=2, retry_delay=timedelta(minutes=1), execution_timeout=timedelta(hours=1))
    def sync():
        code = subprocess.run(["simcat", "sync"], check=False).returncode
        if code == 75:
            raise AirflowSkipException("another run is in progress")
        if code in (3, 64, 76, 77, 78):
            raise AirflowFailException(f"exit code {code}: another attempt would end the same way")
        if code not in (0, 2):  # 2, partial: the rest is stored, and the next run tries again.
            raise RuntimeError(f"exit code {code}")

    @task(trigger_rule="none_failed")
    def freshness():
        query = ["simcat", "query", "--json", "SELECT age_seconds FROM data_complete_as_of"]
        age = json.loads(subprocess.run(query, check=True, capture_output=True).stdout)[0]["age_seconds"]
        if age is None or age > OLDEST.total_seconds():
            raise AirflowFailException(f"age of the copy: {age} s (None: never complete); simcat status names the libraries")

    sync() >> freshness()


simcat()
