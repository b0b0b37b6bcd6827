"""
The heat map of a deployment: hour × hit-rate bin, shaded by the share of the hour's requests.

Belongs here: how bins are pooled and shaded.
Does not belong here: how they are counted (`sql`), colours (the template).
"""

import bisect
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from markupsafe import Markup

from pipelines.display import as_utc, count, share
from pipelines.report_input import HeatCell
from pipelines.svg import box, drawing, joined, path, text, units

# Rows from the bottom: exactly 0, then from each edge to the next (5 % wide, but 95–99 % and 99–100 %), exactly 1.
_EDGES = (*(k / 20 for k in range(20)), 0.99)
_N_ROWS = len(_EDGES) + 2
_SHADES = (0.02, 0.05, 0.10, 0.20, 0.40, 0.70, 1.00)  # upper ends of the shares of one shade
_LONGEST_HOURS = 168
_HOUR = timedelta(hours=1)
_WIDTH, _LEFT, _RIGHT = 920.0, 104.0, 12.0
_VOLUME_TOP, _VOLUME_HEIGHT = 8.0, 30.0
_TOP, _ROW, _OWN_ROW = 48.0, 9.0, 15.0


def heat_map(cells: Sequence[HeatCell], *, chart_id: str) -> Markup:
    """
    Draw the hourly distribution of per-request hit rates, with the requests of each hour as bars above.

    1 % bins are pooled to 5 %; 99 to 100 %, exactly 0 and exactly 1 keep a row each. Whole UTC days are drawn, the last
    7 of them where there are more.
    """
    requests: Counter[tuple[datetime, int]] = Counter()
    totals: Counter[datetime] = Counter()
    for cell in cells:
        hour = as_utc(cell.hour_utc)
        requests[hour, row_of(cell.bin_low, cell.bin_high)] += cell.n_requests
        totals[hour] += cell.n_requests
    if not totals:
        return Markup("")
    hours, is_cut = _span(totals)
    column = (_WIDTH - _LEFT - _RIGHT) / len(hours)
    parts = [path(box(_LEFT, _TOP, _WIDTH - _LEFT - _RIGHT, _row_top(0) + _OWN_ROW - _TOP), "ground")]
    parts += [_volume(hours, totals, column), *_shaded(hours, requests, totals, column), _hit_rate_axis()]
    parts += [_time_axis(hours, column), _key()]
    return drawing(
        *parts,
        chart_id=chart_id,
        title="Hit rates of requests, hour by hour",
        description=_description(totals, requests, is_cut=is_cut),
        width=_WIDTH,
        height=_row_top(0) + _OWN_ROW + 78,
    )


def row_of(bin_low: float, bin_high: float) -> int:
    """Find the row of a bin, counted from the bottom; a bin without width at 0 or 1 has its own."""
    if bin_high <= 0:
        return 0
    return _N_ROWS - 1 if bin_low >= 1 else bisect.bisect_right(_EDGES, bin_low + 1e-9)


def shade_of(part: float) -> int:
    """Find the shade of a share of requests in (0, 1]; 1 is the faintest."""
    return bisect.bisect_left(_SHADES, min(part, 1.0) - 1e-12) + 1


def _span(totals: Counter[datetime]) -> tuple[list[datetime], bool]:
    first = min(totals).replace(hour=0)
    last = max(totals).replace(hour=23)
    hours = [first + k * _HOUR for k in range(round((last - first) / _HOUR) + 1)]
    return hours[-_LONGEST_HOURS:], len(hours) > _LONGEST_HOURS


def _row_top(row: int) -> float:
    """Place a row: the top two and the bottom one are taller, and stand apart by a little."""
    if row >= _N_ROWS - 2:
        return _TOP + (_N_ROWS - 1 - row) * (_OWN_ROW + 1)
    return _TOP + 2 * (_OWN_ROW + 1) + 2 + (_N_ROWS - 3 - row) * _ROW + (2 if row == 0 else 0)


