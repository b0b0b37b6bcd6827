"""`valleywatch status`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from pipelines import words
from pipelines.commands.options import add_config, add_json
from pipelines.commands.output import tell, write_json, write_table
from pipelines.contracts import warnings
from pipelines.overview import Overview, overviews
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
        warned = warnings(reader)
    for warning in warned:
        tell(f"note: {warning}")
    if as_json:
        write_json([{"deployment": row.deployment, **asdict(row.verdict)} for row in found])
        return
    write_table(
        ("deployment", "newest hour UTC", "hit rate", "index", "90 % interval", "state", "hits in 24 h", "lever"),
        [_row(row) for row in found],
    )


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
        "?" if verdict.last_hour is None else verdict.last_hour.strftime("%Y-%m-%d %H:00"),
        _known(verdict.hit_rate, "{:.3f}"),
        _known(verdict.revenue_index, "{:.3f}"),
        f"{verdict.index_low:.3f}–{verdict.index_high:.3f}" if verdict.index_low is not None else "?",
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
    return f"{'cost' if lost > 0 else 'earned'} {abs(lost):,.2f} {verdict.currency}{part}"


def _known(value: float | None, pattern: str) -> str:
    return "?" if value is None else pattern.format(value)
