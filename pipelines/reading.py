"""One file as one source reads it: what is known of it before a byte is read.

Belongs here: the file's age, and the fingerprint of everything that decides how its lines are judged. Does not belong
here: reading it (`staging`), what becomes of it (`ingest`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipelines.log_file import LogFile, Stamp
from pipelines.privacy.pseudonyms import Privacy
from pipelines.settings import SourceSettings
from pipelines.times import to_us

RULES_VERSION = 2
"""Raised when a change of the rules lets in lines that were refused before: those are then judged again."""

CLOCK_SKEW_US = 600_000_000
"""Arrivals up to ten minutes ahead of this machine's clock are taken for clock skew, later ones are refused."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One file, as one source reads it at one time."""

    source: SourceSettings
    log: LogFile
    stamp: Stamp
    now: datetime
    privacy: Privacy

    @property
    def name(self) -> str:
        """The name as it is kept and shown."""
        return self.log.name

    @property
    def fingerprint(self) -> str:
        """What decides how a line is judged: a refused line deserves another look when this changes."""
        source = self.source
        settings = [
            RULES_VERSION, source.format, source.deployment, source.timezone, source.epoch_unit, source.latency_unit,
            source.input_tokens, source.absent_cached_is_zero, source.ttft_basis, source.cached_basis,
            sorted(source.columns.items()),
        ]  # fmt: skip
        return digest(repr(settings))[:16]

    @property
    def age_s(self) -> float:
        """Seconds since it was last written to, by this machine's clock."""
        return self.now.timestamp() - self.stamp.written_ns / 1e9

    @property
    def is_young(self) -> bool:
        """Say whether somebody may still be writing to it; a time far in the future says nothing of that."""
        return abs(self.age_s) < self.source.settle_s

    @property
    def latest_us(self) -> int:
        """Latest arrival that is taken for one, in microseconds since 1970."""
        return to_us(self.now) + CLOCK_SKEW_US

    def manifest(self) -> dict[str, Any]:
        """Return the part of the manifest row that is known before reading."""
        return {
            "path": self.name,
            "source_name": self.source.name,
            "format": self.source.format,
            "reading": self.fingerprint,
            "size_bytes": self.stamp.size_bytes,
            "modified_ns": self.stamp.modified_ns,
            "loaded_us": to_us(self.now),
        }

    def is_done(self, known: list[dict[str, Any]]) -> bool:
        """Say whether a manifest row (or none) makes reading the file again pointless."""
        if not known or known[0]["status"] != "loaded":
            return False
        return bool(known[0]["quarantined"] == 0 or known[0]["reading"] == self.fingerprint)


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
