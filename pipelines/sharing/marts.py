"""The published marts as tables to share.

Belongs here: columns, labels, which rows of verdicts and curves go with the published hours. Does not belong here:
which groups are large enough (`groups`), files (`folder`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from pipelines.sharing.groups import Group, merged, total
from pipelines.times import US_PER_DAY, US_PER_HOUR
from pipelines.warehouse import Reader

_COUNTS: dict[str, Any] = {
    "n_requests": pl.Int64, "n_individuals": pl.Int64, "input_tokens": pl.Int64, "cached_tokens": pl.Int64,
    "miss_tokens": pl.Int64, "output_tokens": pl.Int64, "hit_rate": pl.Float64,
}  # fmt: skip
_KEY: dict[str, Any] = {"deployment": pl.String, "hour_utc": pl.Datetime("us")}
HOURLY = _KEY | _COUNTS
HISTOGRAM = _KEY | {"bin_low": pl.Float64, "bin_high": pl.Float64} | _COUNTS


@dataclass
class Shared:
    """Tables by name, and what is not in them."""

    k: int
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    n_hours: int = 0
    n_hours_left_out: int = 0
    n_requests: int = 0
    n_requests_left_out: int = 0
    n_bins: int = 0
    n_bins_published: int = 0


def shared_marts(reader: Reader, k: int, first_day: int | None, last_day: int | None, *, with_names: bool) -> Shared:
    """Return the marts of the days from first_day to last_day (None: all) in groups of k individuals."""
    shared = Shared(k)
    hourly: list[pl.DataFrame] = []
    histogram: list[pl.DataFrame] = []
    days = [row["day_index"] for row in reader.rows("ops/lake_days")]
    days = [day for day in days if (first_day or day) <= day <= (last_day or day)]
    for day in days:
        rows = reader.rows("share/traffic", from_us=day * US_PER_DAY, to_us=(day + 1) * US_PER_DAY)
        _add_day(shared, rows, hourly, histogram)
    shared.tables = {
        "hourly_hit_rate": pl.concat([pl.DataFrame(schema=HOURLY), *hourly]),
        "hit_rate_histogram": pl.concat([pl.DataFrame(schema=HISTOGRAM), *histogram]),
    }
    _add_judgement(shared, reader, days)
    if not with_names:
        _label(shared)
    return shared


def _add_day(
    shared: Shared, rows: list[dict[str, Any]], hourly: list[pl.DataFrame], histogram: list[pl.DataFrame]
) -> None:
    hours: list[tuple[Any, ...]] = []
    bins: list[tuple[Any, ...]] = []
    for (deployment, hour_index), of_hour in itertools.groupby(rows, lambda x: (x["deployment"], x["hour_index"])):
        found = [_group(row) for row in of_hour]
        groups = merged(found, shared.k)
        n_requests = sum(group.n_requests for group in found)
        shared.n_hours += 1
        shared.n_requests += n_requests
        if not groups:
            shared.n_hours_left_out += 1
            shared.n_requests_left_out += n_requests
            continue
        shared.n_bins += len(found)
        shared.n_bins_published += len(groups)
        hour_utc = datetime.fromtimestamp(hour_index * US_PER_HOUR / 1e6, UTC).replace(tzinfo=None)
        hours.append((deployment, hour_utc, *_counts(total(groups))))
        bins += [(deployment, hour_utc, x.low_permille / 1000, x.high_permille / 1000, *_counts(x)) for x in groups]
    hourly.append(pl.DataFrame(hours, HOURLY, orient="row"))
    histogram.append(pl.DataFrame(bins, HISTOGRAM, orient="row"))


def _group(row: dict[str, Any]) -> Group:
    is_known = row["n_output_reported"] == row["n_requests"]
    return Group(
        row["bin_low_permille"],
        row["bin_high_permille"],
        row["n_requests"],
        row["n_individuals"],
        row["input_tokens"],
        row["cached_tokens"],
        row["output_tokens"] if is_known else None,
    )


def _counts(group: Group) -> tuple[Any, ...]:
    miss_tokens = group.input_tokens - group.cached_tokens
    hit_rate = group.cached_tokens / group.input_tokens
    counts = group.n_requests, group.n_individuals, group.input_tokens, group.cached_tokens, miss_tokens
    return *counts, group.output_tokens, hit_rate


def _add_judgement(shared: Shared, reader: Reader, days: list[int]) -> None:
    """Add the verdicts of published hours and the curves of days that have one."""
    span = {"from_us": min(days, default=0) * US_PER_DAY, "to_us": (max(days, default=-1) + 1) * US_PER_DAY}
    hours = shared.tables["hourly_hit_rate"].select("deployment", "hour_utc")
    published_days = hours.select("deployment", day_utc=pl.col("hour_utc").dt.date()).unique()
    verdicts, curves = reader.frame("share/verdicts", **span), reader.frame("share/curves", **span)
    shared.tables["valley_status"] = verdicts.join(hours, on=["deployment", "hour_utc"], how="semi")
    shared.tables["throughput_curve"] = curves.join(published_days, on=["deployment", "day_utc"], how="semi")


def _label(shared: Shared) -> None:
    """Put labels for the names of deployments, numbered by their published tokens, which tell nothing of the names."""
    sizes = shared.tables["hourly_hit_rate"].group_by("deployment").agg(pl.col("input_tokens").sum())
    order = sizes.sort(["input_tokens", "deployment"], descending=[True, False])["deployment"].to_list()
    width = len(str(len(order)))
    labels = {name: f"deployment-{number:0{width}}" for number, name in enumerate(order, 1)}
    for name, table in shared.tables.items():
        labelled = table.with_columns(
            pl.col("deployment").replace_strict(list(labels), list(labels.values()), return_dtype=pl.String)
        )
        shared.tables[name] = labelled.sort(table.columns[:3])
