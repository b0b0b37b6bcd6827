"""`valleywatch fit`."""

from __future__ import annotations

import argparse
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from models.sweep import SweepFit, fit_sweep
from models.valley import locate_valley
from pipelines.commands.ingest import source_for
from pipelines.commands.options import add_json
from pipelines.commands.output import tell, write_json
from pipelines.errors import UnreachableError, UsageError
from pipelines.inbox import find_named
from pipelines.ingest import ingest_files
from pipelines.log_file import LogFile
from pipelines.warehouse import Warehouse
from pipelines.words import because


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("fit", help="curve and valley from a benchmark sweep at one prompt length")
    parser.add_argument("sweep", metavar="SWEEP_FILE", help="log of a saturated benchmark: one length, many hit rates")
    parser.add_argument("--format", metavar="NAME", help="its format (default: told from how it begins)")
    parser.add_argument(
        "--price-ratio",
        type=float,
        default=0.1,
        metavar="r",
        help="price of a cached / of a computed token (default .1)",
    )
    add_json(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Fit the sweep and print curve and valley; exit with 1 when the curve must not be trusted."""
    if not 0 <= options.price_ratio < 1:
        raise UsageError(f"--price-ratio {options.price_ratio} is not in [0, 1): give cached price / input price")
    log = _only(find_named(Path.cwd(), options.sweep))
    rows, basis = read_sweep(log, options.format)
    try:
        fit = fit_sweep(rows["hit_rate"].to_numpy(), rows["input_tokens"].to_numpy(), rows["busy_s"].to_numpy())
    except ValueError as error:
        raise UsageError(f"{log.name} is no sweep: {error}") from None
    found = _result(fit, basis, options.price_ratio)
    if options.json:
        write_json(found)
    else:
        _print(found)
    return 0 if fit.curve.trustworthy else 1


def _only(logs: list[LogFile]) -> LogFile:
    if len(logs) > 1:
        raise UsageError(f"{len(logs)} files match, {logs[0].name!r} among them: a sweep is one file")
    return logs[0]


def read_sweep(log: LogFile, format_name: str | None) -> tuple[pl.DataFrame, str]:
    """Return hit_rate, input_tokens and busy_s of the sweep's successful requests, and which time busy_s is."""
    source = source_for(log, {"format": format_name, "deployment": "sweep"})
    with tempfile.TemporaryDirectory(prefix="valleywatch-fit-") as scratch:
        warehouse = Warehouse(Path(scratch))
        with warehouse.writer() as writer:
            outcome = ingest_files(writer, source, [log], 1, datetime.now(UTC), tell)[0]
            writer.open_lake(row["file"] for row in writer.rows("ops/lake_files"))
            rows = writer.frame("curve/sweep_rows")
    if outcome.status == "unreachable":
        raise UnreachableError(f"{log.name} cannot be read: {outcome.detail}")
    if outcome.status == "rejected":
        raise UsageError(f"{log.name} cannot be read: {outcome.detail}")
    if rows.is_empty():
        raise UsageError(f"{log.name} holds no successful request with cached tokens and a time to fit")
    basis = "prefill" if rows["prefill_us"].null_count() == 0 else "ttft"
    return rows.with_columns(busy_s=pl.col(f"{basis}_us") / 1e6).drop_nulls("busy_s"), basis


def _result(fit: SweepFit, basis: str, price_ratio: float) -> dict[str, Any]:
    curve = fit.curve
    valley = None
    if curve.a is not None and 0 < curve.a < 1:
        valley = locate_valley(curve.a, price_ratio)
    return {
        "estimator": curve.estimator,
        "time_basis": basis,
        "input_tokens": curve.reference_input_tokens,
        "tps0": curve.tps0,
        "tps0_low": curve.tps0_low,
        "tps0_high": curve.tps0_high,
        "a": curve.a,
        "a_low": curve.a_low,
        "a_high": curve.a_high,
        "residual": curve.residual_scale,
        "median_deviation": fit.median_deviation,
        "worst_deviation": fit.worst_deviation,
        "n_requests": curve.n_requests,
        "singular_hit_rates": [point.hit_rate for point in fit.singular_points],
        "trustworthy": curve.trustworthy,
        "reasons": list(curve.reasons),
        "price_ratio": price_ratio,
        "has_valley": None if curve.a is None else valley is not None,
        "floor_hit_rate": valley.floor_hit_rate if valley else None,
        "floor_depth": valley.floor_depth if valley else None,
        "exit_hit_rate": valley.exit_hit_rate if valley else None,
    }


def _print(found: dict[str, Any]) -> None:
    length = f"{found['input_tokens']:.0f} input tokens"
    print(f"{found['n_requests']} requests of {length}, busy time from {found['time_basis']}")
    if found["tps0"] is None:
        print(f"no curve, {because(found['reasons'])}")
        return
    print(f"tps0      {found['tps0']:.0f} tokens/s (90 % {found['tps0_low']:.0f} to {found['tps0_high']:.0f})")
    print(f"a         {found['a']:.3f} (90 % {found['a_low']:.3f} to {found['a_high']:.3f})")
    print(
        f"residual  {found['residual']:.1%}; curve against the medians for x <= .9: "
        f"median {found['median_deviation']:.1%}, worst {found['worst_deviation']:.1%}"
    )
    singular = ", ".join(f"{rate:.3f}" for rate in found["singular_hit_rates"]) or "none"
    print(f"singular  {singular}")
    ratio = f"at a price ratio of {found['price_ratio']:g}"
    if found["has_valley"]:
        print(
            f"valley    {ratio}: floor at hit rate {found['floor_hit_rate']:.3f}, {found['floor_depth']:.1%} below no "
            f"cache; exit at {found['exit_hit_rate']:.3f}"
        )
    else:
        print(f"valley    none {ratio}: the slope is not above the price ratio")
    if not found["trustworthy"]:
        print(f"do not rely on this curve, {because(found['reasons'])}")
