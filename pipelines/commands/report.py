"""`valleywatch report`."""

from __future__ import annotations

import argparse
import webbrowser
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.commands.options import add_config
from pipelines.commands.output import tell
from pipelines.errors import UsageError
from pipelines.priced_traffic import last_24_hours
from pipelines.report import publish_report, read_deployments, trusted_verdict
from pipelines.report_figures import FORMATS, write_figures
from pipelines.settings import load_settings
from pipelines.warehouse import Warehouse


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("report", help="write the HTML report of the newest results and say where it is")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    parser.add_argument(
        "--figures", type=Path, metavar="FOLDER", help="write the figures there as pictures instead, for chat and mail"
    )
    parser.add_argument("--deployment", metavar="NAME", help="with --figures: those of this one alone")
    parser.add_argument("--format", choices=FORMATS, help="with --figures: of which kind (default: png)")
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write the report, or its figures; print the paths."""
    if options.figures is not None:
        return _write_figures(options)
    for name in ("deployment", "format"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} goes with --figures FOLDER, but none is given")
    settings = load_settings(options.config)
    path = publish_report(Warehouse(settings.warehouse_folder), datetime.now(UTC))
    print(path)
    if options.open:
        webbrowser.open(path.as_uri())
    return 0


def _write_figures(options: argparse.Namespace) -> int:
    if options.open:
        raise UsageError("--open goes with the report, but --figures writes pictures: leave one of them out")
    settings = load_settings(options.config)
    with Warehouse(settings.warehouse_folder).reader() as reader:
        if options.deployment is not None:
            last_24_hours(reader, options.deployment)  # refuses a name that it does not know
        chosen = (
            replace(deployment, verdict=trusted_verdict(deployment))
            for deployment in read_deployments(reader)
            if options.deployment in (None, deployment.name)
        )
        try:
            written = write_figures(chosen, options.figures, options.format or "png")
        except OSError as error:
            raise UsageError(
                f"the figures cannot be written to {str(options.figures)!r}: {error.strerror}; give one that can"
            ) from error
    for path in written:
        print(path)
    if not written:
        tell("note: nothing is known yet that could be drawn")
    return 0
