"""No name from a log becomes markup, whatever it is and wherever it stands."""

import json
import re
import unicodedata
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from pipelines.display import shown
from pipelines.report_input import DeploymentReport, Report
from tests.report.publishing import pages_of

HOSTILE = {
    "path": "../../etc/x",
    "sql": "a'; DROP TABLE core.requests;--",
    "quote": '"',
    "parameter": "$1",
    "formats": "%s{0}{{7*7}}{% raw %}{# x",
    "script": "<script>alert(1)</script>",
    "image": '"><img src=x onerror=alert(1)>',
    "title": "</title></desc></style></svg>",
    "url": "javascript:alert(1)",
    "formula": "=cmd|'/c calc'!A1",
    "plus": "+1",
    "minus": "-1",
    "at": "@SUM(1)",
    "tab": "\t=1",
    "carriage return": "\r=1",
    "slack channel": "<!channel>",
    "slack user": "<@U1>",
    "slack link": "<https://evil|click>",
    "entity": "&lt;b&gt;",
    "header": "\r\nX-Header: 1",
    "terminal": "\x1b[2J",
    "terminal link": "\x1b]8;;https://evil\x1b\\click\x1b]8;;\x1b\\",
    "right to left": "abc\u202efdp.exe",
    "zero width": "a\u200bb\ufeff",
    "homoglyph": "glm-\u0435\u0430",
    "composed": "caf\u00e9",
    "decomposed": "cafe\u0301",
    "emoji": "🔥" * 256,
    "nul": "a\x00b",
    "megabyte": "x" * 1_000_000,
    "surrogate": "\ud800",
    "comment": "--><!--",
    "cdata": "]]>",
    "prototype": "__proto__",
    "null": "null",
    "nan": "NaN",
    "empty": "",
    "spaces": "   ",
    "device": "CON",
    "dot": ".",
    "dots": "..",
}


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.targets: set[str] = set()
        self.other: list[str] = []
        self.data: list[str] = []
        self._in_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        self.targets.update(value or "" for name, value in attrs if name in ("href", "src", "action"))

        self._in_data = tag == "script" and ("type", "application/json") in attrs

    def handle_endtag(self, tag: str) -> None:
        self._in_data = self._in_data and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._in_data:
            self.data.append(data)

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def unknown_decl(self, data: str) -> None:
        self.other.append(data)


def _parsed(html: str) -> _Seen:
    seen = _Seen()
    seen.feed(html)
    seen.close()
    return seen


def _named(page: DeploymentReport, text: str) -> Report:
    """Put the text into every field that can hold one."""
    curve = replace(page.curve, estimator=text, reasons=(text,)) if page.curve else None
    verdict = replace(page.verdict, currency=text, lever=text, regime=text, side=text, reasons=(text,))
    hours = tuple(replace(hour, state=text, side=text, reasons=(text, text)) for hour in page.hours)
    named = replace(page, name=text, model=text, verdict=verdict, hours=hours, curve=curve)
    unknown = DeploymentReport(name=text + "2", verdict=replace(verdict, state="unknown"))
    odd = DeploymentReport(name=text + "3", verdict=replace(verdict, state=text))
    now = datetime(2026, 3, 5, tzinfo=UTC)
    return Report(generated_at=now, deployments=(named, unknown, odd), quarantined=((text, 3),))


_OWN_FILES = re.compile(
    r"(d-[0-9a-f]{16}\.html|index\.html#d-[0-9a-f]{16}|#main|data:,|report\.css|[a-z_]+\.js|figures-[0-9a-f]{12}\.js)"
)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_inert_in_every_field(text: str, in_valley: DeploymentReport) -> None:
    plain = [_parsed(html) for html in pages_of(_named(in_valley, "plain")).values()]
    pages = pages_of(_named(in_valley, text))
    assert len(pages) == len(plain) == 4
    for (name, html), expected in zip(pages.items(), plain, strict=True):
        seen = _parsed(html)
        assert _OWN_FILES.fullmatch(name) or name == "index.html"
        assert seen.elements == expected.elements
        assert seen.attributes == expected.attributes
        assert not [attribute for attribute in seen.attributes if attribute.startswith("on")]
        assert all(_OWN_FILES.fullmatch(target) for target in seen.targets)
        assert not seen.other
        assert all(isinstance(json.loads(data), dict) for data in seen.data)
        assert not [data for data in seen.data if re.search("[<>&]", data)]
        assert len(html) < 2 * 60_000
        html.encode()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_shown_text_is_short_visible_and_on_one_line(text: str) -> None:
    seen = shown(text)
    assert 0 < len(seen.strip()) < 800
    assert all(unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in seen)


def test_different_names_look_different() -> None:
    names = [*HOSTILE.values(), "x" * 999_999, "🔥" * 255]
    assert len({shown(name) for name in names}) == len(names)


def test_an_ordinary_name_is_shown_as_it_is() -> None:
    assert shown("Qwen/Qwen3-235B-A22B@h200 (生产)") == "Qwen/Qwen3-235B-A22B@h200 (生产)"
