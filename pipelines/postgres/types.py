"""Types and values of the published views as PostgreSQL has them, exactly: nothing is rounded and NULL stays NULL.

Belongs here: the mapping. Does not belong here: tables (`tables`).
"""

from __future__ import annotations

from typing import Any

from pipelines.errors import ValleywatchError

TYPES = {
    "BOOLEAN": "boolean",
    "INTEGER": "integer",
    "BIGINT": "bigint",
    "HUGEINT": "numeric(39,0)",
    "DOUBLE": "double precision",
    "DOUBLE[]": "double precision[]",
    "VARCHAR": "text",
    "DATE": "date",
    "TIMESTAMP": "timestamp without time zone",
    "DECIMAL(38,0)": "numeric(38,0)",
}
"""As the server's catalogue writes them. Times are UTC in both and have no zone in either."""
NUL, SHOWN_NUL = "\x00", "\u2400"
"""The one character that PostgreSQL's text cannot hold, and the picture of it that stands in its place."""


def type_of(data_type: str, column: str) -> str:
    """Return the server's type; raise ValleywatchError for one that no published view has had so far."""
    try:
        return TYPES[data_type]
    except KeyError:
        raise ValleywatchError(f"{column} is {data_type}, which has no known form in PostgreSQL") from None


def value_of(value: Any) -> Any:
    """Return a value as it is sent."""
    return value.replace(NUL, SHOWN_NUL) if isinstance(value, str) and NUL in value else value
