"""`valleywatch metrics`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from pipelines.commands.options import add_config
from pipelines.commands.output import tell
from pipelines.errors import UsageError
from pipelines.opening import warehouse_of
from pipelines.settings import load_settings
from pipelines.stopping import heed

LOOPBACK = "127.0.0.1"


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "metrics", help="gauges of the newest results for Prometheus: printed, written, served"
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument(
        "--textfile", type=Path, metavar="PATH", help="write them to PATH, for the node exporter's textfile collector"
    )
    way.add_argument("--listen", metavar="[HOST:]PORT", help=f"serve them at /metrics (default host: {LOOPBACK})")
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print, write or serve the gauges."""
    # Here, not above: every command would pay for HTTP.
    from pipelines.metrics.exposition import as_text, read_families
    from pipelines.metrics.server import serve
    from pipelines.metrics.settings import require_prom
    from pipelines.metrics.textfile import write_textfile

    settings = load_settings(options.config)
    warehouse = warehouse_of(settings)
    if options.textfile is not None:
        try:
            require_prom(options.textfile.name)
        except ValueError as error:
            raise UsageError(f"--textfile {options.textfile}: {error}") from None
        write_textfile(warehouse, options.textfile)
        print(options.textfile)
    elif options.listen is not None:
        serve(warehouse, *address(options.listen), tell)
        heed()  # the server takes a signal for a reason to return; it is one to end
    else:
        sys.stdout.buffer.write(as_text(read_families(warehouse)))
    return 0


def address(text: str) -> tuple[str, int]:
    """Read [HOST:]PORT; an IPv6 address in square brackets."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if not (port.isascii() and port.isdigit() and int(port) < 65536) or (colon and not host):
        raise UsageError(f"--listen {text!r} is no address: write PORT, HOST:PORT or [IPv6]:PORT, such as 9464")
    return host or LOOPBACK, int(port)
