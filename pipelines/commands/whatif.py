"""`valleywatch whatif`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from models.levers import levers, price_ladder
from models.what_if import Change, outlook, what_if
from pipelines import whatif_result as result
from pipelines.commands.options import add_config, add_json, traffic_date
from pipelines.commands.output import tell, tell_scope, write_json, write_table
from pipelines.errors import CannotTellError, UsageError
from pipelines.priced_traffic import Situation, Stretch, last_24_hours, situation
from pipelines.settings import load_settings
from pipelines.times import HOURS_PER_DAY, to_day_index
from pipelines.warehouse import Reader, Warehouse


@dataclass(frozen=True, slots=True)
class _Option:
    """One thing to change: its option, its letter, what it is and what it may be."""

    name: str
    letter: str
    help: str
    is_inside: Callable[[float], bool]
    rule: str

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")


def _is_time(seconds: float) -> bool:
    return 0 <= seconds <= MOST_S


MOST_S = 3600.0
"""More seconds a request or token are a slip of the pen, and in the end no number."""
_TIME = f"a number >= 0 and at most {MOST_S:g}"
_OPTIONS = (
    _Option(
        "price-ratio", "r", "price of a cached / of a computed token", lambda v: 0 <= v <= 1, "a ratio from 0 to 1"
    ),
    _Option("hit-rate", "x", "share of input tokens served from the cache", lambda v: 0 <= v < 1, "0 <= x < 1"),
    _Option("slope", "a", "slope of the traffic's curve, as a straight line", lambda v: v < 1, "a number below 1"),
    _Option("fixed-cost", "f", "seconds a request costs whatever its size", _is_time, _TIME),
    _Option("attention", "q", "seconds per computed token and token of its context", _is_time, _TIME),
    _Option("kv-load", "k", "seconds to load a cached token", _is_time, _TIME),
)


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("whatif", help="what another price, hit rate or curve would earn; the levers")
    parser.add_argument("deployment", metavar="DEPLOYMENT", help="as `valleywatch status` names it")
    for option in _OPTIONS:
        parser.add_argument(f"--{option.name}", type=float, metavar=option.letter, help=option.help)
    parser.add_argument("--day", metavar="D", help="UTC date (default: the last 24 hours of its traffic)")
    add_json(parser)
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print before and after of the change; without one, the ranked levers and a ladder of price ratios."""
    change = _change(options)
    settings = load_settings(options.config)
    tell_scope(settings.policy.revenue_scope)
    with Warehouse(settings.warehouse_folder).reader() as reader:
        try:
            found = situation(reader, _stretch(reader, options))
        except CannotTellError as error:
            if options.json:
                write_json({"deployment": options.deployment, "reasons": error.reasons})
            raise
    if change == Change():
        _print_levers(found, as_json=options.json)
    else:
        _print_change(found, change, as_json=options.json)
    return 0


def _change(options: argparse.Namespace) -> Change:
    given = {option.field: getattr(options, option.field) for option in _OPTIONS}
    for option in _OPTIONS:
        value = given[option.field]
        if value is not None and not (isfinite(value) and option.is_inside(value)):
            raise UsageError(f"--{option.name} {value:g} is out of range: give {option.rule}")
    try:
        return Change(**given)
    except ValueError as error:
        raise UsageError(f"these options contradict each other: {error}") from None


def _stretch(reader: Reader, options: argparse.Namespace) -> Stretch:
    recent = last_24_hours(reader, options.deployment)
    if options.day is None:
        return recent
    first_hour = to_day_index(traffic_date(options.day)) * HOURS_PER_DAY
    return Stretch(options.deployment, first_hour, first_hour + HOURS_PER_DAY - 1)


def _print_levers(found: Situation, *, as_json: bool) -> None:
    point, currency = found.point, found.traffic.currency
    ranked, rungs, now = levers(point, chunk_fill=found.chunk_fill), price_ladder(point), outlook(point)
    _warn(found, [lever.target for lever in ranked if lever.name == "reach_exit"])
    if as_json:
        write_json(
            result.situation_fields(found)
            | {
                "before": result.outlook_fields(now),
                "levers": [asdict(lever) for lever in ranked],
                "price_ladder": [result.rung_fields(rung) for rung in rungs],
            }
        )
        return
    print("\n".join([result.heading(found.traffic), *result.standing(now, point, currency), ""]))
    write_table(*result.lever_table(ranked, currency))
    print()
    write_table(*result.ladder_table(rungs, currency))


def _print_change(found: Situation, change: Change, *, as_json: bool) -> None:
    before = outlook(found.point)
    try:
        after, gained = what_if(found.point, change)
    except ValueError as error:
        raise UsageError(f"this change cannot be made: {error}") from None
    _warn(found, [] if change.hit_rate is None or change.slope is not None else [change.hit_rate])
    if as_json:
        write_json(
            result.situation_fields(found)
            | {
                "change": {name: value for name, value in asdict(change).items() if value is not None},
                "before": result.outlook_fields(before),
                "after": result.outlook_fields(after),
                "gain": asdict(gained),
            }
        )
        return
    print(f"{result.heading(found.traffic)}\n")
    write_table(*result.comparison_table(before, after, gained, found.traffic.currency))


def _warn(found: Situation, hit_rates: list[float]) -> None:
    if warning := result.extrapolation(found, hit_rates):
        tell(warning)
