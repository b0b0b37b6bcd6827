"""
What draws the figures in a page: Vega, Vega-Lite and Vega-Embed as one script that fetches nothing.

Belongs here: the bundle and the one function it defines. Does not belong here: specifications, what a page does with
them.

Seen in Chromium, in a page opened from a file with the policy ``default-src 'none'; script-src 'self' (or the scripts'
hashes); style-src <hash>; img-src data: blob:``: figures are drawn and exported as PNG and SVG without a violation and
without 'unsafe-eval', because expressions are interpreted from their syntax tree (`ast`) and no <style> element is
added (`defaultStyle`). 'self' allows a script beside the page on the file scheme as well; a hash with `integrity` does
not. Tooltips are the browser's own (the element's title): text, whatever it says.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.metadata import version

from pipelines.report_figures.theme import THEMES, theme

_DRAW = """
const themes = %s;
window.valleywatchThemes = themes;
window.valleywatchDraw = async (element, spec, options = {}) => {
  const { theme, ...rest } = options;
  const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const fixed = { mode: "vega-lite", ast: true, defaultStyle: false, actions: false, tooltip: false };
  const config = themes[theme ?? (isDark ? "dark" : "light")];
  const result = await vegaEmbed(element, spec, { renderer: "svg", config, ...rest, ...fixed });
  return result.view;
};
"""


def script_name() -> str:
    """Return a file name for the script, another one for every other script; it costs nothing to ask."""
    made_of = (version("vl-convert-python"), _drawing())
    return f"figures-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:12]}.js"


@cache
def script() -> str:
    """
    Return the script, the same on every call: about 0.9 MB, 0.3 MB when compressed; made in 4 s, once a process.

    It defines ``valleywatchDraw(element, spec, options) -> Promise<view>`` on the window. options: `theme`, "light" or
    "dark" (by default what the reader prefers), and Vega-Embed's own, such as `renderer`. To draw in another theme,
    call ``view.finalize()`` and draw again; ``view.toImageURL("png" or "svg", scale)`` exports.
    """
    from vl_convert import javascript_bundle  # only publishing needs it

    return javascript_bundle(_drawing())


def _drawing() -> str:
    return _DRAW % json.dumps({name: theme(name) for name in THEMES}, sort_keys=True)
