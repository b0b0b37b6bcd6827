"""What the web interface is given: a small picture, and names that are nothing but text."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree as ET

import pytest

from pipelines.report_figures.day_index import MAX_ROWS, index_by_hour, index_by_hour_markdown
from pipelines.report_figures.pictures import picture
from pipelines.report_figures.png import SIGNATURE

SVG = "{http://www.w3.org/2000/svg}"
FLAT: list[float | None] = [1.1] * 12 + [None] * 6 + [0.5] * 6
MOST_BYTES = 64 * 1024
"""Of a day's picture: the orchestrator's database keeps it for every day and try."""


def drawn(markdown: str) -> bytes:
    match = re.fullmatch(r"!\[revenue index by UTC hour\]\(data:image/png;base64,([A-Za-z0-9+/=]+)\)", markdown)
    assert match is not None
    return base64.b64decode(match[1], validate=True)


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "](javascript:alert(1))", "a|b`c`", "\x1b[2J\u202ex", "", "a.b[0]"]
)
def test_a_name_is_text_in_the_picture_and_nowhere_else(name: str) -> None:
    spec = index_by_hour({name: FLAT})
    assert spec is not None
    image = ET.fromstring(picture(spec, "svg"))
    assert {element.tag.removeprefix(SVG) for element in image.iter()} <= {
        "svg", "g", "path", "rect", "line", "text", "tspan", "defs", "clipPath", "linearGradient", "stop", "title",
    }  # fmt: skip
    assert not [key for element in image.iter() for key in element.attrib if key.startswith("on") or "href" in key]
    assert drawn(index_by_hour_markdown({name: FLAT})).startswith(SIGNATURE)


def test_known_hours_are_cells_and_unknown_ones_are_left_blank() -> None:
    spec = index_by_hour({"pool": FLAT})
    assert spec is not None
    cells = spec["datasets"]["cells"]
    assert [(cell["hour"], cell["index"]) for cell in cells] == [
        (hour, value) for hour, value in enumerate(FLAT) if value is not None
    ]
    assert spec["datasets"]["newest"] == [{"row": 0, "hour": 23, "index": 0.5, "name": "0.500"}]


def test_a_picture_is_small_has_so_many_rows_and_without_hours_is_a_sentence() -> None:
    many: dict[str, list[float | None]] = {
        f"{n}" * 40: [0.7 + (n * 7 + hour) % 60 / 100 for hour in range(24)] for n in range(99)
    }
    spec = index_by_hour(many)
    assert spec is not None
    assert len(spec["params"][-1]["value"]) == MAX_ROWS
    assert f"{99 - MAX_ROWS} more" in spec["usermeta"]["caption"]
    assert 5_000 < len(index_by_hour_markdown(many)) < MOST_BYTES
    assert index_by_hour_markdown({"pool": [None] * 24}) == index_by_hour_markdown({}) == "No hour has a revenue index."
