"""What loading needs of a log, wherever it is kept: a name, a stamp and its bytes.

Belongs here: that seam alone. Does not belong here: folders (`inbox`), object stores (`objects`), content (`lines`).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol


class Stamp(NamedTuple):
    """What tells an untouched file from a changed one without reading it."""

    size_bytes: int
    modified_ns: int
    """When anything about it was last changed."""
    written_ns: int
    """When its content was last written to."""


class LogFile(Protocol):
    """One log; `LocalFile` and `StoredObject` are what there is."""

    @property
    def name(self) -> str:
        """The name as it is kept and shown."""
        ...

    def stamp(self) -> Stamp:
        """Return the stamp of the content that `open` would give; raise RejectedFileError when there is none."""
        ...

    def open(self) -> BinaryIO:
        """Open for reading, with seeking; raise RejectedFileError, or UnreachableError where a later try may work."""
        ...

    def at_hand(self, folder: Path, /) -> AbstractContextManager[LogFile]:
        """Return the same log for several readings, one after the other, without the network met anew each time.

        What has to be kept for that is kept in `folder` and gone afterwards, however the process ends.
        """
        ...
