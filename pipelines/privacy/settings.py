"""The section `[privacy]`.

Belongs here: keys, bounds, which of them exclude each other. Does not belong here: the salt's value (`pseudonyms`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pipelines.section import NonEmpty, Section


class PrivacySettings(Section):
    """What of a line is written. No text of prompts or answers is, whatever is set here."""

    hash: tuple[Literal["request_id", "session_id", "instance"], ...] = ()
    """Fields stored as keyed hashes: those that name a person, a tenant or a machine and that nothing else rests on.
    Prices, curves and alerts are found by the names of deployments and models, so those stay as they are."""
    salt_env: NonEmpty | None = None
    """Variable of the environment that holds the salt of the hashes."""
    quarantine_excerpts: bool = False
    """Whether the first 500 characters of a refused line are kept: they may hold a prompt, so only on request. Reason,
    file, line, byte offset and length are always kept, and find the line in its log."""
    quarantine_days: Annotated[int, Field(ge=1, le=3650)] = 14
    """Days after which an excerpt is erased."""

    @model_validator(mode="after")
    def _that_go_together(self) -> PrivacySettings:
        if self.hash and self.salt_env is None:
            raise ValueError("hash needs salt_env, the variable of the environment that holds the salt")
        if self.salt_env is not None and not self.hash:
            raise ValueError("salt_env without hash: name the fields to hash, or remove it")
        if len(set(self.hash)) < len(self.hash):
            raise ValueError(f"hash names a field twice: {', '.join(self.hash)}")
        if self.hash and self.quarantine_excerpts:
            raise ValueError("quarantine_excerpts keeps lines with the ids that hash takes out: set one of them")
        return self
