"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from datetime import UTC, date, datetime
from pathlib import Path

from pipelines.errors import UsageError


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add `--config`."""
    parser.add_argument(
        "--config",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="F",
        help="configuration file (default: ./valleywatch.toml)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="machine-readable output on stdout")


def utc_date(text: str) -> date:
    """Read YYYY-MM-DD."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise UsageError(f"{text!r} is no date: write a UTC date as YYYY-MM-DD") from None
