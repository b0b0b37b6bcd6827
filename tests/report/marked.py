"""What a page says, as marks and prose: numbers with the view, row and column they claim to be of, sentences, the rest.

Belongs here: reading a page. Does not belong here: what should be there (`test_numbers`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "link", "input", "img", "br"}
_UNSEEN = {"script", "style", "title", "noscript", "option"}


@dataclass
class Number:
    """A marked number: `value` as the markup has it, `text` as people see it, its hour where its row has one."""

    view: str
    deployment: str | None
    row: int | None
    column: str
    value: str
    hour: str | None
    text: str = ""


@dataclass
class Marked(HTMLParser):
    """The page: numbers; sentences by what they are said of; text that is in neither."""

    numbers: list[Number] = field(default_factory=list)
    said: list[tuple[str, str]] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    name: str | None = None

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[tuple[str, dict[str, str]]] = []
        self._hour: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        given = {name: value or "" for name, value in attrs}
        if tag == "tr":
            self._hour = None
        self._open.append((tag, given))
        if "data-said" in given:
            self.said.append((given["data-said"], ""))
        if tag == "time" and given["data-column"] == "hour_utc":
            self._hour = given["datetime"]
        if tag in ("data", "time"):
            row = self._nearest("data-row")
            value = given["value"] if tag == "data" else given["datetime"]
            self.numbers.append(
                Number(
                    self._nearest("data-view") or "",
                    self._nearest("data-deployment") or self._nearest("data-anchor"),
                    None if row is None else int(row),
                    given["data-column"],
                    value,
                    self._hour,
                )
            )

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tags = [tag for tag, _ in self._open]
        if any(tag in _UNSEEN for tag in tags) or self._nearest("data-prose") is not None:
            return
        if "data" in tags or "time" in tags:
            self.numbers[-1].text += data
        elif self._nearest("data-said") is not None:
            kind, text = self.said[-1]
            self.said[-1] = (kind, text + data)
        elif "bdi" not in tags:
            self.rest.append(data)

    def _nearest(self, attribute: str) -> str | None:
        return next((given[attribute] for _, given in reversed(self._open) if attribute in given), None)


def marked(html: str) -> Marked:
    """Read a page."""
    page = Marked()
    page.feed(html)
    page.close()
    return page
