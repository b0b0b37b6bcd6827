"""`valleywatch profit`."""

from __future__ import annotations

import argparse
from typing import Any

from pipelines.commands.options import add_config, add_json, utc_hours
from pipelines.commands.output import tell, write_json, write_table
from pipelines.display import count, money, number, share, shown
from pipelines.errors import UsageError
from pipelines.priced_traffic import Stretch, last_24_hours
from pipelines.profit_result import ProfitAndLoss, ProfitPart, parts, profits
from pipelines.settings import load_settings
from pipelines.times import to_hour
from pipelines.warehouse import Warehouse
from pipelines.words import reason_sentence

_PARTS = {
    "miss_revenue": "computed",
    "cached_revenue": "cached",
    "output_revenue": "output",
    "cache_write_revenue": "cache writes",
    "gross_revenue": "revenue",
}


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("profit", help="what was sold, what the instances cost, what the hits did")
    parser.add_argument("deployment", metavar="DEPLOYMENT", nargs="?", help="as `valleywatch status` names it")
    parser.add_argument("--from", dest="first", metavar="D", help="first UTC day, or hour as YYYY-MM-DDTHH")
    parser.add_argument("--to", dest="last", metavar="D", help="last one (default: each one's last 24 hours)")
    parser.add_argument("--by", choices=("model", "length"), help="what the revenue of a deployment is made of")
    add_json(parser)
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print one row a deployment, or one deployment's profit and loss, or what its revenue is made of."""
    stretch = _stretch(options)
    if options.by is not None and options.deployment is None:
        raise UsageError(f"--by {options.by} is of one deployment: name it, as in `valleywatch profit D --by model`")
    settings = load_settings(options.config)
    with Warehouse(settings.warehouse_folder).reader() as reader:
        if options.deployment is not None:
            last_24_hours(reader, options.deployment)
        found = [
            of for of in profits(reader, *stretch) if options.deployment is None or of.deployment == options.deployment
        ]
        if options.deployment is not None and not found:
            assert stretch[0] is not None
            assert stretch[1] is not None
            raise Stretch(options.deployment, stretch[0], stretch[1]).cannot_tell("no_traffic")
        made_of = parts(reader, found[0], options.by) if options.by is not None else []
    if options.json:
        fields = [_fields(of) for of in found]
        if options.by is not None:
            fields[0]["parts"] = [_part_fields(part, options.by) for part in made_of]
        write_json(fields if options.deployment is None else fields[0])
    elif options.by is not None:
        _print_parts(found[0], made_of, options.by)
    elif options.deployment is not None:
        _print_one(found[0])
    else:
        _print_all(found)
    return 0


def _stretch(options: argparse.Namespace) -> tuple[int | None, int | None]:
    if options.first is None and options.last is None:
        return None, None
    first = utc_hours(options.last if options.first is None else options.first)[0]
    last = utc_hours(options.first if options.last is None else options.last)[1]
    if last < first:
        raise UsageError(f"--to {options.last} is before --from {options.first}: swap the two")
    return first, last


def _fields(of: ProfitAndLoss) -> dict[str, Any]:
    return {
        "deployment": of.deployment,
        "from_utc": to_hour(of.first_hour),
        "to_utc": to_hour(of.last_hour + 1),
        "currency": of.currency,
        "traffic_hours": of.traffic_hours,
        "loss_hours": of.loss_hours,
        **of.counts,
        **of.sums,
        "revenue_per_busy_hour": of.revenue_per_busy_hour,
        "in_time_revenue_per_busy_hour": of.in_time_revenue_per_busy_hour,
        "known_hours": of.hours,
        "reasons": dict(of.reasons),
    }


def _part_fields(part: ProfitPart, by: str) -> dict[str, Any]:
    return {
        by: part.name,
        "n_requests": part.n_requests,
        "n_unknown": part.n_unknown,
        "input_tokens": part.input_tokens,
        "cached_tokens": part.cached_tokens,
        "output_tokens": part.output_tokens,
        "hit_rate": part.hit_rate,
        **part.sums,
    }


def _print_all(found: list[ProfitAndLoss]) -> None:
    write_table(
        ("deployment", "revenue", "in time", "cost", "margin", "loss hours", "hits earned"),
        [
            (
                of.deployment,
                _amount(of, "gross_revenue"),
                _amount(of, "in_time_revenue"),
                _amount(of, "cost"),
                _amount(of, "margin"),
                f"{of.loss_hours} of {of.traffic_hours}" if of.hours["margin"] else "?",
                _amount(of, "cache_value"),
            )
            for of in found
        ],
    )
    for of in found:
        _tell_reasons(of)


