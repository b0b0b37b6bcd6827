"""
The verdict on one deployment, as the report, the command line and the alerts are given it.

Belongs here: the values and their units.  Does not belong here: how they are found (`models`) or said (`words`).
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    What is known about a deployment over the covered days; None is "not known", never 0.

    Hit rates, shares and ratios are dimensionless, in [0, 1]; `hit_rate` is weighted by tokens, `mean_request_hit_rate`
    by requests, `busy_hit_rate` by the busy time that they took; `revenue_index` and its interval are 1 where a busy
    second earns as much as without a cache; `floor_depth` is 1 − index at the floor; prices are in `currency` per
    million tokens, those of the newest hour that sold tokens: `n_prices` of them, and where these are several none is
    named; `price_ratio` is of the last 24 hours, weighted by revenue; these begin
    where the engine or the model changed if that is later; `lost_24h` is in `currency`, of the last 24 hours
    of traffic, and positive where the cache loses money; it sums `lost_hours` of the `traffic_hours` in which there was
    traffic: the others have no price in that currency or no verdict. `last_hour` is the newest hour with traffic, UTC.
    `chunk_tokens` is the step of an engine that was not seen to pack, `tail_chunk_s_per_day` the busy seconds that
    nothing but full steps would save, `tail_chunk_lost_per_day` what they would earn, in `currency`: at most that is
    lost. `estimator` and `target` say how the curve was found and from which time; None where there is no curve.
    `state`, `side` and `regime` are words of the vocabulary, `reasons` reason codes, `lever` a code or a sentence.
    """

    state: str | None = None
    hit_rate: float | None = None
    mean_request_hit_rate: float | None = None
    busy_hit_rate: float | None = None
    revenue_index: float | None = None
    index_low: float | None = None
    index_high: float | None = None
    price_ratio: float | None = None
    input_per_mtok: float | None = None
    cached_per_mtok: float | None = None
    n_prices: int | None = None
    floor_hit_rate: float | None = None
    exit_hit_rate: float | None = None
    floor_depth: float | None = None
    side: str | None = None
    regime: str | None = None
    busy_share: float | None = None
    lost_24h: float | None = None
    chunk_tokens: int | None = None
    tail_chunk_s_per_day: float | None = None
    tail_chunk_lost_per_day: float | None = None
    lost_hours: int | None = None
    traffic_hours: int | None = None
    last_hour: datetime | None = None
    currency: str | None = None
    lever: str | None = None
    reasons: tuple[str, ...] = ()
    estimator: str | None = None
    target: str | None = None
    coverage: float | None = None
    n_requests: int | None = None
    n_failed: int | None = None

    @property
    def lost_in_part(self) -> bool:
        """Say whether `lost_24h` leaves out hours of which the cost is not known."""
        return self.lost_hours is not None and self.traffic_hours is not None and self.lost_hours < self.traffic_hours
