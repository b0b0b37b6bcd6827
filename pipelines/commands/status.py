"""`valleywatch status`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from pipelines import words
from pipelines.commands.options import add_config, add_json
from pipelines.commands.output import tell, write_json, write_table
from pipelines.contracts import warnings
from pipelines.display import hits, interval, utc_time
from pipelines.overview import Overview, overviews
from pipelines.profit_result import ProfitAndLoss, profits
from pipelines.settings import load_settings
from pipelines.verdict import Verdict
from pipelines.warehouse import Warehouse


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("status", help="one row a deployment: hit rate, index, state, lever")
    add_json(parser)
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the newest verdicts."""
    settings = load_settings(options.config)
    print_status(Warehouse(settings.warehouse_folder), as_json=options.json)
    return 0


def print_status(warehouse: Warehouse, *, as_json: bool = False) -> None:
    """Print the valley table of the published snapshot."""
    with warehouse.reader() as reader:
        found = overviews(reader)
        margins = {of.deployment: of for of in profits(reader)}
        warned = warnings(reader)
    for warning in warned:
        tell(f"note: {warning}")
    if as_json:
        write_json([
            {"deployment": row.deployment, **asdict(row.verdict), **_margin(margins.get(row.deployment))}
            for row in found
        ])  # fmt: skip
        return
    write_table(
        ("deployment", "newest hour UTC", "hit rate", "index", "90 % interval", "state", "hits in 24 h", "lever"),
        [_row(row) for row in found],
    )


def _margin(of: ProfitAndLoss | None) -> dict[str, Any]:
    """Return what revenue left over the cost of instances in the last 24 hours, and of how many of them it is."""
    return {
        "margin_per_day": None if of is None else of.sums["margin"],
        "margin_hours": None if of is None else of.hours["margin"],
    }


def _row(seen: Overview) -> tuple[str, ...]:
    verdict = seen.verdict
    state = (verdict.state or "unknown").replace("_", " ")
    note = verdict.lever or ""
    if held := words.held_reasons(verdict.reasons):
        note = words.because(held)
    elif state == "unknown":
        note = words.because(verdict.reasons)
    if held:
        state = f"{state} (held)"
    return (
        seen.deployment,
        "?" if verdict.last_hour is None else utc_time(verdict.last_hour),
        _known(verdict.hit_rate, "{:.3f}"),
        _known(verdict.revenue_index, "{:.3f}"),
        interval(verdict.index_low, verdict.index_high) if verdict.index_low is not None else "?",
        state,
        _money(verdict),
        note,
    )


def _money(verdict: Verdict) -> str:
    """Say what the cache hits of 24 hours cost or earned, against the same busy seconds without a cache."""
    lost = verdict.lost_24h
    if lost is None:
        return "?"
    part = f" in {verdict.lost_hours} of {verdict.traffic_hours} hours" if verdict.lost_in_part else ""
    return f"{hits(lost, verdict.currency)}{part}"


def _known(value: float | None, pattern: str) -> str:
    return "?" if value is None else pattern.format(value)
