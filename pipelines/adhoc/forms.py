"""The forms an answer is given in: a table, CSV, JSON, a Parquet file.

Belongs here: choosing one, and writing it while the answer is computed, so that its size needs no memory.
Does not belong here: how a value is shown (`commands.output`), the terminal (`grid`).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pipelines.adhoc.grid import write_grid
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
        _write_json(answer)
    elif form.name == "csv":
        write_csv(answer.columns, answer.rows())
    elif sys.stdout.isatty():
        write_grid(answer.columns, answer.rows(), form.max_rows)
    else:
        write_table(answer.columns, list(answer.rows()))


def write_words(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table that is read rather than compared: on a terminal its cells are folded, not cut."""
    if sys.stdout.isatty():
        write_grid(columns, rows, 0, folds=True)
    else:
        write_table(columns, rows)


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
    import pyarrow.parquet as pq

    n_rows = 0
    schema, batches = reader.arrow(text, params)
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
    finally:
        Path(aside).unlink(missing_ok=True)
    tell(f"{path}: {n_rows:,} rows")
