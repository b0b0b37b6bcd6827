"""
The report's figures: what was found → Vega-Lite specifications, the script that draws them, and pictures.

Belongs here: what is drawn and how it is said to those who cannot see it. Does not belong here: reading marts, pages,
fitting; names from logs are texts here and nothing else.

A figure is a pure function of a view of `report_input`: the same view gives the same specification. None means that
there is nothing to draw. Its title and caption, for the page to set, are in `usermeta`.
"""

from pipelines.report_figures.bathtub import bathtub
from pipelines.report_figures.curve_details import curve_families, throughput_by_length
from pipelines.report_figures.distribution import requests_by_hit_rate
from pipelines.report_figures.gallery import FIGURES, figures_of
from pipelines.report_figures.heat import hit_rates_by_hour
from pipelines.report_figures.levers import levers
from pipelines.report_figures.pictures import FORMATS, Format, picture, write_figures
from pipelines.report_figures.revenue import revenue
from pipelines.report_figures.script import script, script_name
from pipelines.report_figures.spec import Spec
from pipelines.report_figures.theme import ThemeName, theme, tokens
from pipelines.report_figures.throughput import hit_throughput, throughput
from pipelines.report_figures.timelines import episodes, sparkline
from pipelines.report_figures.waterfall import waterfall

__all__ = [
    "FIGURES",
    "FORMATS",
    "Format",
    "Spec",
    "ThemeName",
    "bathtub",
    "curve_families",
    "episodes",
    "figures_of",
    "hit_rates_by_hour",
    "hit_throughput",
    "levers",
    "picture",
    "requests_by_hit_rate",
    "revenue",
    "script",
    "script_name",
    "sparkline",
    "theme",
    "throughput",
    "throughput_by_length",
    "tokens",
    "waterfall",
    "write_figures",
]
