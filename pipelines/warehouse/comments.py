"""What any client's catalog says of the published views: the headers of `sql/`, as comments of the database.

Belongs here: which comment goes where. Does not belong here: any text about a column (`sql/views/`).
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from pipelines import queries
from pipelines.warehouse.engine import literal

_INTERNAL = "Internal, may change with any version."
_OF_FILES = {"filename": "path of the Parquet file", "day": "UTC date of arrival, as the file's folder is named"}


def write_comments(connection: duckdb.DuckDBPyConnection) -> None:
    """Comment on the views, their columns, the macros and the tables of the database `snapshot`.

    Names are spelt out: the session has temporary views of its own that stand before the snapshot's.
    """
    for name in queries.names("views"):
        _view(connection, name.removeprefix("views/"), _what_it_is(queries.load(name)), queries.load(name).comments)
    for name in queries.names("macros"):
        macro = queries.load(name).header
        _comment(
            connection, f"macro snapshot.main.{name.removeprefix('macros/')}", f"{macro['why']} [{macro['units']}]"
        )
    tables = connection.execute(
        "select schema_name || '.' || table_name, table_name from duckdb_tables() where database_name = 'snapshot'"
    ).fetchall()
    headers = {name.split("_", 1)[1]: queries.load(name) for name in queries.names("schema")}
    for table, name in tables:
        _comment(connection, f"table snapshot.{table}", f"{_INTERNAL} {_what_it_is(headers[name])}")
    _lake(connection)


def _lake(connection: duckdb.DuckDBPyConnection) -> None:
    """Comment on the view behind `requests`."""
    texts = {**queries.load("views/requests").comments, **_OF_FILES}
    there = [row[0] for row in connection.execute("describe snapshot.main.lake").fetchall()]
    _view(connection, "lake", f"{_INTERNAL} The files that requests is made of.", {name: texts[name] for name in there})


def _what_it_is(query: queries.Query) -> str:
    """Return grain, units and remarks of a header."""
    units = "" if query.header["units"] == "none" else f" Units: {query.header['units']}."
    return f"One row per {query.header['grain']}.{units} {query.header.get('why', '')}".strip()


def _view(connection: duckdb.DuckDBPyConnection, view: str, text: str, columns: Mapping[str, str]) -> None:
    _comment(connection, f"view snapshot.main.{view}", text)
    for column, of_column in columns.items():
        _comment(connection, f"column snapshot.main.{view}.{column}", of_column)


def _comment(connection: duckdb.DuckDBPyConnection, of: str, text: str) -> None:
    connection.execute(f"comment on {of} is {literal(text)}")
