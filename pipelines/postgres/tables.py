"""The published views as tables of one schema of PostgreSQL, all of them replaced in one transaction.

Rows are deleted and copied anew: until the commit every reader sees the rows of before and waits for nothing, and
grants, indexes and people's own views on the tables stay. A schema swapped in by its name would lose all three. A table
is made anew only where its columns have changed.

Belongs here: statements. Does not belong here: connecting (`connection`), types (`types`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipelines import __version__
from pipelines.errors import BusyError, UsageError
from pipelines.postgres.types import type_of, value_of
from pipelines.warehouse import PublishedView, Reader

if TYPE_CHECKING:
    import psycopg

VIEWS = (
    "hourly_hit_rate",
    "hit_rate_histogram",
    "throughput_curve",
    "curve_by_length",
    "curve_families",
    "valley_status",
    "valley_episodes",
    "profit_and_loss",
    "profit_breakdown",
    "price_book",
    "price_history",
    "ingest_files",
    "check_findings",
)
"""What dashboards are made of: no requests, no refused lines, no rows of the regression, no alerts."""
OURS = "Published by valleywatch"
"""How the comment of a schema of ours begins; tables in any other are not touched."""
STAMP = "exported"
_STAMP_COLUMNS = [
    ("snapshot", "text", "the published file that all tables of this schema were read from"),
    ("layout", "integer", "version of the layout of the warehouse"),
    ("valleywatch", "text", "version of valleywatch"),
    ("exported_at", "timestamp without time zone", "when the export began, UTC, by the clock of this server"),
]


def replace_tables(connection: psycopg.Connection[Any], reader: Reader, schema: str) -> dict[str, int]:
    """Replace the tables of all VIEWS by what the reader has; return their numbers of rows.

    Everything becomes visible at once. Raises UsageError where the schema is somebody else's or the database cannot
    hold every text, BusyError where another export is under way.
    """
    from psycopg import sql

    with connection.transaction():
        _require_utf8(connection)
        # Two exports at a time would each find the other's rows gone: the second has nothing to add.
        if not _value(connection, "select pg_try_advisory_xact_lock(hashtext('valleywatch'), hashtext(%s))", schema):
            raise BusyError(
                f"another export writes the schema {schema!r} of this database: try again when it has ended"
            )
        _make_schema(connection, schema)
        counts = {name: replace_table(connection, reader.view(name), schema) for name in VIEWS}
        (source,) = reader.rows("export/snapshot")
        _make_table(connection, schema, STAMP, _STAMP_COLUMNS, "One row: what the tables of this schema hold.")
        insert = sql.SQL("insert into {} values (%s, %s, %s, now() at time zone 'UTC')")
        stamp = (source["snapshot"], source["layout"], __version__)
        connection.execute(insert.format(sql.Identifier(schema, STAMP)), stamp)
    return counts


def _require_utf8(connection: psycopg.Connection[Any]) -> None:
    encoding = _value(connection, "show server_encoding")
    if encoding != "UTF8":
        raise UsageError(f"the database has the encoding {encoding}, which cannot hold every name: use one with UTF8")


def _make_schema(connection: psycopg.Connection[Any], schema: str) -> None:
    from psycopg import sql

    comment = _value(connection, "select obj_description(to_regnamespace(quote_ident(%s)), 'pg_namespace')", schema)
    if (comment or "").startswith(OURS):
        return
    tables = _value(
        connection,
        "select string_agg(relname, ', ') from pg_class where relnamespace = to_regnamespace(quote_ident(%s))",
        schema,
    )
    if tables:
        raise UsageError(
            f"the schema {schema!r} holds tables that valleywatch did not make ({tables[:200]}): "
            "name another with --schema, which is made where it is missing"
        )
    # Asking first spares those who were given the schema the right to make one.
    if not _value(connection, "select to_regnamespace(quote_ident(%s)) is not null", schema):
        connection.execute(sql.SQL("create schema {}").format(sql.Identifier(schema)))
    text = f"{OURS}: every table is replaced by each export, and whatever else is put here stays. Times are UTC."
    connection.execute(sql.SQL("comment on schema {} is {}").format(sql.Identifier(schema), sql.Literal(text)))


def replace_table(connection: psycopg.Connection[Any], view: PublishedView, schema: str) -> int:
    """Replace one table by the rows of a view, inside the caller's transaction; return their number."""
    from psycopg import sql

    columns = [(of.name, type_of(of.data_type, f"{view.name}.{of.name}"), of.comment) for of in view.columns]
    _make_table(connection, schema, view.name, columns, view.comment)
    n_rows = 0
    names = sql.SQL(", ").join(sql.Identifier(of.name) for of in view.columns)
    copy_in = sql.SQL("copy {} ({}) from stdin").format(sql.Identifier(schema, view.name), names)
    with connection.cursor() as cursor, cursor.copy(copy_in) as copy:
        for batch in view.batches:
            for row in batch:
                copy.write_row([value_of(value) for value in row])
            n_rows += len(batch)
    return n_rows


def _make_table(
    connection: psycopg.Connection[Any],
    schema: str,
    name: str,
    columns: Sequence[tuple[str, str, str | None]],
    comment: str | None,
) -> None:
    """Leave an empty table with these columns and comments, the one that is there where it has them."""
    from psycopg import sql

    table = sql.Identifier(schema, name)
    found = connection.execute(
        "select attname, format_type(atttypid, atttypmod) from pg_attribute where attnum > 0 and not attisdropped "
        "and attrelid = to_regclass(quote_ident(%s) || '.' || quote_ident(%s)) order by attnum",
        (schema, name),
    ).fetchall()
    if found == [(column, kind) for column, kind, _ in columns]:
        connection.execute(sql.SQL("delete from {}").format(table))
    else:
        connection.execute(sql.SQL("drop table if exists {}").format(table))
        defined = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(kind)) for column, kind, _ in columns
        )
        connection.execute(sql.SQL("create table {} ({})").format(table, defined))
    connection.execute(sql.SQL("comment on table {} is {}").format(table, sql.Literal(comment)))
    for column, _, text in columns:
        of = sql.Identifier(schema, name, column)
        connection.execute(sql.SQL("comment on column {} is {}").format(of, sql.Literal(text)))


def _value(connection: psycopg.Connection[Any], query: str, *params: str) -> Any:
    (row,) = connection.execute(query, params).fetchall()
    return row[0]
