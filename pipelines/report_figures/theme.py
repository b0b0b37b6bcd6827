"""
The look of the figures: a few colour tokens, light and dark, and Vega's configuration made of them.

Belongs here: colours, type, the styles that marks name. Does not belong here: what is drawn (the figures), pages.

A specification names styles and never colours, so one specification is drawn in either theme. Hues follow Okabe and
Ito, Color universal design (2008), which stay apart for colour-blind readers; for the dark theme they are lightened.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

ThemeName: TypeAlias = Literal["light", "dark"]
THEMES: tuple[ThemeName, ...] = get_args(ThemeName)
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours there are. ink, muted, rule, surface: text to ground. main: what was found. loss, gain: money lost
    and earned. other: what it is compared with. faint, full: the ends of the heat map's shades."""

    surface: str
    ink: str
    muted: str
    rule: str
    main: str
    loss: str
    gain: str
    other: str
    faint: str
    full: str


TOKENS: dict[ThemeName, Tokens] = {
    "light": Tokens(
        surface="#ffffff", ink="#1b2026", muted="#59636e", rule="#dfe3e8", main="#0067a5", loss="#c44e00",
        gain="#007d5c", other="#8a5a83", faint="#e4eef6", full="#053c63",
    ),
    "dark": Tokens(
        surface="#14181d", ink="#e8ecf0", muted="#a3adb8", rule="#323a43", main="#5cb6ec", loss="#ff8f4f",
        gain="#3ccb9b", other="#d79fcb", faint="#1d2b38", full="#b8e0fa",
    ),
}  # fmt: skip


def tokens(name: ThemeName) -> dict[str, str]:
    """Return a theme's colours by token, for style sheets."""
    return asdict(TOKENS[name])


def theme(name: ThemeName) -> dict[str, Any]:
    """Return Vega-Lite's configuration of a theme; it goes with any specification of this package."""
    of = TOKENS[name]
    return {
        "background": of.surface,
        "font": FONT,
        "padding": {"left": 2, "right": 6, "top": 4, "bottom": 2},
        "view": {"stroke": None},
        "mark": {"aria": False},
        "title": {
            "anchor": "start", "frame": "bounds", "color": of.ink, "fontSize": 14, "fontWeight": 600, "offset": 14,
            "subtitleColor": of.muted, "subtitleFontSize": 11.5, "subtitlePadding": 5,
        },
        # The description says what is seen; axes read out would drown it, and take room for labels for values.
        "axis": {
            "aria": False,
            "labelColor": of.muted, "titleColor": of.muted, "labelFontSize": 11, "titleFontSize": 11,
            "titleFontWeight": "normal", "gridColor": of.rule, "gridWidth": 0.75, "domainColor": of.muted,
            "tickColor": of.muted, "tickSize": 4, "labelPadding": 4,
        },
        "axisX": {"grid": False, "titlePadding": 8, "labelFlush": False},
        # A title that stands on its side is read by nobody: it stands level above the axis.
        "axisY": {
            "domain": False, "ticks": False, "titleAngle": 0, "titleAlign": "left", "titleAnchor": "end",
            "titleX": 0, "titleY": -10, "titleBaseline": "bottom",
        },
        "legend": {
            "labelColor": of.muted, "titleColor": of.muted, "labelFontSize": 11, "titleFontSize": 11,
            "titleFontWeight": "normal",
        },
        "range": {"heatmap": [of.faint, of.full], "ramp": [of.faint, of.full],
                  "diverging": [of.loss, of.rule, of.gain]},
        "style": _styles(of),
    }  # fmt: skip


def _styles(of: Tokens) -> dict[str, dict[str, Any]]:
    """Return what marks look like by the style they name; a mark's type (line, bar, mark …) must not be such a name."""
    text = {"fontSize": 11}
    thin = {"strokeWidth": 1}
    return {
        "dots": {"color": of.main, "fillOpacity": 0.4},
        "law": {"color": of.main, "strokeWidth": 2.25},
        "doubtful": {"color": of.main, "strokeWidth": 1.75, "strokeDash": [5, 4]},
        "band": {"color": of.main, "fillOpacity": 0.16},
        "straight": {"color": of.other, "strokeWidth": 1.5, "strokeDash": [6, 4]},
        "limit": {"color": of.muted, "strokeDash": [2, 3], **thin},
        "parity": {"color": of.ink, **thin},
        "singular": {"color": of.loss, "strokeWidth": 2, "filled": False},
        "path": {"color": of.ink, "strokeOpacity": 0.4, **thin},
        "hours": {"color": of.ink, "fillOpacity": 0.6},
        "whisker": {"color": of.ink, "strokeWidth": 2},
        "halo": {"color": of.surface},
        "here": {"color": of.ink},
        "falling": {"color": of.loss, "fillOpacity": 0.12},
        "rising": {"color": of.loss, "fillOpacity": 0.06},
        "past": {"color": of.gain, "fillOpacity": 0.1},
        "plain": {"color": of.muted, "fillOpacity": 0.55},
        "loss": {"color": of.loss},
        "gain": {"color": of.gain},
        "chosen": {"color": of.main},
        "miss-part": {"color": of.main, "fillOpacity": 0.45},
        "hit-part": {"color": of.gain, "fillOpacity": 0.45},
        "total": {"color": of.ink, "strokeWidth": 1.75},
        "spark": {"color": of.main, "strokeWidth": 1.5},
        "note": {"color": of.muted, **text},
        "strong": {"color": of.ink, "fontWeight": 600, **text},
        "note-main": {"color": of.main, "fontWeight": 600, **text},
        "note-other": {"color": of.other, "fontWeight": 600, **text},
        "note-gain": {"color": of.gain, "fontWeight": 600, **text},
    }
