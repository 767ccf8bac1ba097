"""Reads the service as all peers do: the listing, then metadata and scenarios of libraries, 16 at a time."""

import os
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import requests

BASE_URL = os.environ["SIMCAT_BASE_URL"].rstrip("/")
IN_FLIGHT = 16
KEY = ["owner", "library_name"]

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


def read_changed(dates):
    """Yields the content of each library whose date is not the one in `dates`, and keeps its date there."""
    names = {"/".join((entry["uploadUser"], entry["libraryName"])): entry for entry in get("/libs")}
    changed = {name: entry for name, entry in names.items() if dates.get(name) != entry["lastModified"]}
    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        for (name, entry), content in zip(changed.items(), pool.map(read_content, changed.values())):
            dates[name] = entry["lastModified"]
            yield content
