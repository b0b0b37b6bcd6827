"""What a source declares about its log, put where the statements that read the log see it.

Belongs here: which declaration reaches which statement, and that a declared column occurs. Does not belong here: which
declarations a configuration may make (`settings`), what they do to a line (`sql/ingest/declared.sql`,
`sql/formats/canonical.sql`). Names from the configuration become values of session variables, never a statement's text.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipelines.errors import RejectedFileError
from pipelines.formats import Format
from pipelines.lines import Block
from pipelines.section import nearest
from pipelines.settings import AS_LOGGED, SourceSettings
from pipelines.warehouse import Writer

BY_LINE = "by line"
SHOWN_NAMES = 30


class Declarations:
    """One source's declarations, in force in the writer's session for one file."""

    def __init__(self, writer: Writer, source: SourceSettings, log_format: Format) -> None:
        self._writer = writer
        self._source = source
        self._format = log_format
        self._pointers = {own: log_format.pointer(own) for own in source.columns.values()}
        is_by_line = log_format.input_tokens == BY_LINE
        zone = None if source.timezone == "UTC" else source.timezone
        adds_cached = source.input_tokens == "exclusive" and not is_by_line
        unit = None if source.latency_unit == AS_LOGGED else source.latency_unit
        self._changes_lines = bool(zone or unit or adds_cached)
        writer.declare("timezone", zone)
        writer.declare("latency_unit", unit)
        writer.declare("adds_cached", adds_cached or None)
        writer.declare("input_tokens", source.input_tokens if is_by_line else None)
        writer.declare("column_paths", self._column_paths())

    def map_lines(self) -> None:
        """Make the view `mapped` of the registered lines, the declarations applied."""
        if self._changes_lines:
            self._writer.create_view("logged", self._format.query)
            self._writer.create_view("mapped", "ingest/declared")
        else:
            self._writer.create_view("mapped", self._format.query)

    def require_columns(self, blocks: Iterable[Block]) -> None:
        """Raise RejectedFileError if no line has a declared column; read only as far as it takes to see all of them."""
        missing, names = set(self._pointers.values()), set[str]()
        for block in blocks if missing else ():
            with self._writer.registered("lines", block.lines):
                missing -= {row["path"] for row in self._writer.rows("ingest/found_paths", paths=sorted(missing))}
                if not missing:
                    return
                if len(names) < SHOWN_NAMES:
                    lists = self._writer.rows("ingest/key_lists")
                    names |= {name for row in lists for name in row["keys"].split("\x1f") if name}
        if missing and names:
            raise self._not_found(missing, names)

    def _not_found(self, missing: set[str], names: set[str]) -> RejectedFileError:
        name, own = next((name, own) for name, own in self._source.columns.items() if self._pointers[own] in missing)
        found = ", ".join(ascii(found)[1:-1] for found in sorted(names)[:SHOWN_NAMES])
        return RejectedFileError(
            "column_not_found",
            f"[sources.columns] says {name} = {own!r}, which no line has{nearest(own, names)}: "
            f"the names found are {found}",
        )

    def _column_paths(self) -> list[str] | None:
        """Return a path for every column of the format, in its order; None where none is declared."""
        if not self._pointers:
            return None
        own = self._source.columns
        return [self._pointers[own[name]] if name in own else f"/{name}" for name in self._format.columns]
