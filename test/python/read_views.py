"""Reads every view of simcat_report as analysts do, and compares each value with the one that Postgres prints.

Usage: read_views.py DATABASE_URL. Prints one line per view; fails on the first difference.
"""

import pathlib
import re
import sys

import adbc_driver_postgresql.dbapi as adbc
import pandas
import polars

URL = sys.argv[1]

ARROW_TYPES = {
    "text": polars.String,
    "bigint": polars.Int64,
    "integer": polars.Int32,
    "boolean": polars.Boolean,
    "double precision": polars.Float64,
    "date": polars.Date,
    "timestamp with time zone": polars.Datetime("us", "UTC"),
    "jsonb": polars.String,
}
DOCUMENT = pathlib.Path(__file__).parents[2] / "docs/reporting.md"

COLUMNS = """
SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = 'simcat_report' ORDER BY table_name, ordinal_position"""


def query(sql):
    with adbc.connect(URL) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def documented():
    """The queries for Arrow clients, by view."""
    section = DOCUMENT.read_text().split("\n## Python, R and Arrow\n")[1].split("\n## ")[0]
    queries = re.findall(r"^```sql\n(SELECT .*?FROM simcat_report\.(\w+));\n```$", section, re.MULTILINE | re.DOTALL)
    return {view: sql for sql, view in queries}


def views():
    """The query of each view, and the types of its columns: the documented query, or SELECT *."""
    types = {}
    for view, column, data_type in query(COLUMNS):
        types.setdefault(view, {})[column] = data_type
    queries = documented()
    assert queries, f"{DOCUMENT} has no queries for Arrow clients"
    for view, columns in types.items():
        sql = queries.get(view, f"SELECT * FROM simcat_report.{view}")
        if view in queries:
            names = re.findall(r"\w+", sql[len("SELECT") : sql.index("FROM")])
            columns = {name: columns[name] for name in names}
        for column, data_type in columns.items():
            assert data_type in ARROW_TYPES, f"{view}.{column} has the type {data_type}, which is not tested"
        yield view, sql, columns


def comparable(column, data_type):
    """The value as a text. Doubles depend on now(), so only NULL and not NULL are compared."""
    if data_type == "timestamp with time zone":
        return f"(extract(epoch FROM {column}) * 1000000)::bigint::text"
    if data_type == "double precision":
        return f"({column} IS NULL)::text"
    return f"{column}::text"


def to_comparable(series, data_type):
    if data_type == "timestamp with time zone":
        return series.dt.epoch("us").cast(polars.String)
    if data_type == "double precision":
        return series.is_null().cast(polars.String)
    return series.cast(polars.String)


def rows_of(columns, rows):
    """Sorted, as texts. JSON is left out, because connectorx prints it without spaces."""
    compared = [at for at, data_type in enumerate(columns.values()) if data_type != "jsonb"]
    return sorted(tuple(str(row[at]) for at in compared) for row in rows)


def assert_polars(view, sql, columns, engine):
    frame = polars.read_database_uri(sql, URL, engine=engine)
    assert frame.columns == list(columns), f"{engine}: {view} has the columns {frame.columns}"
    for column, data_type in columns.items():
        if data_type == "jsonb" and engine == "adbc":
            # ADBC marks it as JSON, which Polars stores as text.
            frame = frame.with_columns(frame[column].ext.storage())
        assert frame[column].dtype == ARROW_TYPES[data_type], f"{engine}: {view}.{column} is {frame[column].dtype}"
    expected = query(f"SELECT {', '.join(comparable(*column) for column in columns.items())} FROM simcat_report.{view}")
    read = list(zip(*(to_comparable(frame[column], data_type) for column, data_type in columns.items())))
    assert len(read) == len(expected), f"{engine}: {view} has {len(read)} rows instead of {len(expected)}"
    assert rows_of(columns, read) == rows_of(columns, expected), f"{engine}: values of {view} differ"
    return len(read)


def assert_pandas(view, sql, columns):
    """Without a dtype_backend, pandas makes doubles of a bigint column with NULLs and rounds above 2^53."""
    with adbc.connect(URL) as connection:
        frame = pandas.read_sql(sql, connection, dtype_backend="pyarrow")
    for column, data_type in columns.items():
        if data_type == "bigint":
            assert str(frame[column].dtype) == "int64[pyarrow]", f"pandas: {view}.{column} is {frame[column].dtype}"


for view, sql, columns in views():
    rows = assert_polars(view, sql, columns, "adbc")
    assert_polars(view, sql, columns, "connectorx")
    assert_pandas(view, sql, columns)
    print(f"{view}: {rows} rows, {len(columns)} columns")
