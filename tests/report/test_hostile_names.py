"""No name from a log becomes markup, whatever it is and wherever it stands."""

import unicodedata
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from pipelines.display import shown
from pipelines.report import DeploymentReport, Report, render_report

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

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        self.targets.update(value or "" for name, value in attrs if name in ("href", "src"))

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


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_inert_in_every_field(text: str, in_valley: DeploymentReport) -> None:
    plain = _parsed(render_report(_named(in_valley, "plain")))
    html = render_report(_named(in_valley, text))
    seen = _parsed(html)
    assert seen.elements == plain.elements
    assert "script" not in seen.elements
    assert seen.attributes == plain.attributes
    assert not [name for name in seen.attributes if name.startswith("on")]
    assert all(target.startswith("#d-") or target == "data:," for target in seen.targets)
    assert not seen.other
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
