"""Command lines of the deployment files, judged by the parsers that would read them.

Nothing is executed: a line is good when the command it names takes its arguments.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

import click
import pytest

from pipelines.cli import main


def require_understood(program: str, arguments: list[str]) -> None:
    """Fail unless `program` takes these arguments."""
    if program == "valleywatch":
        # `--help` last: everything before it is parsed, and refused where it is not known.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            with pytest.raises(SystemExit) as ended:
                main([*arguments, "--help"])
            assert ended.value.code == 0, said.getvalue()
        return
    command = _dagster(program, arguments)
    assert isinstance(command, click.Command)


def _dagster(program: str, arguments: list[str]) -> Any:
    """Parse a command line of Dagster's without running it."""
    if program == "dagster-daemon":
        from dagster._daemon.cli import create_dagster_daemon_cli

        command: Any = create_dagster_daemon_cli().commands[arguments.pop(0)]
    else:
        assert program == "dagster-webserver"
        from dagster_webserver.cli import create_dagster_webserver_cli

        command = create_dagster_webserver_cli()
    command.make_context(program, arguments)
    return command
