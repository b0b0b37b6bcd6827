"""`valleywatch demo`."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

from pipelines.commands.output import tell
from pipelines.commands.run import run_and_tell
from pipelines.queries import resource_folder

MEASURED = ("replay_np2.jsonl", "sweep_L8192_ub512.jsonl", "sweep_L4096_ub512.jsonl")
"""Logs of a real llama.cpp server: traffic for the job, and benchmark sweeps for `valleywatch fit`."""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "demo", help="the whole job on bundled logs: a synthetic fleet day and a measured replay"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("valleywatch-demo"), help="scratch folder (default: ./valleywatch-demo)"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Lay the demo out in its folder and run the job there."""
    config = prepare(options.folder)
    return run_and_tell(config, None, reprice=False)


def prepare(folder: Path) -> Path:
    """Write logs and configuration into `folder`; return the configuration's path. Doing it twice changes nothing."""
    fixtures = resource_folder("fixtures")
    logs = Path("logs") / "llama_server"
    (folder / logs).mkdir(parents=True, exist_ok=True)
    for name in MEASURED:
        shutil.copy2(fixtures / logs / name, folder / logs / name)
    if not (folder / "fleet" / "truth.json").exists():
        tell("writing a synthetic fleet day")
        _fleet_module(fixtures).generate_fleet(folder / "fleet")
    shutil.copy2(fixtures / "demo.toml", folder / "valleywatch.toml")
    return folder / "valleywatch.toml"


def _fleet_module(fixtures: Path) -> ModuleType:
    """Load the generator by its path: `fixtures` is data, not a package."""
    spec = importlib.util.spec_from_file_location("valleywatch_fleet", fixtures / "fleet.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
