"""Is the staged file what its source says it is? A file read in the wrong sense is refused whole, before it is loaded.

Belongs here: what a contradiction is called, its likely cause and its remedy. Does not belong here: what contradicts
(`sql/ingest/contradictions.sql`, with the bounds), rules about one line (`sql/ingest/judged.sql`).
"""

from __future__ import annotations

import math
from typing import Any

from pipelines.display import shown
from pipelines.errors import RejectedFileError
from pipelines.formats import Format
from pipelines.settings import AS_LOGGED, SourceSettings
from pipelines.times import FIRST_DAY, US_PER_DAY, to_day_index
from pipelines.warehouse import Writer

UNITS_NS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
MANY_REQUESTS = 1000
"""From this many requests on, what never happens in them is no bad luck: somebody is told."""
MAX_NAMED = 3
"""Deployments that a message names, and remarks that a file gets."""

_LIKELY = {
    "first_token_too_soon": "s",
    "prompt_too_fast": "s",
    "output_too_fast": "s",
    "end_too_soon": "s",
    "over_a_day": "ns",
}
"""The unit a log is likely in where only one would make it usual."""
_USUAL_US = {"first_token_too_late": 500_000, "output_too_slow": 20_000}
"""What is usual where a log looks too slow: of two smaller units the likely one brings it nearer to this."""
_SPEEDS = {
    "first_token_too_soon": "have their first token within 1 ms",
    "first_token_too_late": "wait over an hour for their first token",
    "prompt_too_fast": "compute over 10 million prompt tokens a second",
    "output_too_fast": "make over 25,000 output tokens a second each",
    "output_too_slow": "take over 5 s for each output token",
    "end_too_soon": "end within 1 ms",
    "over_a_day": "take over a day",
}


def refuse_contradictions(
    writer: Writer, source: SourceSettings, log_format: Format, latest_us: int, *, least_arrivals: int = 1
) -> None:
    """Raise RejectedFileError where the staged lines as a whole contradict how they were read.

    `latest_us` is the latest plausible arrival; of fewer than `least_arrivals` lines nothing is said about their epoch.
    """
    epoch_unit = source.epoch_unit or log_format.epoch_unit
    from_us = to_day_index(FIRST_DAY) * US_PER_DAY
    found: dict[str, list[dict[str, Any]]] = {}
    doubts_units = source.latency_unit is None
    asked = {"doubts_units": doubts_units, "from_us": from_us, "to_us": latest_us, "least_arrivals": least_arrivals}
    for row in writer.rows("ingest/contradictions", **asked):
        found.setdefault(row["contradiction"], []).append(row)
    if "arrivals_out_of_range" in found and epoch_unit is not None:
        (row,) = found["arrivals_out_of_range"]
        _refuse_epoch_unit(row, writer.rows("ingest/arrival_span")[0], epoch_unit, from_us, latest_us)
    # Where the producer fixes what it counts, more cached than input tokens are its own double counts, line by line.
    if "more_cached_than_input" in found and "input_tokens" in log_format.left_open:
        _refuse_inclusive(found["more_cached_than_input"], source)
    for contradiction, says in _SPEEDS.items():
        if contradiction in found:
            _refuse_latency_unit(found[contradiction][0], says, log_format)
    if "first_token_after_end" in found:
        _refuse_order(found["first_token_after_end"][0])


def _refuse_inclusive(rows: list[dict[str, Any]], source: SourceSettings) -> None:
    evidence = "; ".join(f"{_evidence(row)} of deployment {shown(str(row['deployment']))}" for row in rows[:MAX_NAMED])
    more = f" and so in {len(rows) - MAX_NAMED} more deployments" if len(rows) > MAX_NAMED else ""
    remedy = (
        'its count of input tokens leaves the cached ones out: set input_tokens = "exclusive" in the source '
        "(--input-tokens exclusive)"
    )
    if source.input_tokens == "inclusive":
        remedy = f"either {remedy}, or its producer counts hits twice and must be mended"
    raise RejectedFileError(
        "cached_tokens_exceed_input_tokens",
        f"more cached than input tokens in {evidence}{more}, too many for chance; without them the rest would be the "
        f"requests with low hit rates; {remedy}",
    )


