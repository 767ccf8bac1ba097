"""The work of `simcat sync` as a dlt pipeline that loads CSV files with COPY and merges by key.

It keeps no history, notices no removal, and trusts every date, so it does less than simcat.
"""

import os

import dlt
from cloud import KEY, read_changed


@dlt.source
def cloud():
    @dlt.resource(selected=False)
    def contents():
        yield from read_changed(dlt.current.source_state().setdefault("dates", {}))

    @dlt.transformer(data_from=contents, primary_key=KEY, write_disposition="merge")
    def libraries(content):
        yield content[0]

    @dlt.transformer(data_from=contents, primary_key=[*KEY, "scenario_id"], write_disposition="merge")
    def scenarios(content):
        yield content[1]

    return libraries, scenarios


if __name__ == "__main__":
    pipeline = dlt.pipeline(
        "peer",
        destination=dlt.destinations.postgres(os.environ["DATABASE_URL"]),
        dataset_name="dlt_peer",
        pipelines_dir="dlt",
    )
    pipeline.run(cloud(), loader_file_format="csv")
