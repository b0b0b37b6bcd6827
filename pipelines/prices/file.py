"""A CSV of price rows: a header of the keys of `[[prices]]`, a row a line, an empty cell where a key is not given.

Belongs here: cells → keys, with file and line in every fault. Does not belong here: the keys' bounds (`rows`), whether
rows contradict each other (`book`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipelines.errors import UsageError
from pipelines.prices.rows import PriceRow, PriceSettings
from pipelines.section import fault_text, nearest

MAX_BYTES = 16 << 20
TOKENS = ("input_tokens_from", "input_tokens_to")
INSTANTS = ("effective_from", "effective_to")


def read_price_file(path: Path, name: str) -> list[PriceRow]:
    """Return the rows of the file at `path`, `name` in the configuration; raise UsageError that lists every fault."""
    lines = _lines(path)
    _, header = next(lines, (1, []))
    _require_header(path, header)
    rows, faults = [], []
    for number, cells in lines:
        if not any(cells):
            continue
        if len(cells) != len(header):
            faults.append(f"line {number}: has {len(cells)} cells, the header has {len(header)}")
            continue
        values = {key: _value(key, cell) for key, cell in zip(header, cells, strict=True) if cell}
        try:
            rows.append(PriceSettings.model_validate(values).row(f"{name}, line {number}"))
        except ValidationError as error:
            for fault in error.errors():
                place = f"line {number}: " + "".join(f"{key}: " for key in fault["loc"][:1])
                faults.append(place + fault_text(fault, PriceSettings.model_fields))
    if faults:
        raise UsageError(f"{path} cannot be used:\n" + "\n".join(f"  {fault}" for fault in faults))
    return rows


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each row's last line, and its cells without the spaces around them."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.stat().st_size > MAX_BYTES:
                raise UsageError(f"{path} is larger than {MAX_BYTES >> 20} MiB: that is no price book")
            reader = csv.reader(file, strict=True)
            for cells in reader:
                yield reader.line_num, [cell.strip() for cell in cells]
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8: save it as UTF-8") from None
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: is not CSV: {error}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; see price_book.path") from None


def _require_header(path: Path, header: list[str]) -> None:
    known = PriceSettings.model_fields
    faults = [f"{key}: unknown key{nearest(key, known)}" for key in header if key not in known]
    faults += [f"{key}: is there twice" for key in dict.fromkeys(header) if header.count(key) > 1]
    faults += [
        f"{key}: required, but not in the header"
        for key, field in known.items()
        if field.is_required() and key not in header
    ]
    if faults:
        raise UsageError(f"{path}, line 1, the header:\n" + "\n".join(f"  {fault}" for fault in faults))


def _value(key: str, cell: str) -> Any:
    """Return the cell as the type of its key; what is of no such type stays text, for the key's own rule to refuse."""
    with suppress(ValueError):
        if key in TOKENS:
            return int(cell)
        if key in INSTANTS:
            return date.fromisoformat(cell) if len(cell) == len("2026-01-01") else datetime.fromisoformat(cell)
        if key.endswith("_per_mtok"):
            return float(cell)
    return cell
