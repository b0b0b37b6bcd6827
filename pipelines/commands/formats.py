"""`valleywatch formats`."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

from pipelines.formats import formats


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("formats", help="the log formats it reads, and how to switch each on at the producer")
    parser.set_defaults(execute=execute)


def execute(_options: argparse.Namespace) -> int:
    """List the formats."""
    for entry in formats().values():
        print(f"{entry.name}: {entry.summary}")
        print(textwrap.fill(entry.switch_on, 100, initial_indent="    ", subsequent_indent="    "))
    return 0
