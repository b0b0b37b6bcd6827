"""
What the HTML report is made from: the contract between whoever reads the marts and `report.render_report`.

Belongs here: frozen values with their units; None is "not known", never 0.  Does not belong here: rendering, queries.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from pipelines.profit_result import ProfitAndLoss
from pipelines.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class HourRow:
    """One deployment-hour of `valley_status`; `hour_utc` is the start of the hour, `lost_per_hour` in the currency."""

    hour_utc: datetime
    n_requests: int | None = None
    hit_rate: float | None = None
    revenue_index: float | None = None
    index_low: float | None = None
    index_high: float | None = None
    state: str | None = None
    side: str | None = None
    lost_per_hour: float | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One row of `hit_rate_histogram`; `bin_low == bin_high` marks the bins of exactly 0 and exactly 1."""

    hour_utc: datetime
    bin_low: float
    bin_high: float
    n_requests: int
    input_tokens: int = 0


@dataclass(frozen=True, slots=True)
class OtherCurve:
    """The slope that another estimator gives, with its interval and why it is not to be trusted, if it is not."""

    estimator: str
    target: str
    a: float
    a_low: float | None
    a_high: float | None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FamilyView:
    """A row of `curve_families`; error: relative, on hours left out."""

    family: str
    error: float
    tps0: float | None
    a: float | None
    is_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthView:
    """A row of `curve_by_length`; tps0 [tokens/s] and a at the median length, own_a of the band's own busy periods."""

    low_input_tokens: int
    high_input_tokens: int
    median_input_tokens: int
    tps0: float | None
    a: float | None
    a_low: float | None
    a_high: float | None
    own_a: float | None
    own_deviation: float | None
    agrees: bool | None


@dataclass(frozen=True, slots=True)
class TailView:
    """Steps of an engine that was not seen to pack: their size, their fixed seconds, what they cost a day at most."""

    chunk_tokens: int
    step_s: float
    s_per_day: float
    lost_per_day: float | None
    hit_rates: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveView:
    """
    A fitted throughput curve and the measurements behind it.

    points: (hit rate, miss tokens per busy second, requests), a busy period or a minute of traffic each.
    law, line: (hit rate, miss tokens per busy second) at `reference_input_tokens`, by rising hit rate.
    band: (hit rate, low, high) of the law. `residual_scale` is relative. target: the time that was regressed. others:
    what the other estimators say. families: by rising error; lengths: by rising length; tail: None where no step shows.
    """

    trustworthy: bool
    reasons: tuple[str, ...] = ()
    reference_input_tokens: int | None = None
    tps0: float | None = None
    tps0_low: float | None = None
    tps0_high: float | None = None
    a: float | None = None
    a_low: float | None = None
    a_high: float | None = None
    points: tuple[tuple[float, float, int], ...] = ()
    law: tuple[tuple[float, float], ...] = ()
    line: tuple[tuple[float, float], ...] = ()
    band: tuple[tuple[float, float, float], ...] = ()
    estimator: str | None = None
    target: str | None = None
    others: tuple[OtherCurve, ...] = ()
    n_minutes: int | None = None
    n_requests: int | None = None
    residual_scale: float | None = None
    line_good_until_hit_rate: float | None = None
    families: tuple[FamilyView, ...] = ()
    lengths: tuple[LengthView, ...] = ()
    tail: TailView | None = None


@dataclass(frozen=True, slots=True)
class BathtubView:
    """
    Revenue index of this deployment's traffic at other hit rates, at its prices.

    curve: (hit rate, index) by rising hit rate.  band: (hit rate, low, high).
    """

    curve: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallView:
    """Why a busy hour earns another amount than before: `parts` (factor, amount) add up to after − before, in
    `currency`; the names say which stretches of time are compared."""

    before: float
    after: float
    parts: tuple[tuple[str, float], ...]
    currency: str | None
    before_name: str
    after_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeView:
    """A row of `valley_episodes`; left_at: the hour in which it ended, None where it has not; money in `currency`."""

    entered_at: datetime
    left_at: datetime | None
    peak_depth: float | None
    lost_total: float | None
    currency: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeverView:
    """A lever in words and what it is worth: `gain` and its 90 % interval, in `currency` per day."""

    words: str
    gain: float
    gain_low: float | None
    gain_high: float | None
    currency: str | None
    breaks_even: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfView:
    """
    What the page needs to work out other prices, curves and hit rates of one traffic, by the formulas of `models`.

    law: f, c, q, k of `service_time.ServiceTime`; moments: the sums of `service_time.TrafficMoments`, of 24 hours;
    slope: of the mix, None where its traffic has none; input_per_mtok in `currency`.
    """

    law: Mapping[str, float]
    moments: Mapping[str, float]
    price_ratio: float
    input_per_mtok: float
    currency: str
    slope: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentReport:
    """
    Everything the report says about one deployment; names come from logs and may be hostile.

    hours: the last 24. week: hit rates of the last 168 hours. heat: at most a month, by hour; day_bins: the last 24
    hours together, each with the newest hour. not_told: reason codes for which there are no levers and no what-if.
    """

    name: str
    verdict: Verdict
    model: str | None = None
    hours: tuple[HourRow, ...] = ()
    heat: tuple[HeatCell, ...] = ()
    day_bins: tuple[HeatCell, ...] = ()
    week: tuple[HourRow, ...] = ()
    curve: CurveView | None = None
    bathtub: BathtubView | None = None
    profit: ProfitAndLoss | None = None
    episodes: tuple[EpisodeView, ...] = ()
    levers: tuple[LeverView, ...] = ()
    waterfall: WaterfallView | None = None
    what_if: WhatIfView | None = None
    not_told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole report; `quarantined` has (reason, lines), `warnings` sentences. A moment without a zone is UTC."""

    generated_at: datetime
    first_day: date | None = None
    last_day: date | None = None
    deployments: tuple[DeploymentReport, ...] = ()
    quarantined: tuple[tuple[str, int], ...] = ()
    warnings: tuple[str, ...] = ()
