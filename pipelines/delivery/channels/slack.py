"""Slack: an incoming webhook, or anything that takes its messages.

Belongs here: blocks and the text for where there are none. Does not belong here: how it is posted (`post`). Names stand
in plain text only, where nothing is markup; what is escaped is `&`, `<` and `>`, and nothing else, as Slack asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from pipelines.delivery.channels import forms
from pipelines.delivery.channels.post import Post, encoded
from pipelines.delivery.notice import Notice

_HEADER_LIMIT = 150
_TEXT_LIMIT = 3000
_FIELD_LIMIT = 2000
_MOST_FIELDS = 10
_MOST_BLOCKS = 50
"""Of Slack's block kit, in UTF-16 units as the strictest reading."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@dataclass(frozen=True)
class SlackChannel:
    """One channel of a workspace."""

    label: str
    post: Post
    notices_at_once: ClassVar[int] = 1
    is_for_people: ClassVar[bool] = True
    keeps_alive: ClassVar[bool] = False
    closes_by_key: ClassVar[bool] = False

    def send(self, notices: Sequence[Notice], *, n_more: int, digest_key: str | None, now: datetime) -> None:  # noqa: ARG002
        """Deliver one message; see Channel. A message has no key here."""
        self.post.send(encoded(slack_message(notices, n_more)), now)


def slack_message(notices: Sequence[Notice], n_more: int) -> dict[str, Any]:
    """Return one alert, or several as a digest, as the body of a request."""
    blocks = _alert(notices[0]) if len(notices) == 1 and not n_more else _digest(notices, n_more)
    assert len(blocks) <= _MOST_BLOCKS, f"{len(blocks)} blocks"
    return {
        "text": escaped(_fallback(notices, n_more), _TEXT_LIMIT),
        "mrkdwn": False,
        "parse": "none",
        "link_names": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": blocks,
    }


def escaped(text: str, limit: int) -> str:
    """Escape, and cut what is then longer than `limit` between two characters, never within an entity."""
    kept: list[str] = []
    length = 0
    for character in text:
        written = _ENTITIES.get(character, character)
        length += len(written) + (ord(character) > 0xFFFF)
        kept.append(written)
        if length > limit:
            break
    else:
        return "".join(kept)
    while length > limit - 1:
        written = kept.pop()
        length -= len(written) + (ord(written[0]) > 0xFFFF)
    return "".join(kept) + "…"


def _alert(notice: Notice) -> list[dict[str, Any]]:
    title = _titled(notice)
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(title, _HEADER_LIMIT)}]
    said = list(forms.sentences(notice))
    if len(escaped(title, _TEXT_LIMIT)) > _HEADER_LIMIT:
        said.insert(0, forms.headline(notice))
    if said:
        blocks.append({"type": "section", "text": _plain("\n".join(said), _TEXT_LIMIT)})
    if fields := forms.figures(notice.figures)[:_MOST_FIELDS]:
        texts = [_plain(f"{name}\n{text}", _FIELD_LIMIT) for name, text in fields]
        blocks.append({"type": "section", "fields": texts})
    context = [_plain(f"{forms.subject(notice)} · {forms.since(notice)}", _FIELD_LIMIT)]
    if url := forms.report_link(notice):
        context.append({"type": "mrkdwn", "text": f"<{escaped(url, _FIELD_LIMIT)}|Report>", "verbatim": True})
    blocks.append({"type": "context", "elements": context})
    return blocks


def _digest(notices: Sequence[Notice], n_more: int) -> list[dict[str, Any]]:
    sign = forms.SIGNS[forms.digest_action(notices)]
    title = f"{sign} {forms.digest_title(notices, n_more)}"
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(title, _HEADER_LIMIT)}]
    blocks += [{"type": "section", "text": _plain(_titled(notice), _TEXT_LIMIT)} for notice in notices]
    context = [_plain(forms.n_more_words(n_more), _FIELD_LIMIT)] if n_more else []
    if url := next(filter(None, map(forms.report_link, notices)), None):
        context.append({"type": "mrkdwn", "text": f"<{escaped(url, _FIELD_LIMIT)}|Report>", "verbatim": True})
    return [*blocks, {"type": "context", "elements": context}] if context else blocks


def _fallback(notices: Sequence[Notice], n_more: int) -> str:
    if len(notices) == 1 and not n_more:
        return _titled(notices[0])
    titles = [forms.digest_title(notices, n_more), *map(_titled, notices)]
    return "\n".join([*titles, forms.n_more_words(n_more)] if n_more else titles)


def _titled(notice: Notice) -> str:
    return f"{forms.SIGNS[notice.action]} {forms.WORDS[notice.action]}: {forms.headline(notice)}"


def _plain(text: str, limit: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": escaped(text, limit), "emoji": False}
