"""`valleywatch sql` as a person meets it: in a terminal, key by key."""

from __future__ import annotations

import stat
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.adhoc.statements import is_finished
from pipelines.queries import load
from tests.place import VIEWS, Place, request
from tests.terminal import LIMIT_S, Terminal

PROMPT = "valleywatch>"
NEVER_ENDS = "select sum(a.range) from range(10000000) a, range(10000000) b;"
TYPED = "range(10000000) b;\n"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A published warehouse that no test may change."""
    place = Place(tmp_path_factory.mktemp("filled"))
    place.write("a.jsonl", [request(number) for number in range(100)])
    place.settle()
    return place


@pytest.fixture(scope="module")
def one_shell(filled: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """One process for all tests that leave it at its prompt: a start takes a second."""
    with opened(filled, tmp_path_factory.mktemp("state")) as terminal:
        terminal.wait_for(PROMPT)
        yield terminal


@pytest.fixture
def shell(one_shell: Terminal) -> Iterator[Terminal]:
    """A shell that has shown its prompt and shows it again in the end."""
    yield one_shell
    answer(one_shell, "select 41 + 1 as after;", "after\n")


def answer(terminal: Terminal, typed: str, *words: str) -> None:
    """Type a line, wait for these words and for the next prompt: keys that come before it may be lost."""
    terminal.type(f"{typed}\r")
    for word in words:
        terminal.wait_for(word)
    terminal.wait_for(PROMPT)


def opened(place: Place, state: Path, *arguments: str, n_columns: int = 100, **variables: str) -> Terminal:
    environment = {"XDG_STATE_HOME": str(state), **variables}
    return Terminal(["sql", *arguments, "--config", str(place.config)], environment, n_columns=n_columns)


def test_a_statement_of_several_lines_is_answered_at_its_semicolon(shell: Terminal) -> None:
    shell.type("select 41 + 1\r")
    shell.wait_for("...>")
    answer(shell, "as answer; -- done", "answer\n", "42")


def test_names_are_completed(shell: Terminal) -> None:
    shell.type("from hourly_h\t")
    shell.wait_for("hourly_hit_rate")
    answer(shell, " select sum(n_requests) as total;", "total\n", "100")
    shell.type(".columns busy_\t")
    shell.wait_for("busy_periods")
    answer(shell, "", "steps_32768")


def test_several_candidates_are_shown_with_what_they_are(shell: Terminal) -> None:
    shell.type("select valley_\t")
    shell.wait_for("valley_exit(a, r)")
    shell.wait_for("valley_floor(a, r)")
    shell.type("\x03")
    shell.wait_for(PROMPT)


def test_help_lists_every_view_with_its_grain(filled: Place, tmp_path: Path) -> None:
    with opened(filled, tmp_path, n_columns=300) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type(".help\r")
        shown = terminal.wait_for("macros:")
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    for view in VIEWS:
        assert load(f"views/{view}").header["grain"] in lines[view]
        assert load(f"views/{view}").header["about"] in lines[view]


def test_a_question_of_the_cookbook_is_asked_with_its_parameters(shell: Terminal) -> None:
    answer(shell, ".cookbook price_ratio price_ratio=x", "price_ratio = 'x' is not a number")
    answer(shell, ".cookbook coverage days=3", "Which deployments do not report", "n_requests", "100")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (".vews", "no command .vews (did you mean '.views'?)"),
        (".columns nope", "no view 'nope'"),
        (".cookbook lost_to_hist", "(did you mean 'lost_to_hits'?)"),
        (".columns 'requests", "No closing quotation"),
        ("selec 1;", "syntax error"),
        ("copy requests to 'x.csv';", "COPY is refused"),
    ],
)
def test_a_mistake_ends_the_statement_and_not_the_shell(shell: Terminal, typed: str, said: str) -> None:
    answer(shell, typed, said)


def test_interrupt_ends_the_query_and_keeps_the_shell(shell: Terminal) -> None:
    for _ in range(2):
        shell.type(f"{NEVER_ENDS}\r")
        shell.wait_for(TYPED)
        shell.wait_until_busy()
        shell.type("\x03")
        shell.wait_for("stopped")
        shell.wait_for(PROMPT)


def test_interrupt_at_the_prompt_forgets_the_line(shell: Terminal) -> None:
    shell.type("select nonsense")
    shell.wait_for("nonsense")
    shell.type("\x03")
    shell.wait_for(PROMPT)


@pytest.mark.parametrize("is_asking", [False, True])
def test_sigterm_ends_the_shell_and_leaves_the_terminal_as_it_was(
    filled: Place, tmp_path: Path, is_asking: bool
) -> None:
    with opened(filled, tmp_path) as shell:
        shell.wait_for(PROMPT)
        if is_asking:
            shell.type(f"{NEVER_ENDS}\r")
            shell.wait_for(TYPED)
            shell.wait_until_busy()
        shell.process.terminate()
        shell.wait_for("stopped by SIGTERM")
        assert shell.process.wait(LIMIT_S) == 143
        assert shell.local_modes() & (termios.ICANON | termios.ECHO | termios.ISIG) == (
            termios.ICANON | termios.ECHO | termios.ISIG
        )


def test_history_is_private_and_recalled_whole(filled: Place, tmp_path: Path) -> None:
    with opened(filled, tmp_path) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("select 41 + 1\r")
        terminal.wait_for("...>")
        answer(terminal, "as answer;", "42")
        terminal.type(".quit\r")
        assert terminal.end()[0] == 0
    history = tmp_path / "valleywatch" / "sql_history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert stat.S_IMODE(history.parent.stat().st_mode) == 0o700
    with opened(filled, tmp_path) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("\x1b[A\x1b[A")
        terminal.wait_for("as answer;")
        terminal.type("\r")
        terminal.wait_for("42")


def test_an_empty_variable_keeps_no_history(filled: Place, tmp_path: Path) -> None:
    with opened(filled, tmp_path, VALLEYWATCH_SQL_HISTORY="") as terminal:
        terminal.wait_for(PROMPT)
        answer(terminal, "select 41 + 1 as answer;", "42")
        terminal.type("\x04")
        assert terminal.end()[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_a_history_that_cannot_be_kept_is_told(filled: Place, tmp_path: Path) -> None:
    with opened(filled, tmp_path, VALLEYWATCH_SQL_HISTORY=str(tmp_path)) as terminal:
        terminal.wait_for("no history is kept")
        terminal.wait_for(PROMPT)


def test_a_terminal_without_a_cursor_gets_plain_lines(filled: Place, tmp_path: Path) -> None:
    with opened(filled, tmp_path, TERM="dumb") as terminal:
        terminal.wait_for(f"{PROMPT} ")
        terminal.type("select 41 + 1\n")
        terminal.wait_for("...> ")
        answer(terminal, "as answer;", "42")
        terminal.type(f"{NEVER_ENDS}\n")
        terminal.wait_for(TYPED)
        terminal.wait_until_busy()
        terminal.type("\x03")
        terminal.wait_for("stopped")
        terminal.wait_for(PROMPT)
        terminal.type("\x04")
        assert terminal.end()[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_as_wide_as_the_terminal_and_no_longer_than_its_cap(filled: Place, tmp_path: Path) -> None:
    query = "select request_id, repeat('漢x', 60) as long, input_tokens from requests order by request_id"
    with opened(filled, tmp_path, "--max-rows", "7", query, n_columns=60) as terminal:
        code, shown = terminal.end()
    assert code == 0, shown
    lines = shown.rstrip("\n").splitlines()
    assert len(lines) == 2 + 7 + 1
    assert "…" in lines[2]
    assert lines[2].rstrip().endswith("1000")
    assert all(width(line) <= 60 for line in lines[:-1])
    assert lines[-1].startswith("… 93 more rows;")


def test_what_does_not_fit_beside_each_other_is_shown_below(filled: Place, tmp_path: Path) -> None:
    with opened(filled, tmp_path, "from requests", n_columns=80) as terminal:
        code, shown = terminal.end()
    assert code == 0
    assert shown.startswith("row 1")
    assert len([line for line in shown.splitlines() if line.startswith("deployment ")]) == 5
    assert "… 95 more rows" in shown


def test_machine_readable_answers_are_whole_on_a_terminal_too(filled: Place, tmp_path: Path) -> None:
    with opened(filled, tmp_path, "--csv", "select request_id from requests") as terminal:
        assert len(terminal.end()[1].splitlines()) == 101


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", True),
        (".help", True),
        ("select 1", False),
        ("select 1;", True),
        ("select 1; -- why", True),
        ("select 1; /* why", False),
        ("select ';", False),
        ("select ';';", True),
        ("select 'it''s;", False),
        ('select ";', False),
        ("select $$;", False),
        ("select 1; select 2", False),
        ("-- only; a comment", False),
    ],
)
def test_a_semicolon_ends_a_statement_where_it_is_one(typed: str, expected: bool) -> None:
    assert is_finished(typed) is expected


def width(line: str) -> int:
    return sum(2 if character == "漢" else 1 for character in line)


def test_the_shell_needs_no_write_access_to_the_warehouse(filled: Place, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in filled.folder.rglob("*")}
    with opened(filled, tmp_path) as terminal:
        terminal.wait_for(PROMPT)
        answer(terminal, "select count(*) as n from requests;", "100")
        terminal.type(".quit\r")
        assert terminal.end()[0] == 0
    assert {path: path.stat().st_mtime_ns for path in filled.folder.rglob("*")} == before


def test_dot_commands_may_end_in_a_semicolon_and_help_needs_no_dot(shell: Terminal) -> None:
    answer(shell, ".columns requests;", "request_id", "source_sha256")
    answer(shell, "help", ".columns VIEW", "macros: ")
