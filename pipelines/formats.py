"""The log formats valleywatch reads: each is one file `sql/formats/<name>.sql`.

The statement maps a producer's record onto the canonical fields without interpreting values; its header says, beside
what every header says, how the format is told from others and switched on:

    summary      one line for `valleywatch formats`
    switch_on    how to make the producer write it
    keys         top-level keys that every record has and that together tell it from other formats; of CSV and Parquet
                 the columns, of a document its own keys
    pattern      for text logs: a regular expression that a line of interest matches
    epoch_unit   unit of its time stamps where they are numbers (s, ms, us, ns)
    ttft_basis   where the time to first token is taken: client, gateway, engine, or declared
    cached_basis where the cached tokens come from: measured, predicted, simulated
    input_tokens inclusive (the default), exclusive, or by line: whether the log's count of input tokens includes the
                 cached ones; what is mapped always does
    left_open    keys of a source that may say what the producer does not fix (input_tokens, latency_unit, ...)
    columns      names that a source may map to its own (`[sources.columns]`), in the order of the statement's paths
    reader       how a file becomes records where it is not one a line (a name in `pipelines/readers.py`)
    mapping      the format whose statement maps its records, where the file is only a header

Belongs here: reading those headers. Does not belong here: anything about one producer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from pipelines import queries

CONTAINERS = ("csv", "parquet", "documents")
"""Readers of files that are no lines of text with a record each."""
_PATH = re.compile(r'(?:"[^"]+"|[^".]+)(?:\.(?:"[^"]+"|[^".]+))*')
_STEP = re.compile(r'"([^"]+)"|([^".]+)')


@dataclass(frozen=True, slots=True)
class Format:
    """One producer's log format, as its file describes it."""

    name: str
    summary: str
    switch_on: str
    keys: frozenset[str]
    pattern: str | None
    epoch_unit: str | None
    ttft_basis: str
    cached_basis: str
    input_tokens: str
    left_open: frozenset[str]
    columns: tuple[str, ...]
    reader: str
    query: str
    """Name of the statement that maps its records."""

    @property
    def container(self) -> str:
        """What its files are: csv, parquet, documents, or lines."""
        name = self.reader.partition(" ")[0]
        return name if name in CONTAINERS else "lines"

    def pointer(self, own: str) -> str:
        """Return the JSON pointer of a log's own name: a column as its header has it, else keys with dots between.

        A key that has dots itself stands in double quotes. Raises ValueError where quotes and dots do not add up.
        """
        if self.reader.split()[0] in ("csv", "parquet"):
            return _pointer([own])
        if not _PATH.fullmatch(own):
            raise ValueError(f'{own!r} is no path: write keys with dots between them, such as usage.prompt or "a.b".c')
        return _pointer([quoted or bare for quoted, bare in _STEP.findall(own)])


@cache
def formats() -> dict[str, Format]:
    """Return every format by name."""
    found = (_format(name) for name in queries.names("formats"))
    return {entry.name: entry for entry in found}


def detect(keys: Iterable[str], line: str = "", *, container: str = "lines") -> Format | None:
    """Return the format of a record, header or document with these keys; None when none or several fit: never guessed.

    Of several whose keys all occur, the one that asks for most wins.
    """
    have = set(keys)
    fit = [entry for entry in formats().values() if entry.container == container and _fits(entry, have, line)]
    most = max((len(entry.keys) for entry in fit), default=0)
    best = [entry for entry in fit if len(entry.keys) == most]
    return best[0] if len(best) == 1 else None


def _fits(entry: Format, keys: set[str], line: str) -> bool:
    if entry.pattern is not None:
        return re.search(entry.pattern, line) is not None
    return bool(entry.keys) and entry.keys <= keys


def _format(query_name: str) -> Format:
    header = queries.load(query_name).header
    mapping = f"formats/{header['mapping']}" if "mapping" in header else query_name
    return Format(
        name=query_name.removeprefix("formats/"),
        summary=header["summary"],
        switch_on=header["switch_on"],
        keys=frozenset(_listed(header.get("keys", ""))),
        pattern=header.get("pattern"),
        epoch_unit=header.get("epoch_unit"),
        ttft_basis=header["ttft_basis"],
        cached_basis=header["cached_basis"],
        input_tokens=header.get("input_tokens", "inclusive"),
        left_open=frozenset(_listed(header.get("left_open", ""))),
        columns=tuple(_listed(queries.load(mapping).header.get("columns", ""))),
        reader=header.get("reader", "lines"),
        query=mapping,
    )


def _listed(text: str) -> list[str]:
    return [name for name in re.split(r",\s*", text) if name]


def _pointer(steps: Iterable[str]) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
