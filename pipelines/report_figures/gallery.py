"""
All figures of one deployment, in the order in which a page and a folder show them.

Belongs here: which view each figure takes. Does not belong here: drawing, and verdicts: an untrusted one is withheld
before it comes here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TypeAlias

from pipelines.display import as_utc
from pipelines.report_figures.bathtub import bathtub
from pipelines.report_figures.curve_details import curve_families, throughput_by_length
from pipelines.report_figures.distribution import requests_by_hit_rate
from pipelines.report_figures.heat import MOST_HOURS, hit_rates_by_hour
from pipelines.report_figures.levers import levers
from pipelines.report_figures.revenue import revenue
from pipelines.report_figures.spec import Spec
from pipelines.report_figures.throughput import hit_throughput, throughput
from pipelines.report_figures.timelines import episodes
from pipelines.report_figures.waterfall import waterfall
from pipelines.report_input import DeploymentReport

Drawn: TypeAlias = Callable[[DeploymentReport], Spec | None]


def _episodes(of: DeploymentReport) -> Spec | None:
    """Show the month up to the newest hour."""
    if not of.hours:
        return None
    end = max(as_utc(hour.hour_utc) for hour in of.hours) + timedelta(hours=1)
    return episodes(of.episodes, first=end - timedelta(hours=MOST_HOURS), last=end)


FIGURES: dict[str, Drawn] = {
    "bathtub": lambda of: bathtub(of.bathtub, of.verdict, hours=of.hours, curve=of.curve),
    "levers": lambda of: levers(of.levers),
    "waterfall": lambda of: waterfall(of.waterfall),
    "episodes": _episodes,
    "hit_rates_by_hour": lambda of: hit_rates_by_hour(of.heat),
    "requests_by_hit_rate": lambda of: requests_by_hit_rate(of.day_bins),
    "throughput": lambda of: throughput(of.curve),
    "hit_throughput": lambda of: hit_throughput(of.curve),
    "revenue": lambda of: revenue(of.curve, of.verdict),
    "throughput_by_length": lambda of: throughput_by_length(of.curve),
    "curve_families": lambda of: curve_families(of.curve),
}
"""By name, which is also that of its file."""


def figures_of(deployment: DeploymentReport) -> dict[str, Spec]:
    """Return the figures that there is something to draw for, by name."""
    drawn = {name: draw(deployment) for name, draw in FIGURES.items()}
    return {name: spec for name, spec in drawn.items() if spec is not None}
