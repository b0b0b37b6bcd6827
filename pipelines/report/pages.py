"""
The pages: the fleet's, and one for each deployment; nothing is fetched from elsewhere, whatever a deployment is called.

Belongs here: what goes into a page and under which policy a browser shows it. Does not belong here: reading the marts,
sentences (`words`), figures (`report_figures`), markup (templates), files (`publishing`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from pipelines import curve_words, display, words
from pipelines.report.embedded import compact, embedded
from pipelines.report.summary import attention
from pipelines.report.trust import trusted_verdict
from pipelines.report_figures import FIGURES, Spec, figures_of, script_name, sparkline, tokens
from pipelines.report_figures.theme import THEMES
from pipelines.report_input import DeploymentReport, LeverView, Report
from pipelines.verdict import Verdict

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'"
)
"""What a page may do. 'self' is the folder's own files, from a web server and from the file system alike."""
STYLE = "report.css"
SCRIPTS = ("figures.js", "model.js", "what_if.js", "table.js")
FIGURES_SCRIPT = script_name()
_MISSING = {
    "bathtub": ("The bathtub of this traffic", "it takes a curve that can be trusted, and a price"),
    "levers": ("What each lever is worth", "they take a curve that can be trusted, and a price"),
    "waterfall": ("Why a busy hour earns more or less", "it takes two days in a row with prices and trusted curves"),
    "episodes": ("Episodes in the valley", "it was not in the valley in the last month"),
    "hit_rates_by_hour": ("Hit rates by hour (UTC)", "no request reports its cached tokens"),
    "requests_by_hit_rate": ("Requests by hit rate", "no request reports its cached tokens"),
    "throughput": ("Throughput", "no throughput curve is known"),
    "hit_throughput": ("Hit throughput", "it takes a throughput curve that can be trusted"),
    "revenue": ("Revenue of a busy second", "it takes a throughput curve that can be trusted, and a price"),
    "throughput_by_length": ("Throughput by prompt length", "the curve has no length bands"),
    "curve_families": ("Shapes of the curve", "no shapes were compared"),
}
"""Title of each figure and what it takes, said where it cannot be drawn."""


@dataclass(frozen=True, slots=True)
class FleetRow:
    """What the fleet's page keeps of a deployment."""

    name: str
    verdict: Verdict
    week: Spec | None
    lever: LeverView | None
    is_curve_trusted: bool
    curve_reasons: tuple[str, ...] | None
    """Why its curve is not to be trusted, as far as is recorded; None where there is no curve."""

    @property
    def anchor(self) -> str:
        """Return its place in the page, also the name of its sparkline."""
        return display.anchor(self.name)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure's place in a page: title and caption, or why it is not drawn."""

    name: str
    title: str
    caption: str | None
    missing: str | None
    description: str = ""


@cache
def page_template(name: str) -> Template:
    """Return a page's template, compiled once a process: that takes longer than to fill it in."""
    environment = Environment(
        loader=PackageLoader("pipelines.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        show=display, say=words, shape=curve_words, policy=POLICY, style=STYLE, figures_script=FIGURES_SCRIPT,
        page_of=page_of,
    )  # fmt: skip
    return environment.get_template(f"{name}.html.j2")


def page_of(deployment: str) -> str:
    """Return the file name of a deployment's page, which never contains its name."""
    return f"{display.anchor(deployment)}.html"


def style_sheet() -> str:
    """Return the style sheet: the figures' colours by token, then the rest, which names colours by token alone."""
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in tokens(theme).items()) for theme in THEMES)
    rest = (files("pipelines.report") / "static" / STYLE).read_text(encoding="utf-8")
    only_screens = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return f":root {{ {light} }}\n{only_screens}\n{rest}"


def fleet_row(deployment: DeploymentReport) -> FleetRow:
    """Return what the fleet's page says of a deployment."""
    curve = deployment.curve
    return FleetRow(
        name=deployment.name,
        verdict=trusted_verdict(deployment),
        week=sparkline(deployment.week),
        lever=deployment.levers[0] if deployment.levers else None,
        is_curve_trusted=curve is not None and curve.trustworthy,
        curve_reasons=None if curve is None else curve.reasons,
    )


def render_fleet(rows: Sequence[FleetRow], frame: Report) -> str:
    """Render the first page; `frame` says what is known of all together. The same input gives the same text."""
    ranked = sorted(rows, key=_by_money)
    return page_template("fleet").render(
        report=frame,
        rows=ranked,
        summary=attention(row.verdict for row in ranked),
        figure_data=embedded(compact({row.anchor: row.week for row in ranked if row.week is not None})),
        untrusted=[row for row in ranked if not row.is_curve_trusted],
    )


def render_deployment(deployment: DeploymentReport, frame: Report) -> str:
    """Render the page of one deployment. The same input gives the same text."""
    trusted = replace(deployment, verdict=trusted_verdict(deployment))
    specs, what_if = figures_of(trusted), _what_if(trusted)
    return page_template("deployment").render(
        report=frame,
        of=trusted,
        v=trusted.verdict,
        anchor=display.anchor(deployment.name),
        figures={name: _figure(name, specs.get(name)) for name in FIGURES},
        figure_data=embedded(compact(specs)),
        what_if=what_if,
        what_if_data=embedded(what_if),
    )


def _figure(name: str, spec: Spec | None) -> Figure:
    title, needs = _MISSING[name]
    if spec is None:
        return Figure(name, title, None, needs)
    said = spec["usermeta"]
    return Figure(name, said["title"], said["caption"], None, spec["description"])


def _what_if(of: DeploymentReport) -> dict[str, object]:
    """Return where the sliders begin, and the traffic they move where it is known."""
    known, curve = of.what_if, of.curve
    slope = known.slope if known is not None else None if curve is None else curve.a
    return {
        "price_ratio": known.price_ratio if known is not None else of.verdict.price_ratio,
        "slope": slope,
        "fixed_cost": None if known is None else known.law["f"],
        "hit_rate": of.verdict.hit_rate,
        "traffic": None if known is None else asdict(known),
    }


def _by_money(row: FleetRow) -> tuple[bool, float, str]:
    """Order by what is lost, the most first; what is not known last. Currencies are not converted."""
    lost = row.verdict.lost_24h
    known = lost is not None and math.isfinite(lost)
    return not known, -(lost or 0.0) if known else 0.0, row.name
