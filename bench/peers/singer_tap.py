"""The work of `simcat sync` as a Singer tap: prints what changed for a target, and at the end the dates as the state.

It notices no removal and trusts every date. Call it as `python singer_tap.py STATE_FILE`.
"""

import json
import sys
from pathlib import Path

from cloud import KEY, read_changed

KEYS = {"libraries": KEY, "scenarios": [*KEY, "scenarioId"]}
TEXT = {"type": ["null", "string"]}
PROPERTIES = {
    "libraries": dict.fromkeys(
        [*KEY, "libraryOwner", "packageName", "packageVersion", "libraryName", "fileSize", "lastModified", "description"], TEXT
    ),
    "scenarios": {
        **dict.fromkeys([*KEY, "scenarioName", "lastModified", "description"], TEXT),
        "scenarioId": {"type": "integer"},
        "parentId": {"type": ["null", "integer"]},
        "isResult": {"type": ["null", "boolean"]},
    },
}


def tell(**message):
    sys.stdout.write(json.dumps(message) + "\n")


if __name__ == "__main__":
    state = Path(sys.argv[1])
    dates = json.loads(state.read_text()) if state.exists() else {}
    for stream, properties in PROPERTIES.items():
        tell(type="SCHEMA", stream=stream, schema={"properties": properties}, key_properties=KEYS[stream])
    for library, scenarios in read_changed(dates):
        tell(type="RECORD", stream="libraries", record=library)
        for scenario in scenarios:
            tell(type="RECORD", stream="scenarios", record=scenario)
    tell(type="STATE", value=dates)
