"""The engine's errors about a person's query, in words that say what to type instead.

Belongs here: unknown columns, views and functions with their nearest names, limits with advice, everything else in the
engine's own words without its insides. Does not belong here: what is refused on principle (`refusals`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

import duckdb

from pipelines.display import shown
from pipelines.errors import QueryError
from pipelines.warehouse.engine import fetch_rows
from pipelines.warehouse.refusals import file_refusal, names_a_file

_COLUMN = re.compile(r'Referenced column "(.+?)" not found|does not have a column named "(.+?)"')
_TABLE = re.compile(r"Table with name (.+?) does not exist")
_FUNCTION = re.compile(r"Function with name (.+?) does not exist")
_FILE = re.compile(r'Cannot access (?:file|directory) "(.+?)"')
_LAKE_FILE = re.compile(r"/lake/day=[^/]+/[^/]+\.parquet$")
_CANDIDATES = re.compile(r"Candidate bindings: (.+)")
_LINE = re.compile(r"\nLINE (\d+):")
_TYPE = re.compile(r"^[A-Za-z ]+ Error: ")
_LIMITS = {"INTERRUPT Error: ": duckdb.InterruptException, "Out of Memory Error: ": duckdb.OutOfMemoryException}
_SHORT = 2
"""So short a name stands in too many others to mean them."""
LESS = (
    "read less: give `requests` a filter such as arrived_us >= epoch_us(timestamp '…'), which skips what it rules out; "
    "ask the marts instead where they say it (hourly_hit_rate, hit_rate_histogram, busy_periods, profit_and_loss)"
)


def engine_error(error: Exception) -> duckdb.Error:
    """Return the engine's error that came through Arrow, where its words alone say of which kind it was."""
    said = str(error)
    kind = next((kind for begin, kind in _LIMITS.items() if said.startswith(begin)), duckdb.Error)
    return kind(said)


def complaint(connection: duckdb.DuckDBPyConnection, error: duckdb.Error, text: str) -> QueryError:
    """Return what to tell the writer of `text`."""
    said = str(error)
    if isinstance(error, duckdb.InterruptException):
        return _interrupted(connection, said)
    if isinstance(error, duckdb.OutOfMemoryException):
        limit = _setting(connection, "memory_limit")
        return QueryError(
            f"the query needs more than the memory limit of {limit}: {LESS}, aggregate before you sort or join, or "
            "raise --memory-limit"
        )
    if isinstance(error, duckdb.PermissionException):
        found = _FILE.search(said)
        path = found[1] if found else "a file"
        return _linked(path) if _LAKE_FILE.search(path) and path not in text else file_refusal(path)
    if found := _COLUMN.search(said):
        return _unknown_column(connection, found[1] or found[2], said, text)
    if found := _TABLE.search(said):
        return _unknown_view(connection, found[1])
    if found := _FUNCTION.search(said):
        return _unknown_function(connection, found[1], said)
    return QueryError(f"the query failed: {_own_words(said)}")


def _linked(path: str) -> QueryError:
    return QueryError(
        f"{shown(path, 200)}: this file of the lake is a link to a place outside of it, which is not followed: put the "
        "file itself back"
    )


def _interrupted(connection: duckdb.DuckDBPyConnection, said: str) -> QueryError:
    if "maximum execution time" not in said:
        return QueryError("the query was stopped")
    seconds = int(_setting(connection, "max_execution_time")) / 1000
    return QueryError(f"the query ran for {seconds:g} s, the limit, and was stopped: {LESS}, or raise --timeout")


def _unknown_column(connection: duckdb.DuckDBPyConnection, name: str, said: str, text: str) -> QueryError:
    words = set(re.findall(r"\w+", text.lower()))
    columns = {view: names for view, names in _columns(connection).items() if view in words}
    candidates = _CANDIDATES.search(said)
    known = [column for names in columns.values() for column in names]
    close = _nearest(name, known) or (re.findall(r'"(.+?)"', candidates[1])[:3] if candidates else [])
    parts = [f'column "{name}" not found']
    if close:
        parts.append("nearest: " + ", ".join(f'"{column}"' for column in close))
    parts += [f"{view} has {', '.join(names)}" for view, names in columns.items()]
    if any(name.lower() == value for value in ("in_valley", "escaped", "no_valley", "unknown", "ok")):
        parts.append(f"a text is written in single quotes: '{name}'")
    return QueryError("; ".join(parts))


def _unknown_view(connection: duckdb.DuckDBPyConnection, name: str) -> QueryError:
    if names_a_file(name):
        return file_refusal(name)
    views = list(_columns(connection))
    close = _nearest(name.rpartition(".")[2], views)
    nearest = f"; nearest: {', '.join(close)}" if close else ""
    return QueryError(f'view "{name}" not found{nearest}; there are {", ".join(views)}')


def _unknown_function(connection: duckdb.DuckDBPyConnection, name: str, said: str) -> QueryError:
    macros = {
        row["function_name"]: f"{row['function_name']}({', '.join(row['parameters'])})"
        for row in fetch_rows(connection, "catalogue/macros", {})
    }
    close = [macros[macro] for macro in _nearest(name, macros)] or re.findall(r'Did you mean "(.+?)"', said)
    nearest = f"; nearest: {', '.join(close)}" if close else ""
    return QueryError(f'function "{name}" not found{nearest}; of its own the snapshot has {", ".join(macros.values())}')


def _columns(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in fetch_rows(connection, "catalogue/columns", {}):
        found.setdefault(row["view_name"], []).append(row["column_name"])
    return found


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    names, typed = list(dict.fromkeys(known)), name.lower()
    holding = [of for of in names if typed in of] if len(typed) > _SHORT else []
    return list(dict.fromkeys([*difflib.get_close_matches(typed, names, n=3, cutoff=0.6), *holding]))[:3]


def _setting(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    (row,) = connection.execute("select current_setting(?)", [name]).fetchall()
    return str(row[0])


def _own_words(said: str) -> str:
    """Return the engine's first sentence and the line it is about, without its class, excerpt and candidates."""
    line = _LINE.search(said)
    first = _TYPE.sub("", said.partition("\n\n")[0]).partition("\n\t")[0].partition("\nCandidate")[0]
    place = f" (line {line[1]})" if line and line[1] != "1" else ""
    return " ".join(first.split()) + place
