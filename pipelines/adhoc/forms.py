"""The forms an answer is given in: a table, CSV, JSON, a Parquet file.

Belongs here: choosing one, and writing it while the answer is computed, so that its size needs no memory; what a form
has no room for. Does not belong here: that nothing is given by halves (`whole`), how a value is shown
(`commands.output`), the terminal (`grid`).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pipelines.adhoc.grid import write_grid
from pipelines.adhoc.whole import given, whole
from pipelines.commands.output import plain, tell, write_csv, write_table
from pipelines.errors import UsageError
from pipelines.warehouse import Answer, Reader

FormName: TypeAlias = Literal["table", "csv", "json", "parquet"]
MAX_ROWS = 40


@dataclass(frozen=True, slots=True)
class Form:
    """How answers are given. path: of a Parquet file. max_rows: shown on a terminal, 0 = all."""

    name: FormName = "table"
    path: Path | None = None
    max_rows: int = MAX_ROWS


def give(reader: Reader, text: str, params: Mapping[str, Any] | None, form: Form) -> None:
    """Ask and write the answer; raise QueryError or UsageError."""
    if form.path is not None:
        _write_parquet(reader, text, params, form.path)
        return
    answer = reader.answer(text, params)
    if form.name == "json":
        _require_distinct(answer.columns, "JSON")
        with whole():
            _write_json(answer)
    elif form.name == "csv":
        with whole():
            write_csv(answer.columns, answer.rows())
    else:
        with given():
            _write_table(answer, form.max_rows)


def write_words(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table that is read rather than compared: on a terminal its cells are folded, not cut."""
    if sys.stdout.isatty():
        write_grid(columns, rows, 0, folds=True)
    else:
        write_table(columns, rows)


def _write_table(answer: Answer, max_rows: int) -> None:
    if sys.stdout.isatty():
        write_grid(answer.columns, answer.rows(), max_rows)
    else:
        write_table(answer.columns, list(answer.rows()))


def _require_distinct(columns: Sequence[str], form: str) -> None:
    """Raise UsageError where a row by names would have less than the answer."""
    twice = next((name for name, n_columns in Counter(columns).items() if n_columns > 1), None)
    if twice is not None:
        raise UsageError(f"two columns are named {twice!r}, and {form} tells them by name: name them apart with `as`")


def _write_json(answer: Answer) -> None:
    """Print one list of objects, as `write_json` does, row by row."""
    separator = "["
    for row in answer.rows():
        fields = plain(dict(zip(answer.columns, row, strict=True)))
        print(separator + json.dumps(fields, ensure_ascii=False, allow_nan=False), end="")
        separator = ", "
    print("]" if separator == ", " else "[]")


def _write_parquet(reader: Reader, text: str, params: Mapping[str, Any] | None, path: Path) -> None:
    """Write aside and rename, so that there is never half a file under its name."""
    # Takes a while to import, and no other form needs it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = 0
    schema, batches = reader.arrow(text, params)
    _require_distinct(schema.names, "Parquet")
    try:
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)
                n_rows += batch.num_rows
        Path(aside).replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
    except pa.ArrowNotImplementedError as error:
        raise UsageError(f"Parquet has no such type: {error}; cast that column, as `cast(… as varchar)`") from None
    finally:
        Path(aside).unlink(missing_ok=True)
    tell(f"{path}: {n_rows:,} rows")
