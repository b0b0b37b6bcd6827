"""
The HTML report: one file, no script, nothing fetched, safe whatever a deployment is called.

Belongs here: rendering a `Report` and putting the file in its place.
Does not belong here: reading the marts, sentences (`words`), drawing (`charts`, `heat_map`).
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from pipelines import curve_words, display, words
from pipelines.charts import bathtub_chart, throughput_chart
from pipelines.files import write_whole
from pipelines.heat_map import heat_map
from pipelines.report_input import (
    BathtubView,
    CurveView,
    DeploymentReport,
    HeatCell,
    HourRow,
    Report,
)
from pipelines.verdict import Verdict

__all__ = [
    "BathtubView",
    "CurveView",
    "DeploymentReport",
    "HeatCell",
    "HourRow",
    "Report",
    "Verdict",
    "page_template",
    "render_report",
    "trusted_verdict",
    "write_report",
]


@dataclass(frozen=True, slots=True)
class _Section:
    """One deployment with its drawings, ready for the template."""

    given: DeploymentReport
    verdict: Verdict
    anchor: str
    heat_map: Markup
    throughput: Markup
    bathtub: Markup


@cache
def page_template() -> Template:
    """Return the page, compiled once a process: that takes longer than to fill it in."""
    environment = Environment(
        loader=PackageLoader("pipelines", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2")


def render_report(report: Report) -> str:
    """Render the report as one HTML document; the same input gives the same bytes."""
    sections = [_section(deployment) for deployment in report.deployments]
    summary = _summary([section.verdict for section in sections])
    return page_template().render(
        report=report, sections=sections, summary=summary, show=display, say=words, shape=curve_words
    )


def write_report(html: str, path: Path) -> None:
    """
    Put the report in its place, whole or not at all, readable by its owner only.

    Raises `OSError` where the folder is missing or full; what stood there before then still stands.
    """
    write_whole(path, html.encode(), 0o600)


def trusted_verdict(deployment: DeploymentReport) -> Verdict:
    """
    Withhold what rests on an untrustworthy curve: from one, no valley verdict follows.

    What was measured (hit rate, coverage, prices, busy share) stays. The state becomes unknown with the curve's
    reasons, unless it was kept from earlier hours: a held state stays, without numbers.
    """
    curve, verdict = deployment.curve, deployment.verdict
    if curve is None or curve.trustworthy:
        return verdict
    return replace(
        verdict,
        state=verdict.state if words.is_held(verdict.reasons) else "unknown",
        reasons=tuple(dict.fromkeys((*verdict.reasons, *curve.reasons))),
        revenue_index=None,
        index_low=None,
        index_high=None,
        floor_hit_rate=None,
        exit_hit_rate=None,
        floor_depth=None,
        side=None,
        lost_24h=None,
        lever=None,
    )


def _section(deployment: DeploymentReport) -> _Section:
    verdict, anchor = trusted_verdict(deployment), display.anchor(deployment.name)
    curve, bathtub, nothing = deployment.curve, deployment.bathtub, Markup("")
    is_drawable = curve is not None and bool(curve.points or curve.law)
    is_trusted = curve is None or curve.trustworthy
    return _Section(
        given=deployment,
        verdict=verdict,
        anchor=anchor,
        heat_map=heat_map(deployment.heat, chart_id=f"{anchor}-heat"),
        throughput=throughput_chart(curve, chart_id=f"{anchor}-curve") if curve and is_drawable else nothing,
        bathtub=(
            bathtub_chart(bathtub, verdict, chart_id=f"{anchor}-bathtub")
            if bathtub and bathtub.curve and is_trusted
            else nothing
        ),
    )


def _summary(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """Say in a few sentences how many are where, and what the valley costs a day, each currency on its own."""
    verdicts = list(verdicts)
    inside = [verdict for verdict in verdicts if verdict.state == "in_valley"]
    undecided = sum(1 for verdict in verdicts if verdict.state in (None, "unknown"))
    said = [f"{len(inside)} of {_deployments(len(verdicts))} {'is' if len(inside) == 1 else 'are'} in the valley."]
    losses: dict[str | None, list[float]] = defaultdict(list)
    for verdict in inside:
        if verdict.lost_24h is not None and display.known(verdict.lost_24h):
            losses[verdict.currency].append(verdict.lost_24h)
    if losses:
        amounts = [display.money(math.fsum(lost), currency) for currency, lost in losses.items()]
        said.append(f"What that cost in 24 hours: {' and '.join(amounts)}.")
    if partial := sum(1 for verdict in inside if verdict.lost_24h is not None and verdict.lost_in_part):
        said.append(f"Of {partial} of them that is the cost of some hours only.")
    if missing := len(inside) - sum(len(lost) for lost in losses.values()):
        said.append(f"For {missing} of them the cost is not known.")
    if undecided:
        said.append(f"For {undecided} there is no verdict.")
    return tuple(said)


def _deployments(n: int) -> str:
    return f"{n} deployment" if n == 1 else f"{n} deployments"
