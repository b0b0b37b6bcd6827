"""Where in a JSON text the records are: their own characters are kept, so that nothing of them is rounded or lost.

Belongs here: finding spans without building the whole document in memory. Does not belong here: files (`readers`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator

_SPACE = re.compile(r"[ \t\r\n]*")
# Numbers stay text: the decoder only finds where a value ends, and Python's limit on digits is no rule of ours.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


def find_spans(text: str, where: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield where each record begins and ends, as keys (`*` for any) lead to it from the top of a document.

    Without keys a record is a document, or an element of one that is an array. Raises ValueError where the text is no
    JSON, RecursionError where it is nested too deeply.
    """
    at = _skip(text, 0)
    while at < len(text):
        at = yield from _members(text, at, where or (("*",) if text[at] == "[" else ()))
        at = _skip(text, at)


def leading_keys(text: str) -> list[str]:
    """Return the keys of the object that a text begins with, or that its array begins with, as far as the text goes."""
    keys: list[str] = []
    at = _skip(text, 0)
    if text[at : at + 1] == "[":
        at = _skip(text, at + 1)
    if text[at : at + 1] != "{":
        return keys
    at = _skip(text, at + 1)
    try:
        while text[at : at + 1] == '"':
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _expect(text, _skip(text, at), ":"))
            keys.append(key)
            at = _skip(text, _value_end(text, at))
            at = _skip(text, _expect(text, at, ","))
    except (ValueError, RecursionError):
        return keys  # the object ends, or the text does
    return keys


def _members(text: str, at: int, where: tuple[str, ...]) -> Generator[tuple[int, int], None, int]:
    """Yield the spans of the values that `where` names within the value at `at`; return where that value ends."""
    if not where or text[at : at + 1] not in ("[", "{"):
        end = _value_end(text, at)
        if not where:
            yield at, end
        return end
    is_object = text[at] == "{"
    close = "}" if is_object else "]"
    at = _skip(text, at + 1)
    is_more = text[at : at + 1] != close
    while is_more:
        key = "*"
        if is_object:
            _expect(text, at, '"')
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _expect(text, _skip(text, at), ":"))
        if where[0] in ("*", key):
            at = yield from _members(text, at, where[1:])
        else:
            at = _value_end(text, at)
        at = _skip(text, at)
        is_more = text[at : at + 1] != close
        if is_more:
            at = _skip(text, _expect(text, at, ","))
    return at + 1


def _value_end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _expect(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise json.JSONDecodeError(f"{mark!r} is missing", text, at)
    return at + 1
