"""An answer on a terminal: no wider than it is, no longer than a person reads.

Belongs here: columns that fit, cut cells, one record under the other where columns do not fit, the cap on rows.
Does not belong here: the same for pipes and files, which get everything (`forms`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipelines.commands.output import cell_text, is_number

NARROWEST = 6
"""Columns that would have to be cut below this many characters do not fit beside each other."""
_GAP = 2
_MOST_RECORDS = 5


def write_grid(columns: Sequence[str], rows: Iterable[Sequence[Any]], max_rows: int, *, folds: bool = False) -> None:
    """Print the first `max_rows` rows (0: all) and say how many more there are; counted, not kept.

    folds: a cell that is too long goes on below instead of being cut.
    """
    columns = [cell_text(name) for name in columns]
    console = Console(highlight=False, soft_wrap=False)
    shown: list[Sequence[Any]] = []
    n_rows = 0
    for row in rows:
        n_rows += 1
        if not max_rows or n_rows <= max_rows:
            shown.append(row)
    widths = _fitting(_widths(columns, shown), console.width)
    if widths is not None:
        console.print(_table(columns, shown, widths, folds=folds))
    else:
        shown = shown if not max_rows else shown[:_MOST_RECORDS]
        for number, row in enumerate(shown, start=1):
            console.print(_record(columns, row, number, console.width))
    if n_rows > len(shown):
        console.print(
            f"… {n_rows - len(shown):,} more rows; --csv, --json and --parquet give all, --max-rows 0 too",
            soft_wrap=True,
        )


def _widths(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[int]:
    texts = [[cell_text(value) for value in row] for row in rows]
    return [max([cell_len(name), *(cell_len(row[index]) for row in texts)]) for index, name in enumerate(columns)]


def _fitting(widths: Sequence[int], width: int) -> list[int] | None:
    """Return widths that fit beside each other, the widest cut to the same one; None where there are none."""
    room = width - _GAP * len(widths)
    for widest in range(max(widths, default=0), 0, -1):
        cut = [min(wide, widest) for wide in widths]
        if sum(cut) <= room:
            return cut if widest >= NARROWEST or cut == list(widths) else None
    return None


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]], widths: Sequence[int], *, folds: bool) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for index, name in enumerate(columns):
        right = any(is_number(row[index]) for row in rows)
        table.add_column(
            Text(name),
            justify="right" if right else "left",
            width=widths[index],
            no_wrap=not folds,
            overflow="ellipsis",
        )
    for row in rows:
        table.add_row(*(Text(cell_text(value)) for value in row))
    return table


def _record(columns: Sequence[str], row: Sequence[Any], number: int, width: int) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, _GAP, 0, 0), title=f"row {number}")
    table.title_justify = "left"
    table.add_column(no_wrap=True, style="bold")
    room = width - max(map(cell_len, columns)) - _GAP
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=max(NARROWEST, room))
    for name, value in zip(columns, row, strict=True):
        table.add_row(Text(name), Text(cell_text(value)))
    return table
