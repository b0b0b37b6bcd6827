"""What every section of a configuration has in common: closed keys, and how its faults are said.

Belongs here: the base model and the wording of faults. Does not belong here: any section's keys (`settings`, `prices`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pipelines.object_url import redacted

NonEmpty = Annotated[str, Field(min_length=1, max_length=256)]


class Section(BaseModel):
    """A table of keys: none but those declared, none changed after reading, no value of another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)` for the known name closest to `name`, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def fault_text(fault: Any, known_keys: Iterable[str]) -> str:
    """Say what a fault found by pydantic is, without its place: rule and value, or the nearest of `known_keys`."""
    if fault["type"] == "extra_forbidden":
        return f"unknown key{nearest(str(fault['loc'][-1]), known_keys)}"
    if fault["type"] == "missing":
        return "required, but not given"
    value = fault["input"]
    if fault["loc"] and fault["loc"][-1] == "currency":
        return f"must be three capital letters, such as USD, not {value!r}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    shown = redacted(value) if isinstance(value, str) else value
    return message if isinstance(value, dict) else f"{message}, not {shown!r}"
