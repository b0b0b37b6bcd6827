"""What each command does when it is used as it should be."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from models.service_time import ServiceTime, straight_line
from pipelines.cli import main
from pipelines.formats import formats
from tests.conftest import REPO, FleetWarehouse
from tests.place import SOURCE, Place, request
from tests.shared_data import shared

LLAMA = REPO / "fixtures/logs/llama_server"


def fitted(capsys: pytest.CaptureFixture[str], name: str, *options: str) -> tuple[int, dict[str, Any]]:
    code = main(["fit", str(LLAMA / name), "--json", *options])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "tps0", "a"),
    [("sweep_L8192_ub512.jsonl", 2048, 0.337), ("sweep_L4096_ub512.jsonl", 2920, 0.267)],
    ids=["L = 8192", "L = 4096"],
)
def test_fit_gives_the_measured_figures_of_a_quiet_sweep(
    name: str, tps0: float, a: float, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = fitted(capsys, name)
    assert code == 0
    assert found["trustworthy"]
    assert found["tps0"] == pytest.approx(tps0, rel=0.05)
    assert found["a"] == pytest.approx(a, abs=0.04)
    assert found["median_deviation"] <= 0.04
    assert found["tps0_low"] <= found["tps0"] <= found["tps0_high"]
    assert found["a_low"] <= found["a"] <= found["a_high"]
    assert found["has_valley"]
    assert 0 < found["floor_hit_rate"] < found["exit_hit_rate"] < 1


def test_fit_says_there_is_no_valley_where_cached_tokens_cost_enough(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = fitted(capsys, "sweep_L4096_ub512.jsonl", "--price-ratio", "0.5")
    assert code == 0
    assert found["has_valley"] is False
    assert [found[key] for key in ("floor_hit_rate", "exit_hit_rate", "floor_depth")] == [None, None, None]


def test_fit_exits_with_1_and_says_why_where_the_curve_must_not_be_trusted(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = fitted(capsys, "sweep_L6147_ub512_tails.jsonl")
    assert code == 1
    assert found["reasons"]
    assert main(["fit", str(LLAMA / "sweep_L6147_ub512_tails.jsonl")]) == 1
    assert "do not rely on this curve, because" in capsys.readouterr().out


def test_fit_speaks_to_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(LLAMA / "sweep_L8192_ub512.jsonl")]) == 0
    said = capsys.readouterr()
    said_of = [line.split()[0] for line in said.out.splitlines()[1:]]
    assert said_of == ["tps0", "a", "residual", "family", "line", "singular", "chunk", "valley"]
    assert "63 lines = 63 loaded" in said.err


def test_fit_says_which_shape_a_real_sweep_has_and_no_chunk_size(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = fitted(capsys, "sweep_L8192_ub512.jsonl")
    assert found["family"] == "hyperbola"
    assert found["family_errors"]["hyperbola"] < found["family_errors"]["line"]
    assert 0.9 < found["line_good_until_hit_rate"] < 1
    assert [found[key] for key in ("chunk_searched", "chunk_tokens", "step_s")] == [True, None, None]
    assert found["tail_hit_rates"] == found["tail_singular_hit_rates"] == []


def steps_sweep(place: Place) -> Path:
    """A sweep of an engine that pays .1 s for each step of 2048 tokens and packs none."""
    length, sizes = 65_536, [2048 * full - 100 - 900 * (full % 5 == 3) for full in range(1, 33)]
    sizes[1], sizes[3] = 2 * 2048 + 5, 4 * 2048 + 5
    requests = []
    for number, miss in enumerate(sizes):
        cached = length - miss
        seconds = 0.1 * -(-miss // 2048) + 2e-5 * miss + 1e-10 * miss * (cached + miss / 2)
        timing = {"prefill_ms": seconds * 1e3, "ttft_ms": seconds * 1e3 + 1, "e2e_ms": seconds * 1e3 + 2}
        requests.append(request(number, input_tokens=length, cached_tokens=cached, **timing))
    return place.write("steps.jsonl", requests)


def test_fit_explains_singular_hit_rates_by_the_chunk_size(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = str(steps_sweep(place))
    main(["fit", sweep, "--format", "canonical", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["chunk_tokens"] == 2048
    assert found["step_s"] == pytest.approx(0.1, rel=0.02)
    assert found["tail_hit_rates"] == pytest.approx([1 - full / 32 for full in range(31, 0, -1)])
    assert found["tail_singular_hit_rates"] == pytest.approx([1 - 8197 / 65_536, 1 - 4101 / 65_536])
    main(["fit", sweep, "--format", "canonical"])
    said = capsys.readouterr().out
    assert "\nchunk     2048 tokens, 100 ms a step; a small last chunk is left just below hit rate 0.031, 0.062" in said
    assert ", which explains 0.875, 0.937\n" in said


LLAMA_BENCH = [(512, 0, 0.34), (512, 1024, 0.363), (512, 4096, 0.435), (512, 16_384, 0.716), (512, 65_536, 1.845)]


def test_fit_gives_the_law_of_a_benchmark_whose_length_varies(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"n_prompt": prompt, "n_depth": depth, "n_gen": 0, "avg_ns": round(seconds * 1e9), "model_type": "toy"}
        | {"test_time": f"2026-08-02T03:11:{second:02d}Z"}
        for second, (prompt, depth, seconds) in enumerate(LLAMA_BENCH)
    ]
    sweep = str(place.write("bench.jsonl", lines))
    assert main(["fit", sweep, "--format", "llama_bench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["family"], found["miss_tokens"], found["input_tokens"]) == ("hyperbola", 512, 66_048)
    assert 512 * found["law"]["q"] == pytest.approx(2.29e-5, rel=0.02)
    assert found["line_worst_deviation"] > 1
    assert [line["input_tokens"] for line in found["lines"]] == [1536, 4608, 16_896, 66_048]
    assert found["lines"][-1]["a"] == found["a"]
    assert [line["has_valley"] for line in found["lines"]] == [False, True, True, True]
    assert main(["fit", sweep, "--format", "llama_bench"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("5 requests of 512 to 66048 input tokens, busy time from prefill\nfamily    hyperbola: ")
    assert "\n          all computed 512 tokens: a fixed cost counts as computing, and loading as attention\n" in said
    assert "\nline      none through these points, whose lengths differ: it would be off by " in said
    assert "\n    66048 tps0 4" in said


@pytest.mark.parametrize(
    "name", ["gpt-oss-20b.default-hip", "llama32-1b.lhl-tune", "shisa-v2-unphi4-14b.default-rocwmma"]
)
def test_fit_reads_recorded_benchmarks_of_growing_context(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = shared(f"data/strix_halo/{name}.jsonl")
    assert main(["fit", str(path), "--format", "llama_bench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["family"], found["n_requests"], found["miss_tokens"]) == ("hyperbola", 5, 512)
    assert found["residual"] < 0.05 < 1 < found["line_worst_deviation"]
    assert found["has_valley"]


def test_fit_says_why_two_sizes_are_no_curve(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [(1024, 0, 1.0), (1024, 8192, 2.0)]
    requests = [
        request(
            number,
            input_tokens=miss + cached,
            cached_tokens=cached,
            prefill_ms=seconds * 1e3,
            ttft_ms=seconds * 1e3 + 1,
        )
        for number, (miss, cached, seconds) in enumerate(sizes)
    ]
    assert main(["fit", str(place.write("two.jsonl", requests)), "--format", "canonical"]) == 1
    assert "\nno curve, because there are too few requests" in capsys.readouterr().out


def test_fit_refuses_a_log_of_many_lengths(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(LLAMA / "replay_np2.jsonl")]) == 2
    assert "is no sweep" in capsys.readouterr().err


def test_the_replay_through_the_job_has_the_slope_of_the_servers_own_sweep(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    curve = fleet_warehouse.place.rows("select * from throughput_curve where deployment = 'agent-chat'")[0]
    _, sweep = fitted(capsys, "sweep_L8192_ub512.jsonl")
    assert curve["trustworthy"]
    law = ServiceTime(curve["f"], curve["c"], curve["q"], curve["k"])
    assert straight_line(law, 8192).a == pytest.approx(sweep["a"], abs=0.08)


def test_formats_lists_every_format_and_how_to_switch_it_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats"]) == 0
    said = capsys.readouterr().out
    for name, entry in formats().items():
        assert f"{name}: {entry.summary}\n" in said
        assert entry.switch_on.split()[0] in said


def test_run_ingests_judges_and_reports(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write("a.jsonl", [request(number) for number in range(5)])
    assert place.valleywatch("run") == 0
    said = capsys.readouterr()
    assert "5 lines = 5 loaded + 0 duplicates + 0 quarantined + 0 blank" in said.err
    assert "2026-11-28 (day 1 of 1)" in said.err
    report = Path(said.out.splitlines()[-1].removeprefix("report: "))
    assert "pool" in report.read_text()
    assert place.rows("select count(*) as n from valley_status") == [{"n": 1}]


def test_run_without_anything_new_says_so(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write("a.jsonl", [request(1)])
    assert place.valleywatch("run") == 0
    capsys.readouterr()
    assert place.valleywatch("run") == 0
    assert "nothing new" in capsys.readouterr().err


def test_run_does_the_days_of_a_range(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write("a.jsonl", [request(day, timestamp=f"2026-11-{day}T10:00:00Z") for day in (25, 26, 27)])
    assert place.valleywatch("run", "--from", "2026-11-25", "--to", "2026-11-26") == 0
    assert [line for line in capsys.readouterr().err.splitlines() if "(day" in line] == [
        "2026-11-25 (day 1 of 2)",
        "2026-11-26 (day 2 of 2)",
    ]
    hours = place.rows("select hour_utc from hourly_hit_rate order by all")
    assert [row["hour_utc"].day for row in hours] == [25, 26]


def test_run_exits_with_1_and_tells_of_a_rejected_file(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write("good.jsonl", [request(1)])
    os.utime(place.write("bad.jsonl.gz", b"\x1f\x8b\x08\x00cut"), (0, 0))
    assert place.valleywatch("run") == 1
    printed = capsys.readouterr()
    assert "bad.jsonl.gz: rejected (gzip_truncated" in printed.err
    assert "pool" in printed.out


def test_a_source_that_is_not_there_does_not_stop_the_others(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.configure('[[sources]]\nname = "gone"\nformat = "canonical"\npath = "gone/*.jsonl"\n' + SOURCE)
    place.write("a.jsonl", [request(1)])
    assert place.valleywatch("run") == 1
    assert "source 'gone': no such folder" in capsys.readouterr().err
    assert place.rows("select count(*) as n from requests") == [{"n": 1}]


def test_ingest_exits_with_1_when_a_file_is_rejected(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    os.utime(place.write("bad.jsonl.gz", b"\x1f\x8b\x08\x00cut"), (0, 0))
    assert place.valleywatch("ingest") == 1
    said = capsys.readouterr().err
    assert "rejected (gzip_truncated" in said
    assert "1 files: 0 requests loaded; 0 files known already, 1 rejected" in said


def test_ingest_reads_named_files_with_a_deployment_of_their_own(
    place: Place, in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = request(1)
    del row["deployment"]
    (in_tmp / "one.jsonl").write_text(json.dumps(row) + "\n")
    assert place.valleywatch("ingest", "*.jsonl", "--deployment", "from-the-command-line") == 0
    assert "1 files: 1 requests loaded" in capsys.readouterr().err
    place.ingest()
    assert place.rows("select deployment, source_name from requests") == [
        {"deployment": "from-the-command-line", "source_name": "command line"}
    ]


def test_ingest_tells_the_format_from_the_keys(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.valleywatch("ingest", str(LLAMA / "sweep_L4096_ub512.jsonl")) == 0
    assert "63 requests loaded" in capsys.readouterr().err


def test_a_source_that_matches_nothing_is_said_and_is_no_error(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.valleywatch("ingest") == 0
    assert "no file matches 'logs/*'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["ingest"], ["run"]], ids=" ".join)
def test_while_another_process_writes_the_answer_is_try_again(
    place: Place, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    place.write("a.jsonl", [request(1)])
    with place.warehouse.writer():
        assert place.valleywatch(*arguments) == 75
    said = capsys.readouterr().err
    assert "is being written by process" in said
    assert "try again" in said


def test_report_writes_the_page_and_prints_its_path(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write("a.jsonl", [request(1)])
    place.settle()
    assert place.valleywatch("report") == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.is_absolute()
    assert path.read_text().startswith("<!doctype html>")


def test_paths_are_relative_to_the_configurations_own_folder(place: Place, in_tmp: Path) -> None:
    place.configure(SOURCE + '[warehouse]\npath = "elsewhere/results"\n')
    place.write("a.jsonl", [request(1)])
    assert place.valleywatch("ingest") == 0
    assert (place.folder / "elsewhere/results/warehouse.duckdb").exists()
    assert list(in_tmp.glob("*")) == [place.folder]


def test_results_and_logs_are_readable_by_their_owner_alone(place: Place) -> None:
    place.write("a.jsonl", [request(1)])
    place.settle()
    for path in place.warehouse.folder.rglob("*"):
        if not path.is_symlink():
            assert path.stat().st_mode & 0o077 == 0, path


def test_the_package_runs_as_a_module_and_stops_quietly_when_its_reader_does() -> None:
    command = f"{sys.executable} -W error -m pipelines formats | head -c 10"
    done = subprocess.run(["bash", "-c", command], cwd=REPO, capture_output=True, text=True, timeout=60)
    first = next(iter(formats().values()))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{first.name}: {first.summary}"[:10], "")


def test_version_is_the_distributions(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == "valleywatch 0.1.0\n"
