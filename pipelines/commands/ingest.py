"""`valleywatch ingest`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.commands.options import add_config
from pipelines.commands.output import tell
from pipelines.detection import recognise
from pipelines.errors import RejectedFileError, UnreachableError, UsageError
from pipelines.formats import formats
from pipelines.inbox import find_named
from pipelines.ingest import FileOutcome, ingest_files, ingest_sources
from pipelines.log_file import LogFile
from pipelines.opening import warehouse_of
from pipelines.settings import AS_LOGGED, SourceSettings, load_settings, source_from

UNITS = ("s", "ms", "us", "ns")
COUNTS = ("inclusive", "exclusive")
DESCRIBING = ("format", "deployment", "timezone", "epoch_unit", "latency_unit", "input_tokens")
"""Options that are keys of a source."""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("ingest", help="read logs into the warehouse, and nothing more")
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files, globs, s3:// or gs:// (default: the configured sources)"
    )
    parser.add_argument("--format", metavar="NAME", help="their format (default: told from how they begin)")
    parser.add_argument("--deployment", metavar="NAME", help="deployment of lines that name none (else: the model)")
    parser.add_argument("--timezone", metavar="ZONE", help="zone of times without an offset, such as Europe/Berlin")
    parser.add_argument("--epoch-unit", choices=UNITS, help="unit of time stamps that are numbers")
    parser.add_argument("--latency-unit", choices=(*UNITS, AS_LOGGED), help="unit of all durations")
    parser.add_argument("--input-tokens", choices=COUNTS, help="whether input tokens include the cached ones")
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Ingest; exit with 1 when a file was rejected, else with 75 when a store could not be reached."""
    settings = load_settings(options.config)
    described = {name: getattr(options, name) for name in DESCRIBING}
    given = [f"--{name.replace('_', '-')}" for name, value in described.items() if value is not None]
    if given and not options.paths:
        raise UsageError(f"{', '.join(given)}: this describes the files you name: name at least one PATH")
    warehouse = warehouse_of(settings)
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
    return exit_code(outcomes)


def exit_code(outcomes: Sequence[FileOutcome]) -> int:
    """Return 1 where a person must look at a log, 75 where the next run may read what this one could not, else 0."""
    statuses = {outcome.status for outcome in outcomes}
    return 1 if "rejected" in statuses else UnreachableError.exit_code if "unreachable" in statuses else 0


def source_for(file: LogFile, described: Mapping[str, str | None]) -> SourceSettings:
    """Return the source of a file named on the command line; `described` are its keys, None where not given.

    Whoever names a file means it as it is now, so nothing in it waits.
    """
    values = {name: value for name, value in described.items() if value is not None}
    if "format" not in values:
        try:
            told = recognise(file)
        except RejectedFileError as fault:
            raise UsageError(f"{file.name} cannot be read: {fault}") from None
        values["format"] = told.format.name if told.format else _refuse_unknown(file, told.found)
    return source_from({"name": "command line", "path": "-", "settle_s": 0, **values})


def _refuse_unknown(file: LogFile, found: str) -> str:
    raise UsageError(
        f"{file.name}: how it begins does not tell which format it has: {found}; "
        f"name one with --format ({', '.join(formats())})"
    )


def _sum_up(outcomes: list[FileOutcome]) -> None:
    n_loaded = sum(outcome.n_loaded for outcome in outcomes)
    known = sum(outcome.status == "already_loaded" for outcome in outcomes)
    rejected = sum(outcome.status == "rejected" for outcome in outcomes)
    deferred = sum(outcome.status == "deferred" for outcome in outcomes)
    unreachable = sum(outcome.status == "unreachable" for outcome in outcomes)
    tell(
        f"{len(outcomes)} files: {n_loaded:,} requests loaded; {known} files known already, {rejected} rejected"
        + (f", {deferred} left to the next run" if deferred else "")
        + (f", {unreachable} unreachable" if unreachable else "")
    )
