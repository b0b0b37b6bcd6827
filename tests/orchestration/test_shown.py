"""What the web interface is given: a plot that is a well-formed image, and names that are nothing but text."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree as ET

import pytest

from pipelines.small_plot import MAX_ROWS, index_by_hour

SVG = "{http://www.w3.org/2000/svg}"
FLAT: list[float | None] = [1.1] * 12 + [None] * 6 + [0.5] * 6


def drawn(markdown: str) -> ET.Element:
    match = re.fullmatch(r"!\[revenue index by UTC hour\]\(data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)", markdown)
    assert match is not None
    return ET.fromstring(base64.b64decode(match[1]))


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "](javascript:alert(1))", "a|b`c`", "\x1b[2J\u202ex", "", "&lt;b&gt;"]
)
def test_a_name_is_text_in_an_image(name: str) -> None:
    image = drawn(index_by_hour({name: FLAT}))
    assert {element.tag.removeprefix(SVG) for element in image.iter()} == {"svg", "rect", "line", "text"}
    assert not [key for element in image.iter() for key in element.attrib if key.startswith("on") or "href" in key]


def test_hours_are_bars_above_and_below_one_and_unknown_hours_are_none() -> None:
    bars = list(drawn(index_by_hour({"pool": FLAT})).iter(f"{SVG}rect"))[1:]
    assert len(bars) == 18
    assert len({bar.attrib["fill"] for bar in bars[:12]} | {bars[-1].attrib["fill"]}) == 2
    assert all(float(bar.attrib["y"]) >= 0 and float(bar.attrib["height"]) > 0 for bar in bars)


def test_a_plot_has_so_many_rows_and_none_is_no_error() -> None:
    assert len(list(drawn(index_by_hour({f"{n}": FLAT for n in range(99)})).iter(f"{SVG}line"))) == MAX_ROWS
    assert list(drawn(index_by_hour({})).iter(f"{SVG}line")) == []
