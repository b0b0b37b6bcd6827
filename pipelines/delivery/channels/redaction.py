"""Secrets taken out of what the other side says, before anybody sees it: error pages like to quote the path asked for.

Belongs here: which spellings of a secret there are. Does not belong here: our own messages, which never hold one.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote

from pydantic import SecretStr

from pipelines.display import shown

_REMOVED = "[removed]"
_LONGEST_QUOTE = 200
_SHORTEST_PART = 4
"""Parts of a path or query shorter than that are no secret: `v2`, `api`."""


class Redaction:
    """What one channel's secrets look like, taken out of any text."""

    def __init__(self, secrets: Iterable[SecretStr | None]) -> None:
        spellings = {s for secret in secrets if secret is not None for s in _spellings(secret.get_secret_value())}
        longest_first = sorted(spellings, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)", re.IGNORECASE)

    def quoted(self, said: bytes) -> str:
        """Return what the other side said, without secrets, inert, on one line and cut at 200 characters.

        Empty where it said nothing.
        """
        text = self._pattern.sub(_REMOVED, " ".join(said.decode("utf-8", "replace").split()))
        return shown(text, _LONGEST_QUOTE)[:_LONGEST_QUOTE] if text else ""


def _spellings(secret: str) -> Iterator[str]:
    parts = [part for part in re.split(r"[/?&=]", secret) if len(part) >= _SHORTEST_PART]
    for text in [secret, *parts] if len(secret) >= _SHORTEST_PART else parts:
        for spelling in (text, unquote(text), quote(text, safe="")):
            yield from (spelling, html.escape(spelling))
        yield base64.b64encode(text.encode()).decode()
