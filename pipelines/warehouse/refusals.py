"""What ad-hoc SQL may not do: every refusal with its reason and what to do instead.

Belongs here: telling statements that read from all others, before any of them runs; words for what the engine's own
locks refuse. Does not belong here: those locks (`engine`), mistakes (`complaints`).
"""

from __future__ import annotations

import re

import duckdb

from pipelines.display import shown
from pipelines.errors import QueryError

_EXPLAIN = re.compile(r"^(\s|--[^\n]*\n|/\*.*?\*/)*explain(\s+analyze)?(\s*\([^)]*\))?", re.IGNORECASE | re.DOTALL)
_KEEP = "to keep a result, use --csv, --json or --parquet FILE"
_TO_WRITE = "the snapshot is published as a whole and never changed; name an intermediate result `with … as (…)`"
_TO_LEAVE = "one question is asked of one snapshot; to join other data, open it in your own DuckDB, see docs/sql.md"
_TO_SET = (
    "settings are fixed when the snapshot is opened; --memory-limit and --timeout are options of `valleywatch sql`"
)
_REASONS = {
    "COPY": f"it writes files; {_KEEP}",
    "EXPORT": f"it writes files; {_KEEP}",
    "ATTACH": _TO_LEAVE,
    "DETACH": _TO_LEAVE,
    "USE": _TO_LEAVE,
    "LOAD": "an extension is code from elsewhere; what the views need is there already",
    "SET": _TO_SET,
    "VARIABLE_SET": _TO_SET,
    "PRAGMA": _TO_SET,
    "CREATE": _TO_WRITE,
    "INSERT": _TO_WRITE,
    "UPDATE": _TO_WRITE,
    "DELETE": _TO_WRITE,
    "DROP": _TO_WRITE,
    "ALTER": _TO_WRITE,
    "MULTI": "it would make a type first; write the values it has after `in`, as `pivot v on c in ('x', 'y') …`",
}
_NAMES = {"LOAD": "INSTALL or LOAD", "MULTI": "PIVOT without a list of values after `in`"}
"""What DuckDB's own name of a statement does not tell its writer."""
FILES = (
    "reading files is refused: a query sees the views of the snapshot and nothing else of this machine (`.views` lists "
    "them); to read other files, open the snapshot in your own DuckDB, see docs/sql.md"
)


def require_reading(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Raise QueryError unless `text` holds statements and all of them only read.

    The lake must be open to a reader's connection, and DuckDB 2.0.1 knows no folder that is open for reading alone:
    COPY and EXPORT could overwrite the lake. EXPLAIN ANALYZE runs what it explains.
    """
    statements = connection.extract_statements(text)
    if not statements:
        raise QueryError("the query is empty: give one SQL statement, for example `from valley_status`")
    for statement in statements:
        explained = _EXPLAIN.sub("", statement.query)
        if statement.type == duckdb.StatementType.EXPLAIN and explained != statement.query:
            require_reading(connection, explained)
        elif statement.type != duckdb.StatementType.SELECT:
            raise QueryError(_refusal(statement.type.name))


def names_a_file(name: str) -> bool:
    """Say whether what stands where a view should is the path of a file."""
    return re.search(r"[/\\*:]|\.\w{2,8}$", name) is not None


def file_refusal(name: str) -> QueryError:
    """Return the refusal of a file."""
    return QueryError(f"{shown(name, 200)}: {FILES}")


def _refusal(kind: str) -> str:
    reason = _REASONS.get(kind, "it does more than read")
    return (
        f"{_NAMES.get(kind, kind)} is refused: {reason}. Answered is what only reads: select, with, from, describe, "
        "show, summarize, explain"
    )
