"""What a source declares about its log, put where the statements that read the log see it.

Belongs here: which declaration reaches which statement, and that a declared column occurs. Does not belong here: which
declarations a configuration may make (`settings`), what they do to a line (`sql/ingest/declared.sql`,
`sql/formats/canonical.sql`). Names from the configuration become values of session variables, never a statement's text.
"""

from __future__ import annotations

from pipelines.errors import RejectedFileError
from pipelines.formats import Format
from pipelines.settings import AS_LOGGED, SourceSettings, nearest
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
        self._missing = set(self._pointers.values())
        self._names: set[str] = set()
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
        self._look_for_columns()
        if self._changes_lines:
            self._writer.create_view("logged", self._format.query)
            self._writer.create_view("mapped", "ingest/declared")
        else:
            self._writer.create_view("mapped", self._format.query)

    def require_columns(self) -> None:
        """Raise RejectedFileError if the file had lines, and a declared column in none of them."""
        lost = sorted(own for own, path in self._pointers.items() if path in self._missing)
        if not lost or not self._names:
            return
        name = next(name for name, own in self._source.columns.items() if own == lost[0])
        found = ", ".join(ascii(found)[1:-1] for found in sorted(self._names)[:SHOWN_NAMES])
        raise RejectedFileError(
            "column_not_found",
            f"[sources.columns] says {name} = {lost[0]!r}, which no line has{nearest(lost[0], self._names)}: "
            f"the names found are {found}",
        )

    def _column_paths(self) -> list[str] | None:
        """Return a path for every column of the format, in its order; None where none is declared."""
        if not self._pointers:
            return None
        own = self._source.columns
        return [self._pointers[own[name]] if name in own else f"/{name}" for name in self._format.columns]

    def _look_for_columns(self) -> None:
        if not self._missing:
            return
        found = self._writer.rows("ingest/found_paths", paths=sorted(self._missing))
        self._missing -= {row["path"] for row in found}
        if self._missing and len(self._names) < SHOWN_NAMES:
            lists = self._writer.rows("ingest/key_lists")
            self._names |= {name for row in lists for name in row["keys"].split("\x1f") if name}
