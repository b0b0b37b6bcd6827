"""`valleywatch sql`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

from pipelines.adhoc import cookbook
from pipelines.adhoc.catalogue import catalogue
from pipelines.adhoc.editor import editor
from pipelines.adhoc.forms import MAX_ROWS, Form, give, write_words
from pipelines.adhoc.shell import Shell
from pipelines.commands.options import add_config, add_json
from pipelines.commands.output import write_json
from pipelines.errors import UsageError
from pipelines.settings import MEMORY, load_settings
from pipelines.warehouse import Warehouse

TIMEOUT_S = 300.0
LONGEST_S = 86_400.0
"""A day: whatever takes longer is a job, not a question."""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("sql", help="ad-hoc SQL on the published snapshot; without a query, a shell")
    parser.add_argument(
        "query",
        nargs="?",
        metavar="QUERY, FILE or NAME",
        help="SQL text, a file that ends in .sql, or a question of the cookbook",
    )
    parser.add_argument("--cookbook", action="store_true", help="list the questions that are written already")
    parser.add_argument(
        "--set", action="append", default=[], metavar="PARAMETER=VALUE", help="a parameter of a cookbook's question"
    )
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument("--csv", action="store_true", help="CSV with a header")
    form.add_argument("--parquet", type=Path, metavar="FILE", help="write a Parquet file with the engine's types")
    parser.add_argument(
        "--max-rows", type=int, default=MAX_ROWS, metavar="N", help=f"rows on a terminal (default: {MAX_ROWS}; 0: all)"
    )
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT_S, metavar="S", help=f"seconds for a query (default: {TIMEOUT_S:g})"
    )
    parser.add_argument("--memory-limit", metavar="SIZE", help="such as 2GiB (default: warehouse.memory_limit)")
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Answer one query, or everything typed until the end of the input."""
    if options.cookbook:
        return _list_cookbook(options)
    if not 0 < options.timeout <= LONGEST_S:
        raise UsageError(f"--timeout {options.timeout:g} is no limit: give seconds above 0, at most {LONGEST_S:g}")
    if options.max_rows < 0:
        raise UsageError(f"--max-rows {options.max_rows} is no number of rows: give 0 for all, or more")
    if options.memory_limit is not None and not re.match(MEMORY, options.memory_limit):
        raise UsageError(f"--memory-limit {options.memory_limit!r} is no size: give one such as 512MiB or 4GiB")
    settings = load_settings(options.config)
    memory_limit = options.memory_limit or settings.warehouse.memory_limit
    question = None if options.query is None else _question(options.query)
    if options.set and question is None:
        raise UsageError(
            "--set is for questions of the cookbook and files in their form: name one, `valleywatch sql --cookbook` "
            "lists them"
        )
    params = question.bound(options.set) if question else None
    form = _form(options)
    warehouse = Warehouse(settings.warehouse_folder, memory_limit=memory_limit)
    with warehouse.reader(timeout_s=options.timeout) as reader:
        if question is not None:
            give(reader, question.text, params, form)
        elif options.query is not None:
            give(reader, _required_utf8(options.query, "the query"), None, form)
        elif not sys.stdin.isatty():
            give(reader, _standard_input(), None, form)
        elif form.path is not None:
            raise UsageError("--parquet takes one answer: give the query too")
        else:
            known = catalogue(reader)
            Shell(known, editor(known), partial(give, reader, form=form)).run()
    return 0


def _list_cookbook(options: argparse.Namespace) -> int:
    columns, rows = cookbook.table()
    if options.json:
        write_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        write_words(columns, rows)
    return 0


def _form(options: argparse.Namespace) -> Form:
    if options.parquet is not None:
        return Form("parquet", options.parquet)
    return Form("json" if options.json else "csv" if options.csv else "table", max_rows=options.max_rows)


def _question(query: str) -> cookbook.Question | None:
    """Return the question of that name or in that file; a single word is never a statement that reads."""
    name = query.strip().rstrip(";")
    if re.fullmatch(r"[A-Za-z]\w*", name):
        return cookbook.question(name)
    # exists() says no to what cannot be a path at all.
    if not query.endswith(".sql") or (re.search(r"\s", query) and not os.path.exists(query)):  # noqa: PTH110
        return None
    try:
        return cookbook.copied(query, Path(query).read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{query} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    except OSError as error:
        raise UsageError(f"{query} cannot be read: {error.strerror}") from None


def _standard_input() -> str:
    try:
        return _required_utf8(sys.stdin.read(), "standard input")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 (byte {error.start}): give it as UTF-8") from None


def _required_utf8(text: str, what: str) -> str:
    """Return `text`; raise UsageError where it was made of bytes that are none: they are lone surrogates then."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not UTF-8 (character {error.start}): give it as UTF-8") from None
    return text
