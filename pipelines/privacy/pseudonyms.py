"""The key under which ids are hashed, from the environment alone.

    pseudonym(field, value) = first 32 hex digits of HMAC-SHA256(salt, "field:value")

128 bits: a collision among 10⁹ ids has a probability of 10⁻²¹. The field is part of what is hashed, so that one text in
two columns is two pseudonyms. HMAC as in RFC 2104: the two padded keys are made here and the hashes in the statement
that judges a line, on all cores and before the line is written anywhere.

Belongs here: the salt and what is derived of it. Does not belong here: which fields are hashed (`settings`).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import SecretBytes

from pipelines.errors import UsageError
from pipelines.privacy.settings import PrivacySettings
from pipelines.warehouse import Writer

MIN_SALT_BYTES = 16
PSEUDONYM_DIGITS = 32
_BLOCK_BYTES = 64
_INNER, _OUTER = 0x36, 0x5C
_CHECKED = b"valleywatch salt"
"""What the check value is the hash of; no id is: those have a colon after the name of a field."""


@dataclass(frozen=True)
class Privacy:
    """What of a line may be written: which fields as hashes under which salt, and excerpts of refused ones or none."""

    fields: tuple[str, ...] = ()
    salt: SecretBytes = field(default_factory=lambda: SecretBytes(b""))
    keeps_excerpts: bool = False

    def declare(self, writer: Writer) -> None:
        """Put fields and padded keys where the writer's statements see them; variables of a session are never saved."""
        writer.declare("hashed_fields", list(self.fields) or None)
        writer.declare("hash_inner", self._padded(_INNER) if self.fields else None)
        writer.declare("hash_outer", self._padded(_OUTER) if self.fields else None)

    @property
    def check_value(self) -> str | None:
        """A value that tells one salt from another and does not give it away; None where nothing is hashed."""
        if not self.fields:
            return None
        return hmac.digest(self.salt.get_secret_value(), _CHECKED, "sha256").hex()[:PSEUDONYM_DIGITS]

    def _padded(self, pad: int) -> bytes:
        key = self.salt.get_secret_value()
        key = hashlib.sha256(key).digest() if len(key) > _BLOCK_BYTES else key
        return bytes(byte ^ pad for byte in key.ljust(_BLOCK_BYTES, b"\0"))


def read_privacy(settings: PrivacySettings, environment: Mapping[str, str]) -> Privacy:
    """Return what may be written; raise UsageError that names the salt's variable and never quotes its value."""
    if not settings.hash:
        return Privacy(keeps_excerpts=settings.quarantine_excerpts)
    variable = settings.salt_env
    value = environment.get(variable or "")
    if value is None:
        raise _unusable(variable, "is not set")
    if value != value.strip():
        raise _unusable(variable, "begins or ends with white space, often the line break that `echo` adds to a file")
    salt = value.encode("utf-8", "surrogateescape")
    if len(salt) < MIN_SALT_BYTES:
        raise _unusable(variable, f"has {len(salt)} bytes, and a short salt can be guessed")
    return Privacy(settings.hash, SecretBytes(salt))


def _unusable(variable: str | None, problem: str) -> UsageError:
    return UsageError(
        f"[privacy] the variable {variable} (salt_env) {problem}: nothing was read; set it to the salt of the runs "
        f"before, for the first run to at least {MIN_SALT_BYTES} random bytes, such as `openssl rand -hex 32` prints"
    )
