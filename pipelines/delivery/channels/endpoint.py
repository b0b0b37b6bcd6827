"""A URL from the environment, taken apart once and strictly: what two readers could read differently is refused.

Belongs here: which URLs there are, and the parts of one. Does not belong here: whether its host may be reached
(`addresses`).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from pipelines.delivery.channels.variables import Variables

WEB_PORTS: Mapping[str, int] = {"https": 443, "http": 80}
MAIL_PORTS: Mapping[str, int] = {"smtps": 465, "smtp": 587}
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
_PLACE = re.compile(r"(?:[^@]*@)?(?:\[[0-9a-fA-F:.]+\]|[^\[\]:@%]+)(?::[0-9]+)?")
"""Login, host and port, with nothing between or after them that a reader could drop."""
_LOOKS_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
"""The last part of the host is a number, so that some resolvers take the whole for an address."""


@dataclass(frozen=True)
class Endpoint:
    """Where a channel's messages go. The host is no secret; all that follows it, and the login before it, is."""

    variable: str
    scheme: str
    host: str
    """In lower case; an IPv6 address without brackets."""
    port: int
    target: SecretStr
    """Path and query, as they go into the request; never empty."""
    user: SecretStr | None = None
    password: SecretStr | None = None

    def under(self, path: str) -> Endpoint:
        """Return the endpoint of a path below this one."""
        base = self.target.get_secret_value().rstrip("/")
        return Endpoint(self.variable, self.scheme, self.host, self.port, SecretStr(base + path))


def web_endpoint(variables: Variables, key: str, variable: str | None) -> Endpoint:
    """Read an https:// or http:// URL. Raises UsageError naming the variable."""
    return _endpoint(variables, key, variable, WEB_PORTS, takes_login=False)


def mail_endpoint(variables: Variables, key: str, variable: str | None) -> Endpoint:
    """Read an smtps:// or smtp:// URL, where user and password are percent-encoded. Raises UsageError."""
    return _endpoint(variables, key, variable, MAIL_PORTS, takes_login=True)


def _endpoint(
    variables: Variables, key: str, variable: str | None, ports: Mapping[str, int], *, takes_login: bool
) -> Endpoint:
    url = variables.secret(key, variable).get_secret_value()
    assert variable

    def must(holds: object, problem: str, remedy: str) -> None:
        if not holds:
            raise variables.unusable(key, variable, problem, remedy) from None

    schemes = " or ".join(f"{scheme}://" for scheme in ports)
    must("#" not in url, "has a # in it", "write it as %23")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
    except ValueError:
        parts, port, host = urlsplit(""), None, ""
    must(parts.scheme in ports, "is no URL of a kind this channel has", f"it must begin with {schemes}")
    if not takes_login:
        must("@" not in parts.netloc, "has a user before its host", "remove all up to the @")
    must(port != 0 and not parts.netloc.endswith(":"), "has no usable port", "write a port of 1 to 65535 or none")
    host, is_address = _host(host)
    must(
        _PLACE.fullmatch(parts.netloc) and host and (is_address or not _LOOKS_NUMERIC.fullmatch(host)),
        "names no usable host",
        "write a name in ASCII, an address such as 203.0.113.7 or one such as [2001:db8::7]",
    )
    user, password = _login(parts.username), _login(parts.password)
    must(
        (user is None) == (password is None)
        and not any(set(text or "") & {"\r", "\n", "\0"} for text in (user, password)),
        "has only half a login or a control character in it",
        "write user:password@, each percent-encoded",
    )
    must(
        all((text or "").isascii() for text in (user, password)), "has a login beyond ASCII", "no mail server takes it"
    )
    return Endpoint(
        variable,
        parts.scheme,
        host,
        port or ports[parts.scheme],
        SecretStr((parts.path or "/") + (f"?{parts.query}" if parts.query else "")),
        None if user is None else SecretStr(user),
        None if password is None else SecretStr(password),
    )


def _host(host: str) -> tuple[str, bool]:
    """Return the host in its one spelling, empty where it has none, and whether it is an address."""
    try:
        return str(ipaddress.ip_address(host)), True
    except ValueError:
        return (host if _NAME.fullmatch(host) else ""), False


def _login(text: str | None) -> str | None:
    return unquote(text) if text else None
