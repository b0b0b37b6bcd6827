"""Secrets, from the environment alone.

Belongs here: reading a variable that the configuration names, and refusing it by its name. Does not belong here: what
the value means (`endpoint`, the channels). A value is a SecretStr from here on: no repr, log or message shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import SecretStr

from pipelines.errors import UsageError


@dataclass(frozen=True)
class Variables:
    """The environment as one `[[alerts]]` entry sees it."""

    entry: str
    """The entry's name, for messages."""
    environment: Mapping[str, str] = field(repr=False)

    def secret(self, key: str, variable: str | None) -> SecretStr:
        """Return the value of the variable that the entry's `key` names: printable ASCII, no space.

        Raises UsageError naming the variable, never its value.
        """
        assert variable, f"the settings require {key}"
        value = self.environment.get(variable)
        if value is None:
            raise self.unusable(key, variable, "is not set", "set it for the process that delivers alerts")
        if not value:
            raise self.unusable(key, variable, "is empty", "set it to what the service gave you")
        if value != value.strip():
            remedy = "remove that (often the line break that `echo` adds to a file)"
            raise self.unusable(key, variable, "begins or ends with white space", remedy)
        if not all("!" <= character <= "~" for character in value):
            problem = "has white space, a control character or a letter beyond ASCII in it"
            raise self.unusable(key, variable, problem, "write those of a URL as %20 and the like")
        return SecretStr(value)

    def optional_secret(self, key: str, variable: str | None) -> SecretStr | None:
        """Return what `secret` does, or None where the entry does not have the key."""
        return None if variable is None else self.secret(key, variable)

    def unusable(self, key: str, variable: str, problem: str, remedy: str) -> UsageError:
        """Return the error that names entry, key and variable; neither text may quote the value."""
        return UsageError(f"[[alerts]] {self.entry!r}: the variable {variable} ({key}) {problem}: {remedy}")