def _refuse_latency_unit(row: dict[str, Any], says: str, log_format: Format) -> None:
    likely = _LIKELY.get(row["contradiction"]) or min(("us", "ns"), key=lambda unit: _distance(row, unit))
    if "latency_unit" in log_format.left_open:
        remedy = f'set latency_unit = "{likely}" in the source (--latency-unit {likely})'
    else:
        remedy = "it seems that the producer changed the unit of a field"
    raise RejectedFileError(
        "latency_unit_implausible",
        f"{_evidence(row)} {says}, which nothing that serves does: they look like {likely} read as ms; {remedy}; where "
        f'the times are right, set latency_unit = "{AS_LOGGED}"',
    )


def _distance(row: dict[str, Any], unit: str) -> float:
    """Return how far from usual the durations would be, as a power of e, if what was read as ms is in `unit`."""
    value_us = max(row["least_us"], 1) * UNITS_NS[unit] / UNITS_NS["ms"]
    return abs(math.log(value_us / _USUAL_US[row["contradiction"]]))


def _refuse_order(row: dict[str, Any]) -> None:
    raise RejectedFileError(
        "first_token_after_end",
        f"{_evidence(row)} have their first token after their end: the two are in different units, or one of them is "
        "something else; log both in one unit, or set latency_unit in the source to have them loaded as they are",
    )


def _refuse_epoch_unit(row: dict[str, Any], span: dict[str, Any], unit: str, from_us: int, latest_us: int) -> None:
    likely = _epoch_unit_that_fits(span, unit, from_us, latest_us)
    if likely is None:
        return
    raise RejectedFileError(
        "epoch_unit_implausible",
        f"read as {unit}, {_evidence(row)} arrived before {FIRST_DAY.year} or in the future, or at no time at all; as "
        f'{likely} all of them are plausible: set epoch_unit = "{likely}" in the source (--epoch-unit {likely})',
    )


def _epoch_unit_that_fits(span: dict[str, Any], unit: str, from_us: int, latest_us: int) -> str | None:
    """Return the unit in which all arrivals are plausible; a number too large for `unit` tells by its digits."""
    if span["n_unread"]:
        return {16: "us", 19: "ns"}.get(span["n_digits"]) if span["first_us"] is None else None
    for other, size_ns in UNITS_NS.items():
        first_us = span["first_us"] * size_ns // UNITS_NS[unit]
        last_us = span["last_us"] * size_ns // UNITS_NS[unit]
        if other != unit and from_us <= first_us and last_us <= latest_us:
            return other
    return None


def _evidence(row: dict[str, Any]) -> str:
    lines = ", ".join(str(number) for number in row["first_lines"])
    return f"{row['n_lines']:,} of {row['of_lines']:,} lines (the first: {lines})"


def remarks_on(writer: Writer, source: SourceSettings, log_format: Format) -> list[str]:
    """Return what a person should know of staged lines that contradict nothing and are odd all the same."""
    odd = []
    for row in writer.rows("ingest/silent_caches", min_requests=MANY_REQUESTS):
        what = "hit the cache: is it on?" if row["n_reported"] else "reports cached_tokens: are they logged?"
        odd.append(
            f"none of {row['n_requests']:,} requests of {shown(row['deployment'])} {what} "
            f"To have them: {log_format.switch_on}"
        )
    if source.input_tokens == "exclusive":
        odd += [
            f"of {row['n_requests']:,} hits of {shown(row['deployment'])} none exceeds the logged input and "
            f"{row['n_close']:,} come close: does it include them after all?"
            for row in writer.rows("ingest/never_over_half", min_requests=MANY_REQUESTS)
        ]
    return odd[:MAX_NAMED]
