"""The command line: `valleywatch COMMAND`.

Belongs here: the parser and the one place where errors become messages and exit codes (0 done, 1 a person is needed,
2 usage or configuration, 75 try again, 128 + n ended by signal n). Does not belong here: commands.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from pipelines import __version__
from pipelines.commands import (
    alerts,
    demo,
    doctor,
    episodes,
    fit,
    formats,
    ingest,
    metrics,
    profit,
    rebuild,
    report,
    run,
    sql,
    status,
    waterfall,
    whatif,
)
from pipelines.errors import ValleywatchError
from pipelines.stopping import Stopped, listening

COMMANDS = (
    demo,
    run,
    ingest,
    status,
    episodes,
    alerts,
    whatif,
    waterfall,
    profit,
    sql,
    fit,
    report,
    metrics,
    doctor,
    rebuild,
    formats,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="valleywatch",
        description="Finds the LLM inference deployments whose prefix-cache hits lose money, from their serving logs.",
    )
    parser.add_argument("--version", action="version", version=f"valleywatch {__version__}")
    parser.add_argument("--config", type=Path, default=Path("valleywatch.toml"), help=argparse.SUPPRESS)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    options = parser.parse_args(arguments)
    try:
        with listening():
            code = options.execute(options)
            sys.stdout.flush()
    except ValleywatchError as error:
        print(f"valleywatch: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output has what it wanted; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Stopped, KeyboardInterrupt) as stop:
        number = stop.signal_number if isinstance(stop, Stopped) else signal.SIGINT
        name = signal.Signals(number).name
        print(
            f"valleywatch: stopped by {name}; what was committed stays, the next run goes on from there",
            file=sys.stderr,
        )
        return 128 + number
    return int(code)
