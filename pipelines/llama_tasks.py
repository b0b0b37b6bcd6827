"""Lines of llama.cpp's server log → one record a task: what the log tells of a request stands on several lines.

    slot update_slots: id  0 | task 12 | new prompt, n_ctx_slot = 32768, n_keep = 0, task.n_tokens = 1371
    slot update_slots: id  0 | task 12 | n_tokens = 848, memory_seq_rm [848, end)
    slot print_timing: id  0 | task 12 |
    prompt eval time =     230.40 ms /   523 tokens (...)
           eval time =     319.58 ms /    10 tokens (...)
          total time =     549.98 ms /   533 tokens
    slot      release: id  0 | task 12 | stop processing: n_tokens = 1380, truncated = 0

Older servers write n_prompt_tokens for task.n_tokens, `kv cache rm` for memory_seq_rm and runs for tokens, and release
the slot before they print its timings; newer ones repeat the slot in front of every timing. A router writes the port of
the server that a line came from in front of it: tasks of two servers never mix.

A task's record stands at the last of its lines, so that a file that grows gives the same record again. At most
MAX_OPEN_TASKS are held at a time. Belongs here: which lines make a task. Does not belong here: what follows from its
numbers (`sql/formats/llama_cpp_log.sql`), files (`readers`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from pipelines.errors import RejectedFileError

MAX_OPEN_TASKS = 4096
"""Slots that may work at one time; a server has as many as its operator gave it, rarely more than a few dozen."""

_PREFIX = (
    r"(?:(?P<stamp>\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:?\d\d)) (?:(?:stdout|stderr) [FP] )?)?"
    r"(?:\[(?P<process>\d{1,9})\] )?(?:[0-9.]+ )?(?:[A-Z] )?"
)
_SLOT_LINE = re.compile(_PREFIX + r"slot +\S+: +id +(?P<slot>\d{1,9}) \| task +(?P<task>\d{1,18}) \|(?P<text>.*)")
_TIMING_LINE = re.compile(_PREFIX + r" *(?P<text>(?:prompt eval|eval|total) time = .*)")
_CANCEL_LINE = re.compile(_PREFIX + r"srv .*cancel task, id_task = (?P<task>\d{1,18})$")
_TIMING = re.compile(
    r" *(?P<what>prompt eval|eval|total) time = *(?P<ms>\d{1,18}\.\d{1,9}) ms / *(?P<n>\d{1,18}) (?:tokens|runs)"
)
_PROMPT = re.compile(r"\b(?:task\.n_tokens|n_prompt_tokens) = (\d{1,18})")
_REUSED = re.compile(r"\b(?:kv cache rm|memory_seq_rm) \[(\d{1,18}), end\)")
_COLOUR = re.compile(r"\x1b\[[^m\x1b]*m")

Record = tuple[int, int, str]
"""Line number, byte offset and JSON text."""
_Slot = tuple[str | None, int]
"""Port of the server behind a router, or None, and number of the slot."""


@dataclass(slots=True)
class _Task:
    """What is known of a task so far; `at` is the last of its lines."""

    number: int
    at: tuple[int, int]
    facts: dict[str, Any] = field(default_factory=dict)
    is_child: bool = False
    is_cancelled: bool = False
    is_released: bool = False

    def record(self, fate: str) -> list[Record]:
        """Return its record; none for a further answer to the prompt of another task, which is no request."""
        return [] if self.is_child else [(*self.at, json.dumps(self.facts | {"fate": fate}))]


class LlamaTasks:
    """The tasks that are open while a log is read line by line."""

    def __init__(self) -> None:
        self._open: dict[_Slot, _Task] = {}
        self._timed: _Slot | None = None
        """The slot whose timings the next line may go on with."""

    def __len__(self) -> int:
        return len(self._open)

    def read(self, number: int, offset: int, line: str) -> list[Record]:
        """Return the records of the tasks that this line ends."""
        if "\x1b" in line:
            line = _COLOUR.sub("", line)
        at = (number, offset)
        if (found := _SLOT_LINE.match(line)) is not None:
            return self._read_slot_line(found, at)
        timed, self._timed = self._timed, None
        if timed is not None and (found := _TIMING_LINE.match(line)) is not None and found["process"] == timed[0]:
            self._timed = timed
            return self._read_timing(timed, found["text"], at)
        if (found := _CANCEL_LINE.match(line)) is not None:
            for (process, _slot), task in self._open.items():
                if process == found["process"] and task.number == int(found["task"]):
                    task.is_cancelled = True
        return []

    def finish(self) -> list[Record]:
        """Return the records of the tasks that the log leaves open."""
        left = [record for task in self._open.values() for record in task.record(_end_without_timings(task))]
        self._open.clear()
        return sorted(left)

    def _read_slot_line(self, found: re.Match[str], at: tuple[int, int]) -> list[Record]:
        slot = (found["process"], int(found["slot"]))
        number, text = int(found["task"]), found["text"].strip()
        self._timed = None
        if text.startswith("processing task"):
            records = self._begin(slot, number, at)
            self._open[slot].is_child = text.endswith("is_child = 1")
            return records
        if text.startswith("new prompt,"):
            records = [] if self._is_launched(slot, number) else self._begin(slot, number, at)
            self._note(slot, at, started=found["stamp"], **_count("prompt_tokens", _PROMPT, text))
            return records
        if not text or _TIMING.match(text):
            records = [] if self._is_open(slot, number) else self._begin(slot, number, at)
            self._timed = slot
            return records + self._read_timing(slot, text, at)
        if not self._is_open(slot, number):
            return []
        if text.startswith("input truncated,"):
            self._note(slot, at, **_count("prompt_tokens", _PROMPT, text))
        elif "reused_tokens" not in self._open[slot].facts:
            self._note(slot, at, **_count("reused_tokens", _REUSED, text))
        if text.startswith("stop processing"):
            return self._release(slot, at)
        return []

    def _begin(self, slot: _Slot, number: int, at: tuple[int, int]) -> list[Record]:
        """Open a task; return the record of the one that the slot was left with."""
        left = self._open.pop(slot, None)
        process = {} if slot[0] is None else {"process": slot[0]}
        self._open[slot] = _Task(number, at, process | {"slot": slot[1], "task": number})
        if len(self._open) > MAX_OPEN_TASKS:
            raise RejectedFileError(
                "too_many_open_tasks", f"over {MAX_OPEN_TASKS:,} slots at work at one time: is it a llama.cpp log?"
            )
        return left.record(_end_without_timings(left)) if left else []

    def _is_open(self, slot: _Slot, number: int) -> bool:
        return slot in self._open and self._open[slot].number == number

    def _is_launched(self, slot: _Slot, number: int) -> bool:
        return self._is_open(slot, number) and "prompt_tokens" not in self._open[slot].facts

    def _note(self, slot: _Slot, at: tuple[int, int], **facts: Any) -> None:
        task = self._open[slot]
        task.at = at
        task.facts |= facts

    def _read_timing(self, slot: _Slot, text: str, at: tuple[int, int]) -> list[Record]:
        task = self._open.get(slot)
        found = _TIMING.match(text)
        if task is None or found is None:
            return []
        task.at = at
        ms, n_tokens = float(found["ms"]), int(found["n"])
        if found["what"] == "prompt eval":
            task.facts |= {"prompt_ms": ms, "computed_tokens": n_tokens}
            return []
        if found["what"] == "eval":
            task.facts |= {"output_tokens": n_tokens}
            return []
        task.facts |= {"total_ms": ms}
        return self._open.pop(slot).record("cancelled" if task.is_cancelled else "done")

    def _release(self, slot: _Slot, at: tuple[int, int]) -> list[Record]:
        """Note that the slot is free; a cancelled task has no timings, others may still print theirs."""
        task = self._open[slot]
        task.at, task.is_released = at, True
        if not task.is_cancelled or "prompt_tokens" not in task.facts:
            return []
        return self._open.pop(slot).record("cancelled")


def _end_without_timings(task: _Task) -> str:
    return "without timings" if task.is_released else "unfinished"


def _count(name: str, pattern: re.Pattern[str], text: str) -> dict[str, int]:
    found = pattern.search(text)
    return {} if found is None else {name: int(found[1])}
