"""The container file passes the usual linter, and what it runs works: no engine is needed for either."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import REPO
from tests.deploy.commands import require_understood

FOLDER = REPO / "docs" / "deploy" / "container"
CONTAINERFILE = (FOLDER / "Containerfile").read_text()
INSTRUCTIONS = [
    re.sub(r"\\\n\s*", "", found)
    for found in re.findall(
        r"^(?:[A-Z]+ (?:[^\n]*\\\n)*[^\n]*)", re.sub(r"^#.*\n", "", CONTAINERFILE, flags=re.MULTILINE), re.MULTILINE
    )
]
HADOLINT = Path(sys.executable).parent / "hadolint"


@pytest.fixture(scope="module")
def runtime_lock() -> ModuleType:
    spec = spec_from_file_location("runtime_lock", FOLDER / "runtime_lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def linted(path: Path) -> subprocess.CompletedProcess[str]:
    if not HADOLINT.exists():
        pytest.skip("hadolint is not installed: make setup, on a machine that it is built for")
    return subprocess.run([HADOLINT, path], capture_output=True, text=True, timeout=60, check=False)


def test_the_linter_has_nothing_to_say(tmp_path: Path) -> None:
    done = linted(FOLDER / "Containerfile")
    assert (done.returncode, done.stdout) == (0, "")
    bad = tmp_path / "Containerfile"
    bad.write_text(CONTAINERFILE.replace("python:3.11-slim-bookworm", "python:latest"))
    assert "DL3007" in linted(bad).stdout


def test_it_runs_as_nobody_in_particular_and_holds_no_secret() -> None:
    stages = [position for position, line in enumerate(INSTRUCTIONS) if line.startswith("FROM ")]
    final = INSTRUCTIONS[stages[-1] :]
    assert "USER 10001:10001" in final
    assert [line for line in final if line.startswith("COPY")] == [
        "COPY --from=build /opt/valleywatch /opt/valleywatch"
    ]
    assert not re.search(r"^(ARG|ENV).*(KEY|TOKEN|SECRET|PASSWORD|_URL)", "\n".join(INSTRUCTIONS), re.MULTILINE)
    (check,) = [line for line in final if line.startswith("HEALTHCHECK ")]
    assert check.endswith('CMD ["valleywatch", "doctor"]')
    (command,) = [line for line in final if line.startswith("CMD ")]
    assert command == 'CMD ["run"]'
    require_understood("valleywatch", ["run"])


def test_its_healthcheck_is_a_command_that_exists() -> None:
    require_understood("valleywatch", ["doctor"])


def test_only_what_is_needed_comes_in() -> None:
    """The wheel's own inputs, by name: a secret that lies about in the clone is not among them."""
    ignored, *let_in = [line for line in (FOLDER / "Containerfile.dockerignore").read_text().splitlines() if line]
    assert ignored == "*"
    names = [line.removeprefix("!") for line in let_in if line.startswith("!")]
    assert all((REPO / name).exists() for name in names)
    assert not {".git", ".venv", "tests", ".ci"} & set(names)


def test_the_runtime_lock_is_the_part_of_the_lock_that_running_needs(runtime_lock: ModuleType) -> None:
    locked = runtime_lock.entries((REPO / "requirements.lock").read_text())
    names = runtime_lock.needed("valleywatch", runtime_lock.EXTRAS)
    assert {"duckdb", "dagster", "dagster-webserver", "polars", "numpy", "genai-prices", "jinja2"} <= names
    assert not {"pytest", "ruff", "mypy", "moto", "hatchling", "kubernetes-validate", "valleywatch"} & names
    assert len(locked["numpy"]) > 1, "of a package that is locked by Python's version, every entry is kept"
    assert all("--hash=sha256:" in entry for name in names & set(locked) for entry in locked[name])


def test_the_guide_installs_as_the_image_does() -> None:
    page = (REPO / "docs" / "operations.md").read_text()
    typed = page.partition("```sh install\n")[2].partition("```")[0].splitlines()
    steps = " && ".join(line.removeprefix("RUN ") for line in INSTRUCTIONS if line.startswith("RUN "))
    done = steps.replace(" --no-cache-dir --disable-pip-version-check", "").split(" && ")
    assert len(typed) == 5
    assert [step.strip() for step in done if "apt" not in step and "install --directory" not in step] == typed


@pytest.mark.slow  # installs everything twice, from the package index
@pytest.mark.timeout(1800)
def test_the_steps_of_the_build_stage_work(tmp_path: Path) -> None:
    """The very RUN lines but apt's, on what the ignore file lets in; then the command they leave behind."""
    source, target = tmp_path / "src", tmp_path / "opt" / "valleywatch"
    for line in (FOLDER / "Containerfile.dockerignore").read_text().splitlines():
        if line.startswith("!"):
            name = line.removeprefix("!")
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            if (REPO / name).is_dir():
                shutil.copytree(REPO / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(REPO / name, source / name)
    build = INSTRUCTIONS[: next(i for i, line in enumerate(INSTRUCTIONS) if i and line.startswith("FROM "))]
    steps = [line.removeprefix("RUN ") for line in build if line.startswith("RUN ") and "apt-get" not in line]
    assert len(steps) == 2
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for step in steps:
        done = subprocess.run(
            ["/bin/sh", "-euc", step.replace("/opt/valleywatch", str(target))],
            cwd=source, env=clean, capture_output=True, text=True, timeout=1500, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    for command in (["--version"], ["formats"], ["demo", "--folder", str(tmp_path / "demo")]):
        done = subprocess.run(
            [target / "bin" / "valleywatch", *command], cwd=tmp_path, env=clean, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
    assert "glm-5-h200" in done.stdout
    assert not (target / "bin" / "pytest").exists()
