"""Blocks of lines → one stream for the engine, counted on the way.

Belongs here: what has to be remembered of the blocks that went by. Does not belong here: making them (`readers`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pyarrow as pa

from pipelines.lines import SCHEMA, Block, LineFault

MAX_HELD_FAULTS = 10_000
"""Unreadable lines held in memory, some 7 MB of them, before a part of the stream ends so that they can be put away."""


class Stream:
    """The blocks of one file, in one part or, where many lines cannot be read, in several."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        first = next(blocks, None)
        self.first: pa.Table = first.lines if first else pa.Table.from_batches([], SCHEMA)
        """The first block's lines; they are part of the stream too."""
        self.n_lines = 0
        self.n_blank = 0
        self.is_done = False
        self._faults: list[LineFault] = []
        self._blocks: Iterator[Block] = itertools.chain([first], blocks) if first else blocks

    def part(self) -> Iterator[pa.RecordBatch]:
        """Yield the lines that can be read, up to the end or to where the faults on the way should be taken."""
        for block in self._blocks:
            self.n_lines += block.n_lines
            self.n_blank += block.n_blank
            self._faults += block.faults
            yield from block.lines.to_batches()
            if len(self._faults) >= MAX_HELD_FAULTS:
                return
        self.is_done = True

    def take_faults(self) -> list[LineFault]:
        """Return what could not be read since the last call."""
        taken, self._faults = self._faults, []
        return taken
