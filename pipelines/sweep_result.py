"""
A fitted benchmark as the fields and the sentences that `valleywatch fit` prints.

Belongs here: what is said about a sweep of one length, and of many. Does not belong here: reading it, fitting it.
"""

from typing import Any

from models.chunks import CHUNK_TOKENS, singular_hit_rates
from models.chunks import MIN_POINTS as MIN_CHUNK_POINTS
from models.curve_fit import CurveFit
from models.length_sweep import LengthLine, LengthSweepFit
from models.sweep import SweepFit
from pipelines.curve_words import (
    FAMILIES,
    doubt,
    family_words,
    line_sentences,
    line_words,
    priced,
    rates,
    tail_words,
    valley_fields,
    valley_words,
)
from pipelines.words import because


def one_length_fields(fit: SweepFit, basis: str, price_ratio: float) -> dict[str, Any]:
    """Return what a benchmark of one prompt length showed."""
    curve, families, chunks = fit.curve, fit.families, fit.chunks
    chunk_tokens = chunks.chunk_tokens if chunks else None
    dips = singular_hit_rates(curve.reference_input_tokens, chunk_tokens).tolist() if chunk_tokens else []
    return {
        **_curve_fields(curve, basis),
        "family": families.family if families else None,
        "family_errors": {shape.family: shape.error for shape in families.fits} if families else None,
        "line_good_until_hit_rate": families.line_good_until_hit_rate if families else None,
        "median_deviation": fit.median_deviation,
        "worst_deviation": fit.worst_deviation,
        "singular_hit_rates": [point.hit_rate for point in fit.singular_points],
        "chunk_searched": chunks is not None,
        "chunk_tokens": chunk_tokens,
        "step_s": chunks.law.f if chunks and chunks.law else None,
        "tail_singular_hit_rates": [point.hit_rate for point in fit.singular_points if point.is_tail],
        "tail_hit_rates": dips,
        "price_ratio": price_ratio,
        **valley_fields(curve.a, price_ratio),
    }


def lengths_fields(fit: LengthSweepFit, basis: str, price_ratio: float) -> dict[str, Any]:
    """Return what a benchmark of several prompt lengths showed; tps0, a and the valley are those of the longest."""
    curve, law = fit.curve, fit.curve.law
    off = sorted(abs(point.deviation) for point in fit.points)
    miss_tokens = {round((1 - point.hit_rate) * point.input_tokens) for point in fit.points}
    return {
        **_curve_fields(curve, basis),
        "shortest_input_tokens": min((point.input_tokens for point in fit.points), default=None),
        "miss_tokens": miss_tokens.pop() if len(miss_tokens) == 1 else None,
        "family": curve.family if law else None,
        "law": {name: getattr(law, name) for name in "fcqk"} if law else None,
        "median_deviation": off[len(off) // 2] if off else None,
        "worst_deviation": off[-1] if off else None,
        "line_median_deviation": fit.line_deviation,
        "line_worst_deviation": fit.line_worst_deviation,
        "singular_hit_rates": [point.hit_rate for point in fit.points if point.is_singular],
        "price_ratio": price_ratio,
        **valley_fields(curve.a, price_ratio),
        "lines": [_line_fields(line, price_ratio) for line in fit.lines],
    }


def one_length_sentences(found: dict[str, Any]) -> list[str]:
    """Say it in lines."""
    length = f"{found['input_tokens']:.0f} input tokens"
    said = [f"{found['n_requests']} requests of {length}, busy time from {found['time_basis']}"]
    if found["tps0"] is None:
        return [*said, f"no curve, {because(found['reasons'])}"]
    return [
        *said,
        *line_sentences(found),
        f"residual  {found['residual']:.1%}; curve against the medians for x <= .9: {_deviations(found)}",
        f"family    {family_words(found['family'], found['family_errors'], left_out='hit rates')}",
        f"line      {line_words(found['line_good_until_hit_rate'])}",
        f"singular  {rates(found['singular_hit_rates'])}",
        f"chunk     {_chunk_words(found)}",
        f"valley    {priced(found)}",
        *doubt(found),
    ]


def lengths_sentences(found: dict[str, Any]) -> list[str]:
    """Say it in lines."""
    basis = f"busy time from {found['time_basis']}"
    if found["law"] is None:
        return [f"requests of several lengths, {basis}", f"no curve, {because(found['reasons'])}"]
    lengths = f"{found['shortest_input_tokens']:.0f} to {found['input_tokens']:.0f} input tokens"
    said = [f"{found['n_requests']} requests of {lengths}, {basis}"]
    parts = {
        "f": "s per request",
        "c": "s per computed token",
        "q": "s per computed token and token before it",
        "k": "s per cached token",
    }
    law = " + ".join(f"{found['law'][name]:.3g} {unit}" for name, unit in parts.items() if found["law"][name] > 0)
    said.append(f"family    {FAMILIES[found['family']]}: {law}")
    if found["miss_tokens"] is not None:
        computed = f"all computed {found['miss_tokens']} tokens"
        said.append(f"          {computed}: a fixed cost counts as computing, and loading as attention")
    off = f"{found['line_median_deviation']:.0%} (median) to {found['line_worst_deviation']:.0%}"
    said += [
        f"residual  {found['residual']:.1%}; curve against the medians: {_deviations(found)}",
        f"line      none through these points, whose lengths differ: it would be off by {off}",
        f"singular  {rates(found['singular_hit_rates'])}",
        f"by length at a price ratio of {found['price_ratio']:g}, from the law:",
    ]
    for line in found["lines"]:
        said.append(
            f"{line['input_tokens']:>9.0f} tps0 {line['tps0']:.0f} tokens/s, a {line['a']:.3f}, "
            f"line {line_words(line['line_good_until_hit_rate'])}; {valley_words(line)}"
        )
    return [*said, *doubt(found)]


def _curve_fields(curve: CurveFit, basis: str) -> dict[str, Any]:
    return {
        "estimator": curve.estimator,
        "time_basis": basis,
        "input_tokens": curve.reference_input_tokens,
        "tps0": curve.tps0,
        "tps0_low": curve.tps0_low,
        "tps0_high": curve.tps0_high,
        "a": curve.a,
        "a_low": curve.a_low,
        "a_high": curve.a_high,
        "residual": curve.residual_scale,
        "n_requests": curve.n_requests,
        "trustworthy": curve.trustworthy,
        "reasons": list(curve.reasons),
    }


def _line_fields(line: LengthLine, price_ratio: float) -> dict[str, Any]:
    return {
        "input_tokens": line.input_tokens,
        "tps0": line.line.tps0,
        "a": line.line.a,
        "line_good_until_hit_rate": line.good_until_hit_rate,
        **valley_fields(line.line.a, price_ratio),
    }


def _deviations(found: dict[str, Any]) -> str:
    return f"median {found['median_deviation']:.1%}, worst {found['worst_deviation']:.1%}"


def _chunk_words(found: dict[str, Any]) -> str:
    if not found["chunk_searched"]:
        return f"not looked for: fewer than {MIN_CHUNK_POINTS} hit rates"
    if found["chunk_tokens"] is None:
        return f"none of {CHUNK_TOKENS[0]} to {CHUNK_TOKENS[-1]} tokens shows"
    said = tail_words(found["chunk_tokens"], found["step_s"], found["tail_hit_rates"])
    tails = found["tail_singular_hit_rates"]
    return f"{said}, which explains {rates(tails)}" if tails else said
