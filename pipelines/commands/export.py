"""`valleywatch export`."""

from __future__ import annotations

import argparse
import os
from typing import Any

from pipelines.commands.options import add_config, add_json
from pipelines.commands.output import tell, write_json
from pipelines.opening import warehouse_of
from pipelines.postgres.connection import connected, read_url
from pipelines.postgres.tables import replace_tables
from pipelines.settings import load_settings

URL_VARIABLE = "VALLEYWATCH_POSTGRES_URL"
SCHEMA = "valleywatch"


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("export", help="the published marts as tables of a PostgreSQL database")
    parser.add_argument("--postgres", action="store_true", required=True, help="into PostgreSQL")
    parser.add_argument("--schema", default=SCHEMA, metavar="NAME", help=f"made where it is missing ({SCHEMA})")
    parser.add_argument(
        "--url-env",
        default=URL_VARIABLE,
        metavar="VARIABLE",
        help=f"variable of the environment that holds postgresql://USER:PASSWORD@HOST/DATABASE ({URL_VARIABLE})",
    )
    add_json(parser)
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Replace the tables by the newest published snapshot; print how many rows each has."""
    url = read_url(options.url_env, os.environ)
    settings = load_settings(options.config)
    with warehouse_of(settings).reader() as reader, connected(url, options.url_env) as connection:
        counts = replace_tables(connection, reader, options.schema)
    if options.json:
        write_json({"schema": options.schema, "rows": counts})
    else:
        for name, n_rows in counts.items():
            print(f"{options.schema}.{name}: {n_rows:,} rows")
    tell(f"{len(counts)} tables replaced in one transaction")
    return 0
