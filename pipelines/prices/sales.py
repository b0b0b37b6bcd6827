"""What a day's requests bought, in integers: tokens by hour, part of its price list, model, length and timeliness.

Belongs here: asking the lake, once a day that is judged. Does not belong here: money (`hours`, `profit_and_loss`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from models.goodput import Objective
from pipelines.prices.memory import US_PER_MINUTE, DayPrices, Hour
from pipelines.times import US_PER_DAY, US_PER_HOUR
from pipelines.warehouse import Writer

NAMED_MODELS = 100
"""Models of a deployment and day that have rows of their own; the others are one."""
SEGMENTS = {
    "deployment": pl.String, "hour_index": pl.Int64, "part": pl.Int64, "from_us": pl.Int64, "to_us": pl.Int64,
    "input_tokens_from": pl.Int64, "input_tokens_to": pl.Int64,
}  # fmt: skip
OBJECTIVES = {"deployment": pl.String, "ttft_us": pl.Int64, "tpot_us": pl.Int64, "e2e_us": pl.Int64}


@dataclass(frozen=True, slots=True)
class Sale:
    """Requests of one hour, part of its price list (None: unpriced), model and band of lengths, alike in timeliness.

    timeliness: in_time, late or unknown; None without an objective. is_reported: whether they report cached tokens. The
    counts n_unknown… are of requests that lack what the name says; sums are of the others, None where there are none.
    """

    part: int | None
    model: str | None
    input_tokens_from: int
    timeliness: str | None
    is_reported: bool
    n_requests: int
    n_unknown: int
    n_unknown_with_writes: int
    n_unknown_output: int
    n_unknown_writes: int
    input_tokens: int
    miss_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cache_write_tokens: int | None


def sales_of_day(
    writer: Writer, day_index: int, prices: DayPrices, objectives: dict[str, Objective]
) -> dict[Hour, list[Sale]]:
    """Return what the requests of a day bought, hour by hour."""
    segments = pl.DataFrame(_segments(prices), schema=SEGMENTS, orient="row")
    limits = pl.DataFrame(_limits(objectives), schema=OBJECTIVES, orient="row")
    day = {"from_us": day_index * US_PER_DAY, "to_us": (day_index + 1) * US_PER_DAY}
    found: dict[Hour, list[Sale]] = {}
    with (
        writer.registered("price_segments", segments.to_arrow()),
        writer.registered("objectives", limits.to_arrow()),
    ):
        for row in writer.rows("valley/tokens_by_price", named_models=NAMED_MODELS, **day):
            hour = (row.pop("deployment"), row.pop("hour_index"))
            found.setdefault(hour, []).append(Sale(**row))
    return found


def _segments(prices: DayPrices) -> list[tuple[str | int | None, ...]]:
    return [
        (
            deployment, hour_index, number,
            hour_index * US_PER_HOUR + part.from_minute * US_PER_MINUTE,
            hour_index * US_PER_HOUR + part.to_minute * US_PER_MINUTE,
            part.input_tokens_from, part.input_tokens_to,
        )
        for (deployment, hour_index), listed in prices.lists.items()
        for number, part in enumerate(listed.parts)
    ]  # fmt: skip


def _limits(objectives: dict[str, Objective]) -> Iterable[tuple[str | int | None, ...]]:
    return [
        (deployment, *(None if limit is None else round(limit * 1e6) for limit in (of.ttft_s, of.tpot_s, of.e2e_s)))
        for deployment, of in objectives.items()
    ]
