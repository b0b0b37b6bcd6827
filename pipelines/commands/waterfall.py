"""`valleywatch waterfall`."""

from __future__ import annotations

import argparse
from typing import Any

from models.waterfall import Period, Waterfall, explain
from pipelines.commands.options import add_config, add_json, utc_hours
from pipelines.commands.output import tell, tell_scope, write_json, write_table
from pipelines.display import money, number, share
from pipelines.errors import CannotTellError, UsageError
from pipelines.priced_traffic import PricedTraffic, Stretch, last_24_hours, period, priced_traffic
from pipelines.settings import load_settings
from pipelines.times import HOURS_PER_DAY, to_hour
from pipelines.warehouse import Reader, Warehouse
from pipelines.whatif_result import left_out_words

LONGEST_DAYS = 366
_WHAT = {
    "price": "what computed and cached tokens were sold for",
    "volume": "how many requests share a busy period",
    "lengths": "how long the prompts were",
    "hit_rate": "how much of them was cached, and of which",
    "curve": "how fast the engine served them",
    "residual": "what the curve does not explain",
}


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("waterfall", help="why what a busy hour earns changed between two periods")
    parser.add_argument("deployment", metavar="DEPLOYMENT", help="as `valleywatch status` names it")
    parser.add_argument("--from", dest="before", metavar="D", required=True, help="UTC day, or hour as YYYY-MM-DDTHH")
    parser.add_argument("--to", dest="after", metavar="D", required=True, help="the one it is compared with")
    parser.add_argument("--days", type=int, default=1, metavar="N", help="compare N days from each on, 7 for weeks")
    add_json(parser)
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the parts of the change; they add up to it."""
    before, after = (_stretch(options, text) for text in (options.before, options.after))
    settings = load_settings(options.config)
    tell_scope(settings.policy.revenue_scope)
    with Warehouse(settings.warehouse_folder).reader() as reader:
        last_24_hours(reader, options.deployment)
        try:
            traffic = (priced_traffic(reader, before), priced_traffic(reader, after))
            periods = _periods(reader, *traffic)
        except CannotTellError as error:
            if options.json:
                write_json({"deployment": options.deployment, "reasons": error.reasons})
            raise
    found = explain(*periods)
    if options.json:
        write_json(_fields(traffic, periods, found))
    else:
        _print(traffic, periods, found)
    return 0


def _stretch(options: argparse.Namespace, text: str) -> Stretch:
    if not 1 <= options.days <= LONGEST_DAYS:
        raise UsageError(f"--days {options.days} is out of range: give 1 to {LONGEST_DAYS}")
    first, last = utc_hours(text)
    if options.days > 1 and first == last:
        raise UsageError(f"--days {options.days} goes with days, but {text!r} is an hour")
    return Stretch(options.deployment, first, last + (options.days - 1) * HOURS_PER_DAY)


def _periods(reader: Reader, before: PricedTraffic, after: PricedTraffic) -> tuple[Period, Period]:
    if before.currency != after.currency:
        raise after.stretch.cannot_tell("several_currencies")
    return period(reader, before), period(reader, after)


def _fields(
    traffic: tuple[PricedTraffic, PricedTraffic], periods: tuple[Period, Period], found: Waterfall
) -> dict[str, Any]:
    sides = {
        name: {
            "from_utc": to_hour(of.stretch.first_hour),
            "to_utc": to_hour(of.stretch.last_hour + 1),
            "n_requests": int(of.moments.n_requests),
            "n_unpriced_hours": of.n_unpriced_hours,
            "n_hours_before_change": of.n_hours_before_change,
            "hit_rate": of.moments.cached_tokens / of.moments.input_tokens,
            "input_per_mtok": of.input_per_mtok,
            "cached_per_mtok": of.cached_per_mtok,
            "revenue": seen.revenue,
            "busy_s": seen.measured_busy_s,
            "modelled_busy_s": seen.modelled_busy_s,
            "revenue_per_busy_hour": earned,
        }
        for name, of, seen, earned in zip(
            ("before", "after"), traffic, periods, (found.before, found.after), strict=True
        )
    }
    return {
        "deployment": traffic[0].stretch.deployment,
        "currency": traffic[0].currency,
        **sides,
        "change": found.after - found.before,
        "parts": dict(found.parts),
    }


def _print(traffic: tuple[PricedTraffic, PricedTraffic], periods: tuple[Period, Period], found: Waterfall) -> None:
    currency = traffic[0].currency
    for of in traffic:
        if said := left_out_words(of):
            tell(f"note: {of.stretch}{said}")
    if None in [seen.measured_busy_s for seen in periods]:
        tell("note: busy hours are the curve's own, because the log names no instance: there is no residual")
    rows = [_side(of, earned, currency) for of, earned in zip(traffic, (found.before, found.after), strict=True)]
    write_table(("", "a busy hour earns", "which is"), [
        ("before", *rows[0]),
        *((name.replace("_", " "), _signed(amount, currency), _WHAT[name]) for name, amount in found.parts.items()),
        ("after", *rows[1]),
    ])  # fmt: skip


def _side(of: PricedTraffic, earned: float, currency: str) -> tuple[str, str]:
    hit_rate = of.moments.cached_tokens / of.moments.input_tokens
    mean = of.moments.input_tokens / of.moments.n_requests
    what = f"{int(of.moments.n_requests):,} requests of {number(mean)} tokens, hit rate {share(hit_rate)}"
    return money(earned, currency), f"{of.stretch}: {what}"


def _signed(amount: float, currency: str) -> str:
    return f"+{money(amount, currency)}" if amount >= 0.005 else money(amount, currency)
