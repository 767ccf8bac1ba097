"""The work of `simcat sync` as a dlt pipeline: reads changed libraries in parallel, loads CSV files with COPY, merges by key.

It keeps no history, notices no removal, and trusts every date, so it does less than simcat. Prints the processor seconds.
"""

import os
import resource
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import dlt
import requests

BASE_URL = os.environ["SIMCAT_BASE_URL"].rstrip("/")
IN_FLIGHT = 16

session = requests.Session()
session.headers["x-ss-api-key"] = os.environ["SIMCAT_API_KEY"]
session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=IN_FLIGHT))


def get(path):
    response = session.get(BASE_URL + path)
    response.raise_for_status()
    return response.json()


def read_content(entry):
    path = f"/libs/user/{quote(entry['uploadUser'], safe='')}/{quote(entry['libraryName'], safe='')}"
    key = {"owner": entry["uploadUser"], "library_name": entry["libraryName"]}
    scenarios = [{**scenario, **key} for scenario in get(f"{path}/scenarios")]
    return {**get(f"{path}/metadata"), **key}, scenarios


@dlt.source
def cloud():
    key = ["owner", "library_name"]

    @dlt.resource(selected=False)
    def contents():
        dates = dlt.current.source_state().setdefault("dates", {})
        listed = {(entry["uploadUser"], entry["libraryName"]): entry for entry in get("/libs")}
        changed = [entry for name, entry in listed.items() if dates.get("/".join(name)) != entry["lastModified"]]
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            for entry, content in zip(changed, pool.map(read_content, changed)):
                dates[f"{entry['uploadUser']}/{entry['libraryName']}"] = entry["lastModified"]
                yield content

    @dlt.transformer(data_from=contents, primary_key=key, write_disposition="merge")
    def libraries(content):
        yield content[0]

    @dlt.transformer(data_from=contents, primary_key=[*key, "scenario_id"], write_disposition="merge")
    def scenarios(content):
        yield content[1]

    return libraries, scenarios


if __name__ == "__main__":
    pipeline = dlt.pipeline(
        "peer",
        destination=dlt.destinations.postgres(os.environ["DATABASE_URL"]),
        dataset_name="dlt_peer",
        pipelines_dir=os.environ["PIPELINES_DIR"],
    )
    pipeline.run(cloud(), loader_file_format="csv")
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(sum(usage.ru_utime + usage.ru_stime for usage in usages))
