"""What else is known of a day's chosen curve: its shape, the step of an engine that does not pack, its lengths.

Belongs here: asking the models of `families`, `chunks` and `length_bands`, and their answers as rows of the marts. Does
not belong here: choosing or judging the curve (`curves`), the verdict, which rests on the curve's law alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from models.chunks import CHUNK_TOKENS, ChunkFit, find_chunk_in_rows, singular_hit_rates
from models.curve_fit import CurveFit
from models.families import FamilyChoice, choose_for_rows, line_good_until
from models.length_bands import BandCurve, curves_by_length, length_bands
from models.regression_rows import BusyRows

NO_SHAPE: dict[str, Any] = dict.fromkeys(
    ("line_good_until_hit_rate", "chunk_tokens", "step_s", "tail_chunk_s_per_day", "tail_hit_rates")
)
"""Columns of a curve whose shape was not looked at."""


@dataclass(frozen=True, slots=True)
class CurveShape:
    """families, chunks: None where there are no busy periods, or too few. bands: of the traffic's lengths."""

    fit: CurveFit
    families: FamilyChoice | None
    chunks: ChunkFit | None
    bands: tuple[BandCurve, ...]

    @property
    def columns(self) -> dict[str, Any]:
        """What the curve's own row says of it; where shapes were not compared the family is the one that was fitted."""
        fit, length = self.fit, self.fit.reference_input_tokens
        chunk_tokens = self.chunks.chunk_tokens if self.chunks else None
        found: dict[str, Any] = {"family": self.families.family if self.families else fit.family, **NO_SHAPE}
        if fit.law is not None and fit.tps0 is not None and fit.a is not None:
            found["line_good_until_hit_rate"] = line_good_until(fit.law, fit.tps0, fit.a, length)
        if self.chunks is not None and chunk_tokens is not None and self.chunks.law is not None:
            found |= {
                "chunk_tokens": chunk_tokens,
                "step_s": self.chunks.law.f,
                "tail_chunk_s_per_day": self.chunks.tail_s_per_day,
                "tail_hit_rates": singular_hit_rates(length, chunk_tokens).tolist(),
            }
        return found

    def family_rows(self, deployment: str, day_index: int) -> list[dict[str, Any]]:
        """Rows of `mart.curve_families`."""
        families = self.families
        if families is None:
            return []
        return [
            {
                "deployment": deployment,
                "day_index": day_index,
                "family": shape.family,
                "error": shape.error,
                "tps0": shape.tps0,
                "a": shape.a,
                "is_kept": shape is families.kept,
            }
            for shape in families.fits
        ]

    def length_rows(self, deployment: str, day_index: int) -> list[dict[str, Any]]:
        """Rows of `mart.curve_by_length`."""
        return [
            {
                "deployment": deployment,
                "day_index": day_index,
                "band": number,
                "low_input_tokens": round(found.band.low),
                "high_input_tokens": round(found.band.high),
                "median_input_tokens": round(found.band.median),
                "tps0": found.tps0,
                "tps0_low": found.tps0_low,
                "tps0_high": found.tps0_high,
                "a": found.a,
                "a_low": found.a_low,
                "a_high": found.a_high,
                "own_tps0": found.own_tps0,
                "own_a": found.own_a,
                "own_deviation": found.own_deviation,
                "n_minutes": found.n_minutes,
                "agrees": found.agrees,
            }
            for number, found in enumerate(self.bands, start=1)
        ]


def shape_of(fit: CurveFit, rows: BusyRows, busy: pl.DataFrame, lengths: pl.DataFrame, *, seed: int) -> CurveShape:
    """Ask what the busy periods that a curve was fitted to tell beside it; an envelope has none: rows are then empty.

    rows: of the fit. busy: the same rows as `curve/busy_rows` gives them. lengths: input_tokens and n_requests.
    """
    steps = busy.select(f"steps_{chunk_tokens}" for chunk_tokens in CHUNK_TOKENS).to_numpy()
    bands = length_bands(lengths["input_tokens"].to_numpy(), lengths["n_requests"].to_numpy())
    is_comparable = len(rows.busy_s) > 0 and fit.reference_input_tokens > 0
    return CurveShape(
        fit,
        choose_for_rows(rows, reference_input_tokens=fit.reference_input_tokens) if is_comparable else None,
        find_chunk_in_rows(rows, steps, seed=seed) if is_comparable else None,
        curves_by_length(fit, rows, bands, seed=seed),
    )
