"""What is handed to people: the wheel, the lock, the Dagster code location, the import rules, the tracked files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.conftest import REPO
from tests.place import Place

BIN = Path(sys.executable).parent


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=REPO,
        env=os.environ | {"PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=110,
    )


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    if shutil.which("git") is None or not (REPO / ".git").exists():
        pytest.skip("not a git checkout: what is tracked is not known")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPO, capture_output=True, check=True).stdout
    return [REPO / os.fsdecode(name) for name in listed.split(b"\0") if name]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    assert built.returncode == 0, built.stderr
    return zipfile.ZipFile(next(folder.glob("valleywatch-*.whl")))


def test_the_wheel_carries_all_statements_fixtures_and_templates(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    data = {
        f"pipelines/_{path.relative_to(REPO)}"
        for folder in ("sql", "fixtures")
        for path in (REPO / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert data <= names
    assert {"pipelines/report/templates/deployment.html.j2", "pipelines/report/static/report.css"} <= names
    assert {"pipelines/_dagster_home/dagster.yaml", "models/py.typed"} <= names


def test_the_wheel_carries_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert len(names) == len(set(names))
    assert [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".duckdb"))] == []
    assert {name.split("/")[0] for name in names} == {"pipelines", "models", "valleywatch-0.1.0.dist-info"}


def test_an_installed_copy_finds_its_data(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    program = (
        "import pipelines, pathlib; from pipelines.queries import load, resource_folder; "
        "assert pathlib.Path(pipelines.__file__).parts[-3] == 'unpacked', pipelines.__file__; "
        "print(load('mart/busy_periods').name, resource_folder('fixtures').name)"
    )
    unpacked = tmp_path.rename(tmp_path.parent / "unpacked")
    done = run(sys.executable, "-P", "-c", program, PYTHONPATH=str(unpacked))
    assert done.stdout == "mart/busy_periods _fixtures\n", done.stderr


def test_the_console_script_is_the_command(wheel: zipfile.ZipFile) -> None:
    entry = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "valleywatch = pipelines.cli:main" in wheel.read(entry).decode()


def test_dagster_loads_the_code_location(tmp_path: Path) -> None:
    done = run(BIN / "dagster", "definitions", "validate", DAGSTER_HOME=str(tmp_path), DAGSTER_DISABLE_TELEMETRY="1")
    assert done.returncode == 0, done.stderr
    assert "All code locations passed validation" in done.stdout + done.stderr


def test_the_definitions_are_the_job_of_the_design(place: Place) -> None:
    from pipelines.cadence import ScheduleSettings
    from pipelines.definitions import build_defs
    from pipelines.resources import Workplace

    definitions = build_defs(Workplace(config_path=str(place.config)), ScheduleSettings())
    graph = definitions.resolve_asset_graph()
    assert {key.to_user_string() for key in graph.get_all_asset_keys()} == {
        "requests", "hourly_hit_rate", "hit_rate_histogram", "busy_periods", "throughput_curve", "valley_status",
        "profit_and_loss", "valley_episodes", "snapshot", "report", "alerts",
    }  # fmt: skip
    assert {(key.name, key.asset_key.to_user_string()) for key in graph.asset_check_keys} == {
        ("requests_contract", "requests"),
        ("marts_contract", "hourly_hit_rate"),
        ("curves_contract", "throughput_curve"),
    }
    schedule = definitions.resolve_schedule_def("due_days")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 1 * * *", "UTC")
    assert all(graph.get(key).description for key in graph.get_all_asset_keys())


def test_importing_the_code_location_touches_no_file(tmp_path: Path) -> None:
    program = "import pipelines.definitions as d; print(len(list(d.defs.resolve_all_asset_keys())))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(REPO)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "11\n", done.stderr
    assert list(tmp_path.iterdir()) == []


def test_imports_follow_the_rules() -> None:
    done = run(BIN / "lint-imports", "--no-cache")
    assert done.returncode == 0, done.stdout


def test_commands_that_need_no_orchestration_do_not_import_it() -> None:
    program = (
        "import sys; from pipelines.cli import main; main(['formats']); "
        "print([m for m in ('dagster', 'great_expectations', 'pandas') if m in sys.modules])"
    )
    done = run(sys.executable, "-c", program)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize(("lock", "least"), [("requirements.lock", 50), ("requirements-spark.lock", 5)])
def test_every_requirement_is_locked_by_hash_and_names_no_host(lock: str, least: int) -> None:
    text = (REPO / lock).read_text()
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if entry and not entry.startswith("#")]
    assert len(entries) > least
    assert all(re.match(r"[a-z0-9._-]+==[^\s]+", entry) for entry in entries)
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text
    assert "index-url" not in text


def test_all_of_spark_is_what_its_own_lock_has_and_the_other_has_not() -> None:
    declared = tomllib.loads((REPO / "pyproject.toml").read_text())
    (spark,) = declared["dependency-groups"]["spark"]
    assert declared["project"]["optional-dependencies"]["spark"] == [spark]
    entry = f"\n{spark.replace('[connect]', '')} "
    assert entry in (REPO / "requirements-spark.lock").read_text()
    assert "\npyspark==" not in (REPO / "requirements.lock").read_text()


def test_tracked_files_name_no_place_of_a_machine(tracked: list[Path]) -> None:
    """Folders of homes, scratch folders, loopback registries: nothing of the machine a file was written on."""
    place = re.compile(
        rb"/(?:home|Users|root)/[\w.-]+|/tmp/[\w.-]+|/work/|https?://(?:localhost|127\.|10\.|[\w.-]+\.(?:internal|local)\b)"
    )
    found = {
        str(path.relative_to(REPO)): sorted(set(place.findall(path.read_bytes())))
        for path in tracked
        if path.is_file() and path != Path(__file__)
    }
    assert {name: hits for name, hits in found.items() if hits} == {}


def test_tracked_files_are_text_of_a_reasonable_size(tracked: list[Path]) -> None:
    assert [path.name for path in tracked if path.is_file() and path.stat().st_size > 2 << 20] == []
    assert [path.name for path in tracked if path.suffix in (".pyc", ".duckdb", ".whl")] == []