def _shaded(
    hours: list[datetime], requests: Counter[tuple[datetime, int]], totals: Counter[datetime], column: float
) -> list[Markup]:
    """Draw the cells, one path a shade."""
    steps = [""] * (len(_SHADES) + 1)
    gap = 1.0 if column > 6 else 0.0
    for k, hour in enumerate(hours):
        for row in range(_N_ROWS):
            if n := requests[hour, row]:
                height = _ROW if 0 < row < _N_ROWS - 2 else _OWN_ROW
                cell = box(_LEFT + k * column, _row_top(row), column - gap, height - min(gap, 0.5))
                steps[shade_of(n / totals[hour])] += cell
    return [path(drawn, f"shade s{shade}") for shade, drawn in enumerate(steps) if drawn]


def _volume(hours: list[datetime], totals: Counter[datetime], column: float) -> Markup:
    most = max(totals[hour] for hour in hours)
    bottom = _VOLUME_TOP + _VOLUME_HEIGHT
    steps = ""
    for k, hour in enumerate(hours):
        height = _VOLUME_HEIGHT * totals[hour] / most if most else 0
        steps += box(_LEFT + k * column, bottom - height, max(column - 1, column * 0.8), height) if height else ""
    return joined(
        (
            path(steps, "volume"),
            text(_LEFT - 8, bottom - 17, "requests", anchor="end"),
            text(_LEFT - 8, bottom - 2, f"up to {count(most)}", anchor="end"),
        )
    )


def _hit_rate_axis() -> Markup:
    own = ((_N_ROWS - 1, "exactly 100 %"), (_N_ROWS - 2, "99 to 100 %"), (0, "exactly 0 %"))
    names = [text(_LEFT - 8, _row_top(row) + 11.5, name, anchor="end") for row, name in own]
    names += [
        text(_LEFT - 8, _row_top(row) + _ROW + 4, f"{k} %", anchor="end")
        for k, row in ((20, 5), (40, 9), (60, 13), (80, 17))
    ]
    return joined(names)


def _time_axis(hours: list[datetime], column: float) -> Markup:
    bottom = _row_top(0) + _OWN_ROW
    n_days = len(hours) // 24
    parts, marks = [], ""
    for k, hour in enumerate(hours):
        x = _LEFT + k * column
        if hour.hour % (6 if n_days > 2 else 3) == 0:
            marks += f"M{units(x)} {units(bottom + 1)}v{6 if hour.hour == 0 else 4}"
        if n_days <= 2 and hour.hour % 3 == 0:
            parts.append(text(x, bottom + 18, f"{hour:%H:%M}"))
        if hour.hour == 0:
            parts.append(text(x + 12 * column, bottom + (34 if n_days <= 2 else 20), f"{hour:%Y-%m-%d} (UTC)"))
    return joined((path(marks, "axis"), *parts))


def _key() -> Markup:
    y = _row_top(0) + _OWN_ROW + 52
    x, low, parts = _LEFT, 0, [text(_LEFT - 8, y + 11, "share of hour", anchor="end")]
    for shade, high in enumerate(_SHADES, start=1):
        parts += [
            path(box(x, y, 22, 14), f"shade s{shade}"),
            text(x + 28, y + 11, f"{low}–{high * 100:.0f} %", anchor="start"),
        ]
        x, low = x + 106, round(high * 100)
    return joined(parts)


def _description(totals: Counter[datetime], requests: Counter[tuple[datetime, int]], *, is_cut: bool) -> str:
    everything = totals.total()
    zero = sum(n for (_, row), n in requests.items() if row == 0)
    high = sum(n for (_, row), n in requests.items() if row >= _N_ROWS - 2)
    said = (
        f"{count(everything)} requests in {len(totals)} hours; {share(zero / everything)} of them hit nothing,"
        f" {share(high / everything)} hit 99 % or more."
        if everything
        else "No requests."
    )
    return f"{said} Only the last {_LONGEST_HOURS // 24} days are drawn." if is_cut else said
