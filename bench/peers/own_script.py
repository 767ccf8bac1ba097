"""What people write first: reads what has another date, and upserts row by row with psycopg. No history, no removals, no guards."""

import json
import os

import psycopg
from cloud import read_changed

TABLES = """
CREATE SCHEMA IF NOT EXISTS own_script;
CREATE TABLE IF NOT EXISTS own_script.dates (name text PRIMARY KEY, last_modified text);
CREATE TABLE IF NOT EXISTS own_script.libraries (owner text, library_name text, raw jsonb, PRIMARY KEY (owner, library_name));
CREATE TABLE IF NOT EXISTS own_script.scenarios (owner text, library_name text, scenario_id bigint, raw jsonb,
  PRIMARY KEY (owner, library_name, scenario_id));
"""
LIBRARY = "INSERT INTO own_script.libraries VALUES (%s, %s, %s) ON CONFLICT (owner, library_name) DO UPDATE SET raw = excluded.raw"
SCENARIO = """INSERT INTO own_script.scenarios VALUES (%s, %s, %s, %s)
ON CONFLICT (owner, library_name, scenario_id) DO UPDATE SET raw = excluded.raw"""
DATE = "INSERT INTO own_script.dates VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET last_modified = excluded.last_modified"

if __name__ == "__main__":
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor() as cursor:
        cursor.execute(TABLES)
        dates = dict(cursor.execute("SELECT name, last_modified FROM own_script.dates").fetchall())
        stored = dict(dates)
        for library, scenarios in read_changed(dates):
            owner, name = library["owner"], library["library_name"]
            cursor.execute(LIBRARY, (owner, name, json.dumps(library)))
            rows = [(owner, name, scenario["scenarioId"], json.dumps(scenario)) for scenario in scenarios]
            cursor.executemany(SCENARIO, rows)
        cursor.executemany(DATE, [(name, date) for name, date in dates.items() if stored.get(name) != date])
