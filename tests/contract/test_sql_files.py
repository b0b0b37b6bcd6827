"""The files of sql/: headers that tell the truth, one vocabulary, and no SQL anywhere else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pipelines.queries import load
from tests.conftest import REPO

FILES = sorted(str(path.relative_to(REPO / "sql").with_suffix("")) for path in (REPO / "sql").rglob("*.sql"))
KEYS = ("name", "grain", "params", "reads", "units")
FORBIDDEN = re.compile(
    r"\b(latency|latency_ms|hits|hitrate|cache_hit|percent\w*|\w+_percent|pct|\w+_pct|prompt_len|n_in)\b"
)
"""Words the vocabulary has another word for, as names of columns."""


def header(name: str) -> dict[str, str]:
    """The header's entries; a line that continues one is added to it."""
    found: dict[str, str] = {}
    key = ""
    for line in (REPO / "sql" / f"{name}.sql").read_text().splitlines():
        if not line.startswith("--"):
            break
        match = re.match(r"-- (\w+): ?(.*)", line)
        key = match[1] if match else key
        found[key] = match[2] if match else f"{found[key]} {line.removeprefix('--').strip()}"
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_header_says_what_the_statement_is(name: str) -> None:
    assert list(header(name))[: len(KEYS)] == list(KEYS)
    assert header(name)["name"] == name
    assert all(header(name)[key] for key in KEYS)


@pytest.mark.parametrize("name", FILES)
def test_a_header_declares_exactly_the_parameters_that_are_bound(name: str) -> None:
    declared = set(
        re.findall(r"\b([a-z][a-z0-9_]*) (?:VARCHAR|BIGINT|BOOLEAN|INTEGER|DOUBLE|DATE)\b", header(name)["params"])
    )
    assert declared == load(name).params
    assert bool(declared) is (header(name)["params"] != "none")


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_one_statement_and_ends_in_a_newline(name: str) -> None:
    text = (REPO / "sql" / f"{name}.sql").read_text()
    assert ";" not in load(name).text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\t" not in text


@pytest.mark.parametrize("name", FILES)
def test_no_name_is_outside_the_vocabulary(name: str) -> None:
    statement = re.sub(r"'[^']*'", "''", load(name).text)
    assert not FORBIDDEN.findall(statement)


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith(("views/", "report/", "checks/"))])
def test_marts_know_neither_the_clock_nor_chance_nor_floating_sums(name: str) -> None:
    statement = re.sub(r"'[^']*'", "''", load(name).text)
    assert not re.search(r"\b(now|current_timestamp|current_date|random|uuid|approx_\w+|avg)\s*\(?", statement)
    assert "select *" not in statement.replace("select\n    *", "").replace("select *\n", "")


def literals(path: Path) -> list[str]:
    """The texts of a module, docstrings left out, the constant parts of f-strings included."""
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in prose]
    return [node.value for node in constants if isinstance(node.value, str)]


def test_sql_is_written_in_sql_files_and_the_warehouse_alone() -> None:
    statement = re.compile(
        r"^\s*(select\s.*\sfrom\s|insert into\s|delete from\s|update\s.*\sset\s|attach\s|copy\s"
        r"|(create|drop|alter)\s+(or replace\s+)?(temp\s+)?(table|view|macro|schema)\s)",
        re.IGNORECASE | re.DOTALL,
    )
    found = {
        path.relative_to(REPO / "pipelines").parts[0]
        for path in (REPO / "pipelines").rglob("*.py")
        if any(statement.match(text) for text in literals(path))
    }
    assert found == {"warehouse", "postgres"}


def test_every_statement_is_used() -> None:
    code = "\n".join(path.read_text() for path in (REPO / "pipelines").rglob("*.py"))
    folders = ("schema", "views", "macros", "ingest/macros", "formats", "adhoc", "spark")
    unused = [
        name
        for name in FILES
        if not name.startswith(tuple(f"{folder}/" for folder in folders))
        and f'"{name}"' not in code
        and not re.fullmatch(r"mart/(clear_)?(hourly_hit_rate|hit_rate_histogram)|mart/unique_requests", name)
    ]
    assert unused == []


def test_a_statement_cannot_be_run_with_other_parameters() -> None:
    with pytest.raises(ValueError, match=r"binds \['hour_index'\], not \['day_index'\]"):
        load("valley/standing_before").bind({"day_index": 1})


def test_no_folder_of_sql_is_empty_of_meaning() -> None:
    assert {Path(name).parts[0] for name in FILES} == {
        "adhoc", "alerts", "catalogue", "checks", "curve", "doctor", "export", "formats", "ingest", "macros", "mart",
        "metrics", "ops", "report", "schema", "share", "shown", "spark", "valley", "views",
    }  # fmt: skip