def _print_one(of: ProfitAndLoss) -> None:
    stretch = Stretch(of.deployment, of.first_hour, of.last_hour)
    print(f"{stretch}: {count(of.counts['n_requests'])} requests in {_hours(of.traffic_hours)} with traffic")
    write_table(("", "money", "which is"), [
        (name, _amount(of, column), what) for column, name, what in (
            ("miss_revenue", "computed tokens", "prompt tokens at the full price"),
            ("cached_revenue", "cached tokens", "prompt tokens at the discount"),
            ("output_revenue", "output tokens", "at their own price"),
            ("cache_write_revenue", "cache writes", "where they are sold"),
            ("gross_revenue", "revenue", _revenue_words(of)),
            ("in_time_revenue", "in time", _objective_words(of)),
            ("cost", "instances", _instance_words(of)),
            ("margin", "margin", f"{_hours(of.loss_hours)} cost more than they brought in"),
            ("discount_given", "discount given", "cached tokens at the full price, less what they brought in"),
            ("cache_value", "hits earned", _cache_words(of)),
        )
    ])  # fmt: skip
    _tell_reasons(of)


def _print_parts(of: ProfitAndLoss, made_of: list[ProfitPart], by: str) -> None:
    column = "model" if by == "model" else "input tokens"
    write_table(
        (column, "requests", "hit rate", *_PARTS.values(), "share"),
        [
            (
                "not logged" if part.name is None else part.name,
                count(part.n_requests),
                _or_question(part.hit_rate, share(part.hit_rate)),
                *(_or_question(part.sums[name], money(part.sums[name], of.currency)) for name in _PARTS),
                _share(part.sums["gross_revenue"], of.sums["gross_revenue"]),
            )
            for part in made_of
        ],
    )
    _tell_reasons(of)


def _share(part: float | None, whole: float | None) -> str:
    return "?" if part is None or not whole else share(part / whole)


def _amount(of: ProfitAndLoss, name: str) -> str:
    """Say a sum of money, and of how many hours it is where that is not all of them."""
    if of.sums[name] is None:
        return "?"
    missing = of.hours[name] < of.traffic_hours
    return money(of.sums[name], of.currency) + (f" in {of.hours[name]} hours" if missing else "")


def _or_question(value: float | None, text: str) -> str:
    return "?" if value is None else text


def _revenue_words(of: ProfitAndLoss) -> str:
    said = f"{_amount_per_busy_hour(of.revenue_per_busy_hour, of)} by busy hour"
    n_unknown = of.counts["n_unknown"]
    return f"{said}; at least: {n_unknown:,} requests do not report all they were sold" if n_unknown else said


def _objective_words(of: ProfitAndLoss) -> str:
    if of.counts["n_in_time"] is None:
        return "no objective is configured for it"
    late, unknown = (_or_question(of.sums[name], money(of.sums[name], of.currency)) for name in (
        "late_revenue", "unknown_time_revenue",
    ))  # fmt: skip
    by_hour = _amount_per_busy_hour(of.in_time_revenue_per_busy_hour, of)
    return f"{by_hour} by busy hour; late {late}, of unknown times {unknown}"


def _cache_words(of: ProfitAndLoss) -> str:
    if of.sums["cache_value"] is None:
        return "against the same busy seconds without a cache; not known without a curve and a price"
    bounds = f"{number(of.sums['cache_value_low'])} to {number(of.sums['cache_value_high'])}"
    return f"{bounds}, against the same busy seconds without a cache; {_busy_words(of.sums['saved_busy_s'])}"


def _instance_words(of: ProfitAndLoss) -> str:
    n_hours = of.sums["instance_hours"]
    return "how many ran is not known" if n_hours is None else f"{number(n_hours)} instance hours"


def _hours(n: int) -> str:
    return f"{n} hour" if n == 1 else f"{n} hours"


def _busy_words(saved_busy_s: float | None) -> str:
    return "what busy time they saved is not known" if saved_busy_s is None else (
        f"they saved {number(saved_busy_s)} busy seconds"
    )  # fmt: skip


def _amount_per_busy_hour(amount: float | None, of: ProfitAndLoss) -> str:
    return "not known" if amount is None else money(amount, of.currency)


def _tell_reasons(of: ProfitAndLoss) -> None:
    for code, n_hours in of.reasons:
        tell(f"note: {shown(of.deployment)}: {reason_sentence(code)} ({n_hours} of {of.traffic_hours} hours)")
