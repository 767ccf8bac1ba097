"""Reads every view of simcat_report as analysts do, and compares each value with the one that Postgres prints.

Usage: read_views.py DATABASE_URL. Prints one line per view; fails on the first difference.
"""

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
# Arrow clients fail on these or read them as texts. Another column has the same value: test/reporting/types.test.ts checks that.
OTHER_TYPES = {"interval", "numeric"}

COLUMNS = """
SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = 'simcat_report' ORDER BY table_name, ordinal_position"""


def query(sql):
    with adbc.connect(URL) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def views():
    """The readable columns of each view, with their types."""
    found = {}
    for view, column, data_type in query(COLUMNS):
        if data_type in OTHER_TYPES:
            continue
        assert data_type in ARROW_TYPES, f"{view}.{column} has the type {data_type}, which is not tested"
        found.setdefault(view, {})[column] = data_type
    return found


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


def assert_polars(view, columns, engine):
    names = ", ".join(columns)
    frame = polars.read_database_uri(f"SELECT {names} FROM simcat_report.{view}", URL, engine=engine)
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


def assert_pandas(view, columns):
    """Without a dtype_backend, pandas makes doubles of a bigint column with NULLs and rounds above 2^53."""
    with adbc.connect(URL) as connection:
        frame = pandas.read_sql(f"SELECT {', '.join(columns)} FROM simcat_report.{view}", connection, dtype_backend="pyarrow")
    for column, data_type in columns.items():
        if data_type == "bigint":
            assert str(frame[column].dtype) == "int64[pyarrow]", f"pandas: {view}.{column} is {frame[column].dtype}"


for view, columns in views().items():
    rows = assert_polars(view, columns, "adbc")
    assert_polars(view, columns, "connectorx")
    assert_pandas(view, columns)
    print(f"{view}: {rows} rows, {len(columns)} columns")
