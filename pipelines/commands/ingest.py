"""`valleywatch ingest`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.commands.options import add_config
from pipelines.commands.output import tell
from pipelines.errors import RejectedFileError, UsageError
from pipelines.formats import detect, formats
from pipelines.inbox import find_named, path_text
from pipelines.ingest import FileOutcome, ingest_files, ingest_sources
from pipelines.lines import first_record
from pipelines.settings import AS_LOGGED, SourceSettings, load_settings, source_from
from pipelines.warehouse import Warehouse

UNITS = ("s", "ms", "us", "ns")
COUNTS = ("inclusive", "exclusive")
DESCRIBING = ("format", "deployment", "timezone", "epoch_unit", "latency_unit", "input_tokens")
"""Options that are keys of a source."""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("ingest", help="read logs into the warehouse, and nothing more")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or globs (default: the configured sources)")
    parser.add_argument("--format", metavar="NAME", help="their format (default: told from their keys)")
    parser.add_argument("--deployment", metavar="NAME", help="deployment of lines that name none (else: the model)")
    parser.add_argument("--timezone", metavar="ZONE", help="zone of times without an offset, such as Europe/Berlin")
    parser.add_argument("--epoch-unit", choices=UNITS, help="unit of time stamps that are numbers")
    parser.add_argument("--latency-unit", choices=(*UNITS, AS_LOGGED), help="unit of all durations")
    parser.add_argument("--input-tokens", choices=COUNTS, help="whether input tokens include the cached ones")
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Ingest; exit with 1 when a file was rejected."""
    settings = load_settings(options.config)
    described = {name: getattr(options, name) for name in DESCRIBING}
    given = [f"--{name.replace('_', '-')}" for name, value in described.items() if value is not None]
    if given and not options.paths:
        raise UsageError(f"{', '.join(given)}: this describes the files you name: name at least one PATH")
    warehouse = Warehouse(settings.warehouse_folder, memory_limit=settings.warehouse.memory_limit)
    now = datetime.now(UTC)
    files = [file for path in options.paths for file in find_named(Path.cwd(), path)]
    named = [(file, source_for(file, described)) for file in files]
    with warehouse.writer() as writer:
        if not options.paths:
            outcomes = ingest_sources(writer, settings, now, tell)
        else:
            outcomes = []
            for file, source in named:
                outcomes += ingest_files(writer, source, [file], settings.policy.window_days, now, tell)
    _sum_up(outcomes)
    return 1 if any(outcome.status == "rejected" for outcome in outcomes) else 0


def source_for(file: Path, described: Mapping[str, str | None]) -> SourceSettings:
    """Return the source of a file named on the command line; `described` are its keys, None where not given."""
    values = {name: value for name, value in described.items() if value is not None}
    if "format" not in values:
        try:
            found = detect(*first_record(file))
        except RejectedFileError as fault:
            raise UsageError(f"{file} cannot be read: {fault}") from None
        values["format"] = found.name if found else _refuse_unknown(file)
    return source_from({"name": "command line", "path": path_text(file), **values})


def _refuse_unknown(file: Path) -> str:
    raise UsageError(
        f"{file}: its first line does not tell which format it has: name one with --format ({', '.join(formats())})"
    )


def _sum_up(outcomes: list[FileOutcome]) -> None:
    n_loaded = sum(outcome.n_loaded for outcome in outcomes)
    known = sum(outcome.status == "already_loaded" for outcome in outcomes)
    rejected = sum(outcome.status == "rejected" for outcome in outcomes)
    tell(f"{len(outcomes)} files: {n_loaded:,} requests loaded; {known} files known already, {rejected} rejected")
