"""`valleywatch sql`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from pipelines.commands.options import add_config, add_json
from pipelines.commands.output import tell, write_csv, write_json, write_table
from pipelines.errors import QueryError, UsageError
from pipelines.settings import load_settings
from pipelines.warehouse import Reader, Warehouse

PROMPT = "valleywatch> "


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("sql", help="ad-hoc SQL on the published snapshot; without a query, a shell")
    parser.add_argument("query", nargs="?", metavar="QUERY or FILE", help="SQL text, or a file that ends in .sql")
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument("--csv", action="store_true", help="CSV with a header")
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Answer one query, or everything typed until the end of the input."""
    settings = load_settings(options.config)
    with Warehouse(settings.warehouse_folder, memory_limit=settings.warehouse.memory_limit).reader() as reader:
        if options.query is not None:
            _answer(reader, _text_of(options.query), options)
        elif sys.stdin.isatty():
            _shell(reader, options)
        else:
            _answer(reader, sys.stdin.read(), options)
    return 0


def _text_of(query: str) -> str:
    if not query.endswith(".sql") or any(character.isspace() for character in query):
        return query
    try:
        return Path(query).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{query} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{query} is not UTF-8 (byte {error.start}): save it as UTF-8") from None


def _answer(reader: Reader, text: str, options: argparse.Namespace) -> None:
    columns, rows = reader.ask(text)
    if options.json:
        write_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif options.csv:
        write_csv(columns, rows)
    else:
        write_table(columns, rows)


def _shell(reader: Reader, options: argparse.Namespace) -> None:
    """Read statements that end in a semicolon; an error ends the statement, not the shell."""
    # Imported for its effect: line editing and history in input().
    import readline  # noqa: F401

    tell("statements end with a semicolon; .quit or Ctrl-D leaves; `show tables;` lists the views")
    pending = ""
    while True:
        try:
            line = input("         ...> " if pending else PROMPT)
        except EOFError:
            print()
            return
        if not pending and line.strip() in (".quit", ".exit"):
            return
        pending = f"{pending}\n{line}".strip()
        if pending.endswith(";"):
            try:
                _answer(reader, pending, options)
            except QueryError as error:
                tell(str(error))
            pending = ""
