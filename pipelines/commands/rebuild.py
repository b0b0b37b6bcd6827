"""`valleywatch rebuild`."""

from __future__ import annotations

import argparse
from typing import Any

from pipelines.commands.options import add_config
from pipelines.commands.output import tell
from pipelines.opening import warehouse_of
from pipelines.recovery import rebuild
from pipelines.settings import load_settings


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("rebuild", help="put a damaged database aside and begin again from what is sound")
    parser.add_argument(
        "--from-logs", action="store_true", help="begin empty: every log that is still there is read again"
    )
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Rebuild; say what from, and what is left to do."""
    settings = load_settings(options.config)
    warehouse = warehouse_of(settings)
    done = rebuild(warehouse, from_logs=options.from_logs)
    for fault in done.unsound:
        tell(f"passed over: {fault}")
    tell(f"the old files are in {done.aside}; delete it when you no longer need them")
    if done.source is None:
        tell(
            "published prices are forgotten: hours take what the price rows say now; what they were sold at is in "
            "price_history and valley_status of the old files"
        )
    begun = f"from {done.source}" if done.source else "empty, without a snapshot"
    print(f"rebuilt {begun}: run `valleywatch run`, which reads what is missing from the logs")
    return 0
