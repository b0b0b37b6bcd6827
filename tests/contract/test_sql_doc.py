"""docs/sql.md is executed: every query and program on it runs, and what it shows is what comes out."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator

import pytest

from pipelines.adhoc.completion import DOT_COMMANDS
from pipelines.adhoc.cookbook import questions
from pipelines.cli import main
from pipelines.queries import load, names
from tests.conftest import REPO, FleetWarehouse
from tests.contract.pages import Step, steps

PAGE = REPO / "docs" / "sql.md"
DOC = PAGE.read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", DOC, re.DOTALL)
CLOCKED = {"late_lines"}
"""Questions whose answers depend on when the job ran."""
MOST_LINES = 10


@pytest.fixture(autouse=True)
def in_the_demo(fleet_warehouse: FleetWarehouse) -> Iterator[None]:
    with contextlib.chdir(fleet_warehouse.place.folder):
        yield


@pytest.mark.parametrize("step", steps(PAGE), ids=lambda step: step.command)
def test_what_the_page_types_prints_what_it_shows(
    step: Step, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    code = main(shlex.split(step.command)[1:])
    said = capsys.readouterr()
    step.require(said.out or said.err, request.config)
    assert code == (0 if said.out else 2)
    assert step.shown.count("\n") <= MOST_LINES


@pytest.mark.parametrize(("program", "shown"), PROGRAMS, ids=[str(number) for number in range(len(PROGRAMS))])
def test_a_program_on_the_page_prints_what_it_shows(program: str, shown: str, request: pytest.FixtureRequest) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(program, str(PAGE), "exec"), {})
    if request.config.getoption("--update-golden"):
        before = f"{program}```\n\n```text\n"
        PAGE.write_text(PAGE.read_text().replace(f"{before}{shown}", f"{before}{printed.getvalue()}"))
        return
    assert printed.getvalue() == shown


def test_every_program_reads_the_same_requests(fleet_warehouse: FleetWarehouse) -> None:
    (asked,) = fleet_warehouse.place.rows("select count(*) as n, sum(input_tokens) as tokens from requests")
    assert len(PROGRAMS) == 4
    for _, shown in PROGRAMS:
        assert [int(number) for number in re.findall(r"\d+", shown)] == [asked["n"], asked["tokens"]]


def test_the_page_shows_the_whole_cookbook() -> None:
    asked = {shlex.split(step.command)[2] for step in steps(PAGE)} & set(questions())
    assert asked | CLOCKED == set(questions())
    for entry in questions().values():
        assert f"\n**{entry.question}**" in DOC


def test_the_page_lists_every_view_with_its_grain() -> None:
    listed = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", DOC, re.MULTILINE)
    expected = [(name.removeprefix("views/"), load(name).header) for name in names("views")]
    assert listed == [(name, header["grain"], header["about"]) for name, header in expected]


def test_the_page_explains_every_option_and_every_dot_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sql", "--help"])
    for option in set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help", "--config"}:
        assert f"`{option}" in DOC or f" [{option} " in DOC
    for command in DOT_COMMANDS:
        assert f"`{command}" in DOC


@pytest.mark.parametrize("query", re.findall(r"`([^`]+)`", "\n".join(
    line.split("|")[1] for line in DOC.partition("| typed |")[2].partition("\n\n")[0].splitlines()[2:]
)))  # fmt: skip
def test_what_the_page_says_is_refused_is(query: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", query]) == 2
    assert "refused" in capsys.readouterr().err
