"""Fixtures every folder of tests may use, and where their files are kept."""

import contextlib
import fcntl
import importlib.util
import io
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from pipelines.cli import main
from tests.place import Place

REPO = Path(__file__).parents[1]
FLEET_FILE = REPO / "fixtures" / "fleet.py"

# No test touches a Dagster instance of the machine it runs on, and nothing measures who runs the tests.
os.environ.pop("DAGSTER_HOME", None)
os.environ["DAGSTER_DISABLE_TELEMETRY"] = "1"
os.environ["GX_ANALYTICS_ENABLED"] = "false"

# Every commit waits for the disk, and a shared one makes it wait long. What reaches a disk and in which order is tested
# by what is asked of the system, so the tests' own files may be in memory, where there is room.
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 2 << 30


def _is_roomy(folder: Path) -> bool:
    if not os.access(folder, os.W_OK):
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize >= MEMORY_BYTES and not found.f_flag & os.ST_NOEXEC


if "TMPDIR" not in os.environ and _is_roomy(MEMORY):
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None  # asked for anew

# The same examples in every run, whatever the machine's speed: a failure is seen again.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what is shown and golden instead of comparing")


@pytest.fixture(scope="session")
def fleet_module() -> ModuleType:
    """The generator of synthetic fleet days, loaded by its path: fixtures/ is data, not a package."""
    spec = importlib.util.spec_from_file_location("fleet", FLEET_FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Any]) -> Any:
    """Return what `make` returned for a folder of the session; only the first process to ask calls it, others wait."""
    base = factory.getbasetemp()
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    kept = session / f"{name}.pickle"
    with (session / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            (session / name).mkdir()
            kept.write_bytes(pickle.dumps(make(session / name)))
        return pickle.loads(kept.read_bytes())


@pytest.fixture(scope="session")
def fleet_day(fleet_module: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The default synthetic day: its folder of logs (read only, please) and its truth."""
    return _once(tmp_path_factory, "fleet", lambda folder: (folder, fleet_module.generate_fleet(folder)))


@dataclass(frozen=True)
class FleetWarehouse:
    """The fleet day and a measured replay after one `valleywatch run`; read only: tests that change it copy it."""

    place: Place
    truth: dict[str, Any]
    exit_code: int
    printed: str

    def copy(self, folder: Path) -> Place:
        """Return a place of its own with the same logs and the same warehouse."""
        shutil.copytree(self.place.folder, folder, symlinks=True, dirs_exist_ok=True)
        return Place(folder, self.place.config.read_text())


@pytest.fixture(scope="session")
def fleet_warehouse(fleet_day: tuple[Path, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> FleetWarehouse:
    """What `valleywatch demo` leaves, on the fleet day that is there already."""
    logs, truth = fleet_day

    def demo(folder: Path) -> tuple[Place, int, str]:
        shutil.copytree(logs, folder / "fleet")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = main(["demo", "--folder", str(folder)])
        return Place(folder, (folder / "valleywatch.toml").read_text()), code, printed.getvalue()

    place, code, printed = _once(tmp_path_factory, "demo", demo)
    return FleetWarehouse(place, truth, code, printed)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty place of its own."""
    return Place(tmp_path / "place")


@pytest.fixture
def in_tmp(tmp_path: Path) -> Iterator[Path]:
    """Make a scratch folder the current one."""
    with contextlib.chdir(tmp_path):
        yield tmp_path
