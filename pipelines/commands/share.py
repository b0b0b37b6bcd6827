"""`valleywatch share`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pipelines.commands.options import add_config, traffic_date
from pipelines.commands.output import tell
from pipelines.errors import UsageError
from pipelines.opening import warehouse_of
from pipelines.settings import load_settings
from pipelines.sharing.folder import require_new, write_folder
from pipelines.sharing.marts import shared_marts
from pipelines.times import to_day_index

K = 5
"""Usual for tables that leave a house."""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("share", help="hourly marts to give away: k-anonymous, without ids and names")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a new folder")
    parser.add_argument("--k", type=int, default=K, metavar="N", help=f"least individuals in a group ({K})")
    parser.add_argument("--from", dest="first", metavar="D", help="first UTC date (default: all)")
    parser.add_argument("--to", dest="last", metavar="D", help="last UTC date")
    parser.add_argument("--names", action="store_true", help="the names of deployments instead of labels")
    parser.add_argument("--csv", action="store_true", help="CSV instead of Parquet")
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write the folder; say what is in it and what is not."""
    if options.k < 2:
        raise UsageError(f"--k {options.k}: a group of fewer than 2 hides nobody")
    first, last = (to_day_index(traffic_date(day)) if day else None for day in (options.first, options.last))
    if first is not None and last is not None and last < first:
        raise UsageError(f"--to {options.last} is before --from {options.first}")
    require_new(options.folder)
    with warehouse_of(load_settings(options.config)).reader() as reader:
        shared = shared_marts(reader, options.k, first, last, with_names=options.names)
    write_folder(shared, options.folder, as_csv=options.csv, with_names=options.names)
    for name, table in shared.tables.items():
        print(f"{name}: {table.height:,} rows")
    tell(
        f"{shared.n_hours_left_out:,} of {shared.n_hours:,} deployment-hours had fewer than {options.k} individuals "
        f"and are left out; {options.folder / 'README.md'} says what the rest is"
    )
    return 0
