"""`valleywatch report`."""

from __future__ import annotations

import argparse
import webbrowser
from datetime import UTC, datetime
from typing import Any

from pipelines.commands.options import add_config
from pipelines.report_data import publish_report
from pipelines.settings import load_settings
from pipelines.warehouse import Warehouse


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("report", help="write the HTML report of the newest results and say where it is")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write the report; print its path."""
    settings = load_settings(options.config)
    path = publish_report(Warehouse(settings.warehouse_folder), datetime.now(UTC))
    print(path)
    if options.open:
        webbrowser.open(path.as_uri())
    return 0
