"""What else is known of a curve, for the report: its shapes, its lengths, its steps.

Belongs here: rows of `curve_families` and `curve_by_length` as the report's input. Does not belong here: the curve and
its points (`reading`), finding any of it (`curve_shapes`).
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from pipelines.overview import Overview
from pipelines.report_input import CurveView, FamilyView, LengthView, TailView


def curve_shapes(
    curve: CurveView | None, seen: Overview, families: list[dict[str, Any]], lengths: list[dict[str, Any]]
) -> CurveView | None:
    """Return the curve with what is known beside it; without a curve, nothing is."""
    if curve is None or seen.curve is None:
        return curve
    return replace(
        curve,
        line_good_until_hit_rate=seen.curve["line_good_until_hit_rate"],
        families=tuple(_view(FamilyView, row) for row in families),
        lengths=tuple(_view(LengthView, row) for row in lengths),
        tail=_tail(seen.curve, seen.verdict.tail_chunk_lost_per_day),
    )


def _view(kind: Any, row: dict[str, Any]) -> Any:
    return kind(**{field.name: row[field.name] for field in fields(kind)})


def _tail(curve: dict[str, Any], lost_per_day: float | None) -> TailView | None:
    if curve["chunk_tokens"] is None:
        return None
    return TailView(
        curve["chunk_tokens"],
        curve["step_s"],
        curve["tail_chunk_s_per_day"],
        lost_per_day,
        tuple(curve["tail_hit_rates"]),
    )
