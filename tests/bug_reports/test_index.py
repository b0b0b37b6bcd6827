"""The index of bug reports is complete, and what it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.bug_reports.index import ROWS
from tests.conftest import REPO
from tests.shared_data import shared


@cache
def functions(path: Path) -> frozenset[str]:
    """The tests that a module defines at its top."""
    found = (node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef))
    return frozenset(name for name in found if name.startswith("test_"))


@pytest.mark.parametrize("number", ROWS)
def test_every_report_has_tests_that_exist(number: int) -> None:
    assert ROWS[number].tests
    for name in ROWS[number].tests:
        file, _, function = name.partition("::")
        assert function in functions(REPO / "tests" / file), name


def test_every_test_of_this_folder_answers_a_report() -> None:
    named = {name for row in ROWS.values() for name in row.tests}
    here = {
        f"bug_reports/{path.name}::{function}"
        for path in Path(__file__).parent.glob("test_*.py")
        if path != Path(__file__)
        for function in functions(path)
    }
    assert len(here) > 30
    assert here - named == set()


def test_the_index_has_every_row_of_the_list() -> None:
    listed = shared("reference/bug_reports.md").read_text()
    rows = re.findall(r"^\| (\d+) \| [\w.-]+/([\w.-]+#\d+)", listed, re.MULTILINE)
    assert {int(number): report for number, report in rows} == {number: row.report for number, row in ROWS.items()}
