"""What a log format is.

Belongs here: the shape of an entry. Does not belong here: any particular format.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """One producer's log format.

    `ttft_basis` says where the time to first token was taken (`client`, `gateway`, `engine`, or `declared` where the
    log's own convention decides), `cached_basis` where the cached tokens come from (`measured`, `predicted`,
    `simulated`): bases are recorded with every request.
    """

    name: str
    keys: frozenset[str]
    """Top-level keys that every line has and that tell the format from the others."""
    summary: str
    switch_on: str
    ttft_basis: str
    cached_basis: str
