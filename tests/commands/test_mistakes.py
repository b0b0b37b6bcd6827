"""What a person can get wrong is answered with one message and exit code 2, never with a traceback."""

import contextlib
import os
from pathlib import Path

import pytest

from pipelines.cli import main
from tests.place import PRICE, SOURCE, Place, request

SLACK = "[[alerts]]\nkind = 'slack'\nurl_env = 'URL'\n"
SILENCE = (
    "[[silences]]\ndeployment = '*'\nreason = 'new racks'\n"
    "starts_at = 2026-12-01T22:00:00Z\nends_at = 2026-12-01T23:00:00Z\n"
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with something published, beside a few files of no use."""
    folder = tmp_path_factory.mktemp("desk")
    place = Place(folder / "place")
    place.write("a.jsonl", [request(1)])
    place.ingest()
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "words.txt").write_bytes(b"these are words\n")
    (folder / "latin.sql").write_bytes(b"select '\xe9'")
    (folder / "folder.sql").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.jsonl").symlink_to(place.logs / "a.jsonl")
    (folder / "packed.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00cut")
    return folder


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["ingest", "none.jsonl"], "no such file", id="a file that is not there"),
        pytest.param(["ingest", "none*.jsonl"], "no file matches 'none*.jsonl'", id="a pattern that matches nothing"),
        pytest.param(["ingest", "none/*.jsonl"], "no such folder", id="a folder that is not there"),
        pytest.param(["ingest", "x**.jsonl"], "stands alone between slashes", id="an impossible pattern"),
        pytest.param(["ingest", "a\0b"], "NUL", id="a name with NUL"),
        pytest.param(["ingest", "."], "not_a_regular_file", id="a folder"),
        pytest.param(["ingest", "pipe.jsonl"], "not_a_regular_file", id="a pipe"),
        pytest.param(["ingest", "link.jsonl"], "symbolic_link", id="a link"),
        pytest.param(["ingest", "packed.jsonl.gz"], "gzip_truncated", id="half a gzip"),
        pytest.param(["ingest", "empty.jsonl"], "name one with --format", id="a file whose format cannot be told"),
        pytest.param(["ingest", "words.txt"], "which format it has", id="a file of no format"),
        pytest.param(["ingest", "words.txt", "--format", "canonicle"], "did you mean 'canonical'", id="a format"),
        pytest.param(["ingest", "--deployment", "x"], "name at least one PATH", id="a deployment for no file"),
        pytest.param(["fit", "none.jsonl"], "no such file", id="a sweep that is not there"),
        pytest.param(["fit", "none*.jsonl"], "no file matches", id="a sweep pattern that matches nothing"),
        pytest.param(["fit", "*.jsonl"], "a sweep is one file", id="several sweeps"),
        pytest.param(["fit", "empty.jsonl", "--format", "canonical"], "no successful request", id="an empty sweep"),
        pytest.param(["fit", "words.txt", "--format", "canonical"], "no successful request", id="a sweep of words"),
        pytest.param(["fit", "words.txt", "--price-ratio", "1"], "not in [0, 1)", id="a price ratio of 1"),
        pytest.param(["fit", "words.txt", "--price-ratio", "nan"], "not in [0, 1)", id="a price ratio of nothing"),
        pytest.param(["run", "--day", "28.11.2026"], "YYYY-MM-DD", id="a date in another order"),
        pytest.param(["run", "--day", "2026-11-28", "--to", "2026-11-28"], "one or the other", id="a day and a range"),
        pytest.param(["run", "--from", "2026-11-28"], "needs both ends", id="half a range"),
        pytest.param(["run", "--from", "2026-11-28", "--to", "2026-11-27"], "is before --from", id="a range backwards"),
        pytest.param(["run", "--day", "2019-12-31"], "2020-01-01 to today", id="a day before all days"),
        pytest.param(["run", "--day", "9999-12-31"], "2020-01-01 to today", id="a day to come"),
        pytest.param(["sql", "none.sql"], "none.sql cannot be read", id="a query file that is not there"),
        pytest.param(["sql", "folder.sql"], "folder.sql cannot be read", id="a folder of queries"),
        pytest.param(["sql", "latin.sql"], "not UTF-8", id="a query file in another encoding"),
        pytest.param(["sql", "selekt 1"], "syntax error", id="a misspelt query"),
    ],
)
def test_a_mistake_in_the_arguments_is_a_message(
    desk: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with_config = [] if arguments[0] == "fit" else ["--config", "place/valleywatch.toml"]
    with contextlib.chdir(desk):
        assert main([*arguments, *with_config]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[-1].startswith("valleywatch: ") or "LINE 1" in printed.err
    assert said in printed.err


@pytest.mark.parametrize(
    "arguments", [[], ["runn"], ["run", "--dya", "x"], ["sql", "--json", "--csv", "select 1"], ["fit"]], ids=" ".join
)
def test_the_parser_refuses_with_usage_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "usage: valleywatch" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("config", "said"),
    [
        pytest.param("[warehouse", "not valid TOML", id="no TOML"),
        pytest.param("wharehouse = 1", "wharehouse: unknown key (did you mean 'warehouse'?)", id="a section"),
        pytest.param("[warehouse]\npaht = 'x'", "warehouse.paht: unknown key (did you mean 'path'?)", id="a key"),
        pytest.param(
            SOURCE + "timezon = 'UTC'", "sources.1.timezon: unknown key (did you mean 'timezone'?)", id="a source's key"
        ),
        pytest.param("[policy]\nzzz = 1", "policy.zzz: unknown key\n", id="a key like no other"),
        pytest.param("folder = 'x'", "unknown key 'folder'", id="a key that is our own"),
        pytest.param(SOURCE.replace("canonical", "canonicle"), "did you mean 'canonical'", id="a format"),
        pytest.param("[[sources]]\nname = 'x'", "sources.1.format: required", id="a key that lacks"),
        pytest.param("[sources]\nname = 'x'", "written [[sources]]", id="one bracket instead of two"),
        pytest.param("sources = 3", "written [[sources]]", id="a number for a section"),
        pytest.param("prices = [1]", "written [[prices]]", id="a number for a price"),
        pytest.param("policy = 3", "written [policy]", id="a number for the policy"),
        pytest.param(
            PRICE.replace("0.1", "1.5"), "cached_per_mtok 1.5 exceeds input_per_mtok 1.0", id="cached above input"
        ),
        pytest.param(PRICE.replace("0.1", "-0.1"), "greater than or equal to 0, not -0.1", id="a negative price"),
        pytest.param(PRICE.replace("1.0", "0.0"), "greater than 0, not 0.0", id="a price of nothing"),
        pytest.param(PRICE.replace("1.0", "nan"), "finite number, not nan", id="a price that is no number"),
        pytest.param(PRICE + "currency = 'dollars'", "prices.1.currency", id="no currency code"),
        pytest.param(PRICE + "effective_to = 2025-01-01", "is not after effective_from", id="a price that never was"),
        pytest.param(PRICE.replace("2026-01-01", "'2026-01-01'"), "without quotes", id="a date in quotes"),
        pytest.param("[policy]\nenter_hours = 0", "policy.enter_hours", id="no hour to enter"),
        pytest.param("[policy]\nenter_probability = 0.5", "policy.enter_probability", id="a coin's probability"),
        pytest.param("[policy]\nmin_coverage = '80 %'", "policy.min_coverage", id="a percentage"),
        pytest.param("[warehouse]\nmemory_limit = 'lots'", "warehouse.memory_limit", id="a vague limit"),
        pytest.param('[warehouse]\npath = "a\\u0000b"', "warehouse.path", id="a folder with NUL"),
        pytest.param("[warehouse]\npath = 'valleywatch.toml'", "cannot be made", id="a file for a folder"),
        pytest.param("[[alerts]]\nkind = 'slack'", "'slack' needs url_env", id="a channel without its URL"),
        pytest.param("[[alerts]]\nkind = 'pager'", "alerts.1.kind", id="a channel of no kind"),
        pytest.param(SLACK + "secret_env = 'S'", "'slack' takes no secret_env", id="a key of another channel"),
        pytest.param(
            SLACK + "events = ['entries']", "'entries' begins no alert (did you mean 'entry'?)", id="no kind of alert"
        ),
        pytest.param(SLACK + "allow = ['intranet']", "write an address or a network", id="a name for a network"),
        pytest.param(SLACK + SLACK, "2 [[alerts]] are called 'slack'", id="two channels of one name"),
        pytest.param(SLACK.replace("URL", "http://x"), "alerts.1.url_env", id="a URL instead of its variable"),
        pytest.param("[alerts]\nkind = 'slack'", "written [[alerts]]", id="one bracket for a channel"),
        pytest.param("[alerting]\nmax_age = 3", "alerting.max_age: unknown key", id="an unknown key of alerting"),
        pytest.param(SILENCE.replace("Z", ""), "needs an offset", id="a silence in local time"),
        pytest.param(SILENCE.replace("T23", "T21"), "ends_at must be later", id="a silence that ends first"),
        pytest.param("[report]\nurl = 'file:///x'", "report.url", id="a report at no address"),
        pytest.param("", "names no [[sources]]", id="no source"),
    ],
)
def test_a_mistake_in_the_configuration_is_a_message(
    place: Place, config: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place.configure(config)
    assert place.valleywatch("run") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert "valid tuple" not in printed.err


def test_all_faults_of_a_configuration_are_told_at_once(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.configure("[policy]\nenter_hours = 0\nleave_hours = 99\n[warehouse]\npaht = 'x'\n")
    assert place.valleywatch("status") == 2
    said = capsys.readouterr().err
    assert [line.split(":")[0].strip() for line in said.splitlines()[1:]] == [
        "warehouse.paht",
        "policy.enter_hours",
        "policy.leave_hours",
    ]


@pytest.mark.parametrize("command", ["run", "ingest", "status", "sql", "report"])
@pytest.mark.parametrize(
    ("config", "said"),
    [("none.toml", "no configuration at none.toml"), (".", ". is a folder"), ("latin.toml", "is not UTF-8")],
    ids=["missing", "a folder", "another encoding"],
)
def test_every_command_says_when_there_is_no_configuration(
    in_tmp: Path, command: str, config: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_tmp / "latin.toml").write_bytes(b"# \xe9\n")
    assert main([command, "--config", config]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["status"], ["sql", "select 1"], ["report"]], ids=" ".join)
def test_before_the_first_run_the_readers_say_what_to_do(
    place: Place, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.valleywatch(*arguments) == 2
    assert "run `valleywatch run` first" in capsys.readouterr().err


def test_logs_without_an_acceptable_line_end_the_run_with_exit_code_1(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write("a.jsonl", b"not a line of ours\n")
    assert place.valleywatch("run") == 1
    assert "none holds an acceptable line" in capsys.readouterr().err


def test_a_warehouse_of_another_layout_is_refused(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.ingest()
    with place.warehouse.writer() as writer, writer.transaction():
        writer.insert_rows("ops.schema_version", [{"version": 99}])
    assert place.valleywatch("ingest") == 2
    assert "layout 99" in capsys.readouterr().err


def test_too_little_memory_is_a_message(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write("a.jsonl", [request(1)])
    place.ingest()
    place.configure(SOURCE + '[warehouse]\nmemory_limit = "1MB"\n')
    assert place.valleywatch("sql", "from requests") in (1, 2)
    assert "more than the memory limit" in capsys.readouterr().err
