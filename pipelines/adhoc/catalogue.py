"""What the open snapshot offers to a query: views with their grain and columns, macros, keywords.

Belongs here: one picture of it for help and completion. Does not belong here: what the views compute (`sql/views`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines import queries
from pipelines.errors import UsageError
from pipelines.section import nearest
from pipelines.warehouse import Reader


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a view; `comment` is the snapshot's own, where it has one."""

    name: str
    type: str
    comment: str | None


@dataclass(frozen=True, slots=True)
class View:
    """A view; `grain` says what one row is, `about` what it is for, in a line."""

    name: str
    grain: str
    about: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Views and macros by name; a macro's value is how it is called."""

    views: dict[str, View]
    macros: dict[str, str]
    keywords: tuple[str, ...]

    def view(self, name: str) -> View:
        """Return a view; raise UsageError with the nearest name where there is none."""
        if name not in self.views:
            raise UsageError(f"no view {name!r}{nearest(name, self.views)}; there are {', '.join(self.views)}")
        return self.views[name]


def catalogue(reader: Reader) -> Catalogue:
    """Read it from the snapshot; what a view is for stands in its header."""
    columns: dict[str, list[Column]] = {}
    for row in reader.rows("catalogue/columns"):
        column = Column(row["column_name"], row["data_type"].lower(), row["comment"])
        columns.setdefault(row["view_name"], []).append(column)
    views = {name: _view(name, tuple(of)) for name, of in columns.items()}
    macros = {
        row["function_name"]: f"{row['function_name']}({', '.join(row['parameters'])})"
        for row in reader.rows("catalogue/macros")
    }
    return Catalogue(views, macros, tuple(row["keyword_name"] for row in reader.rows("catalogue/keywords")))


def _view(name: str, columns: tuple[Column, ...]) -> View:
    header = queries.load(f"views/{name}").header
    return View(name, header["grain"], header["about"], columns)
