"""To which addresses a connection may go.

Belongs here: which addresses are public, and those that a channel is allowed besides. Does not belong here: asking for
them, connecting (`connection`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are the IPv4 address that is meant
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that IANA has allocated to be reached from everywhere
# Not to be reached from everywhere (RFC 6890), whatever the running Python's ipaddress thinks of them.
_SPECIAL = (
    ipaddress.IPv4Network("192.0.0.0/24"),
    ipaddress.IPv4Network("192.88.99.0/24"),
    ipaddress.IPv6Network("2001::/23"),
    ipaddress.IPv6Network("3fff::/20"),
)


@dataclass(frozen=True)
class Reach:
    """What one channel may connect to: public addresses, and its `allow`."""

    allow: tuple[Network, ...] = ()

    @classmethod
    def of(cls, allow: Iterable[str]) -> Reach:
        """Read addresses and networks, as the settings have checked them."""
        return cls(tuple(ipaddress.ip_network(network) for network in allow))

    def allows(self, address: Address) -> bool:
        """Say whether the address is listed, so that it needs neither be public nor spoken to by TLS."""
        return any(address in network for network in self.allow if network.version == address.version)

    def refusal(self, address: Address, *, is_tls: bool) -> str | None:
        """Say why the address may not be connected to; None where it may."""
        if self.allows(address):
            return None
        if not is_public(address):
            return (
                f"{address} is not a public address; where that is meant, list it under `allow` of the [[alerts]] entry"
            )
        if not is_tls:
            return f"{address} is to be reached without TLS, which only what `allow` lists may be"
        return None


def plain(address: Address) -> Address:
    """Return the IPv4 address that an IPv4-mapped IPv6 address is another spelling of, any other as it is."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return address if mapped is None else mapped


def is_public(address: Address) -> bool:
    """Say whether an address belongs to the internet at large, those that carry an IPv4 address by that one."""
    address = plain(address)
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
        if address.sixtofour is not None:
            return is_public(address.sixtofour)
        if address not in _GLOBAL_UNICAST:
            return False
    special = any(address in network for network in _SPECIAL if network.version == address.version)
    return address.is_global and not address.is_multicast and not address.is_reserved and not special
