"""`valleywatch episodes`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import date
from statistics import median
from typing import Any

from pipelines.alerts.backtest import (
    FLAP_HOURS,
    Likely,
    Score,
    Span,
    beside,
    likely,
    outcome,
    summed_likely,
    summed_scores,
)
from pipelines.alerts.episodes import Episode
from pipelines.alerts.history import PublishedEpisode, published_episodes, published_hours
from pipelines.alerts.trial_policy import tried_policy
from pipelines.commands.options import add_config, add_json, utc_date
from pipelines.commands.output import tell, write_json, write_table
from pipelines.display import money, number, share, utc_time
from pipelines.errors import UsageError
from pipelines.priced_traffic import last_24_hours
from pipelines.settings import PolicySettings, load_settings
from pipelines.times import HOURS_PER_DAY, to_day_index, to_hour
from pipelines.warehouse import Reader, Warehouse

_KEY_DIGITS = 12
_SIDES = ("present", "tried")
_FIGURES = (
    "episodes",
    "runs of likely hours missed",
    f"entered again within {FLAP_HOURS} h",
    "entered after",
    "hours in the valley",
    "loss of likely hours covered",
)


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("episodes", help="when deployments were in the valley, also under another policy")
    parser.add_argument("deployment", metavar="DEPLOYMENT", nargs="?", help="as `valleywatch status` names it")
    parser.add_argument("--policy", metavar="KEY=VALUE", action="append", help="try this policy on the same hours")
    parser.add_argument("--from", dest="first", metavar="D", help="first UTC day that counts")
    parser.add_argument("--to", dest="last", metavar="D", help="last UTC day that counts")
    add_json(parser)
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the published episodes, or what another policy would have made of the same hours."""
    span = _span(options)
    settings = load_settings(options.config)
    tried = tried_policy(settings.policy, options.policy) if options.policy else None
    with Warehouse(settings.warehouse_folder).reader() as reader:
        if options.deployment is not None:
            last_24_hours(reader, options.deployment)
        published = [one for one in published_episodes(reader) if options.deployment in (None, one.deployment)]
        if tried is None:
            _list([one for one in published if span.meets(one.episode)], as_json=options.json)
        else:
            _compare(reader, options, span, published, (settings.policy, tried))
    return 0


def _span(options: argparse.Namespace) -> Span:
    first, last = (utc_date(text) if text else None for text in (options.first, options.last))
    if first and last and last < first:
        raise UsageError(f"--to {last} is before --from {first}")
    return Span(
        first_hour=to_day_index(first or date.min) * HOURS_PER_DAY,
        last_hour=to_day_index(last or date.max) * HOURS_PER_DAY + HOURS_PER_DAY - 1,
    )


def _list(found: list[PublishedEpisode], *, as_json: bool) -> None:
    if as_json:
        write_json([
            {"deployment": one.deployment, **_fields(one.episode), "policy_version": one.policy_version,
             "dedup_key": one.dedup_key}
            for one in found
        ])  # fmt: skip
        return
    write_table(
        ("deployment", "entered UTC", "left UTC", "hours", "held", "peak depth", "lost", "key"),
        [
            (one.deployment, *_when(one.episode), one.episode.n_hours, one.episode.n_held_hours,
             share(one.episode.peak_depth), _lost(one.episode), one.dedup_key[:_KEY_DIGITS])
            for one in found
        ],
    )  # fmt: skip


def _compare(
    reader: Reader,
    options: argparse.Namespace,
    span: Span,
    published: list[PublishedEpisode],
    policies: tuple[PolicySettings, PolicySettings],
) -> None:
    names = [options.deployment]
    if options.deployment is None:
        names = [row["deployment"] for row in reader.rows("report/known_deployments")]
    estimates, outcomes = [], {}
    for name in names:
        hours = published_hours(reader, name)
        estimates.append(likely(hours, span))
        outcomes[name] = tuple(outcome(hours, policy, span) for policy in policies)
    estimate = summed_likely(estimates)
    scores = [summed_scores(of_both[side].score for of_both in outcomes.values()) for side in range(len(policies))]
    decided = [(one.deployment, one.episode) for one in published if span.meets(one.episode)]
    if decided != [(name, episode) for name, (present, _) in outcomes.items() for episode in present.episodes]:
        tell("note: the published episodes were judged with another policy than the configured one: `valleywatch run`")
    if options.json:
        sides = zip(_SIDES, policies, scores, strict=True)
        write_json(
            {
                "likely": asdict(estimate),
                **{side: {"policy": policy.model_dump(), **asdict(figures)} for side, policy, figures in sides},
                "episodes": [
                    {"deployment": name, **{side: one and _fields(one) for side, one in zip(_SIDES, pair, strict=True)}}
                    for name, (present, tried) in outcomes.items()
                    for pair in beside(present.episodes, tried.episodes)
                ],
            }
        )
        return
    changed = [key for key in PolicySettings.model_fields if len({getattr(policy, key) for policy in policies}) > 1]
    write_table(("policy", *_SIDES), [
        *((key, *(str(getattr(policy, key)) for policy in policies)) for key in changed),
        *zip(_FIGURES, *(_figures(figures, estimate) for figures in scores), strict=True),
    ])  # fmt: skip
    print()
    write_table(("deployment", *_SIDES), [
        (name, *map(_span_text, pair))
        for name, (present, tried) in outcomes.items()
        for pair in beside(present.episodes, tried.episodes)
    ])  # fmt: skip


def _figures(figures: Score, estimate: Likely) -> tuple[str, ...]:
    delays = figures.delays
    covered = [
        f"{money(figures.covered.get(currency, 0.0), currency)} of {money(lost, currency)}"
        for currency, lost in estimate.lost.items()
    ]
    return (
        str(figures.n_episodes),
        f"{figures.n_missed_runs} of {estimate.n_runs}",
        str(figures.n_flaps),
        f"{number(median(delays))} h, at most {delays[-1]} h" if delays else "",
        f"{figures.n_hours}, {figures.n_held_hours} of them held",
        ", ".join(covered),
    )


def _fields(episode: Episode) -> dict[str, Any]:
    left = episode.left_hour_index
    return {
        "entered_at": to_hour(episode.entered_hour_index),
        "left_at": None if left is None else to_hour(left),
        "n_hours": episode.n_hours,
        "n_held_hours": episode.n_held_hours,
        "peak_depth": episode.peak_depth,
        "deepest_at": to_hour(episode.deepest_hour_index),
        "lost_total": episode.lost_total,
        "currency": episode.currency,
    }


def _when(episode: Episode) -> tuple[str, str]:
    left = episode.left_hour_index
    return utc_time(to_hour(episode.entered_hour_index)), "ongoing" if left is None else utc_time(to_hour(left))


def _span_text(episode: Episode | None) -> str:
    if episode is None:
        return ""
    entered, left = _when(episode)
    when = f"since {entered}" if episode.left_hour_index is None else f"{entered} to {left}"
    return f"{when}, lost {_lost(episode)}"


def _lost(episode: Episode) -> str:
    return money(episode.lost_total, episode.currency)
