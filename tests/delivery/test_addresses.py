"""A5: to which addresses a connection goes, and that it goes to the one that was checked."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.delivery.channel import Channel, DeliveryError
from pipelines.delivery.channels.addresses import Reach, is_public
from pipelines.errors import UsageError
from tests.delivery.conftest import Authority, Build
from tests.delivery.loopback import LOOPBACK, free_port, receiver
from tests.delivery.notices import NOW, TRIGGER
from tests.delivery.resolving import Names

NOT_PUBLIC = {
    "loopback": "127.0.0.1",
    "loopback, another": "127.8.8.8",
    "RFC 1918, 10": "10.1.2.3",
    "RFC 1918, 172": "172.16.0.1",
    "RFC 1918, 192": "192.168.1.1",
    "metadata": "169.254.169.254",
    "shared": "100.64.0.1",
    "this host": "0.0.0.0",
    "multicast": "224.0.0.1",
    "broadcast": "255.255.255.255",
    "benchmark": "198.18.0.1",
    "IPv6 loopback": "::1",
    "IPv6 unspecified": "::",
    "IPv6 link-local": "fe80::1",
    "IPv6 link-local with its zone": "fe80::1%lo",
    "IPv6 unique local": "fd00:ec2::254",
    "IPv6 site-local": "fec0::1",
    "IPv6 multicast": "ff02::1",
    "IPv4-mapped": "::ffff:10.0.0.1",
    "IPv4-mapped loopback": "::ffff:127.0.0.1",
    "IPv4-compatible": "::127.0.0.1",
    "6to4": "2002:7f00:1::",
    "6to4 of RFC 1918": "2002:a00:1::1",
    "NAT64": "64:ff9b::7f00:1",
    "NAT64 of metadata": "64:ff9b::a9fe:a9fe",
    "NAT64, local": "64:ff9b:1::a00:1",
    "Teredo": "2001:0:a00:1::1",
    "documentation": "2001:db8::1",
}
PUBLIC = ("1.1.1.1", "52.89.214.238", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1")


@pytest.fixture
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where anything is connected to."""

    def connect(address: Any, *_arguments: Any) -> Any:
        raise AssertionError(f"connected to {address}")

    monkeypatch.setattr(socket, "create_connection", connect)


def send(channel: Channel) -> None:
    """Send one alert."""
    channel.send([TRIGGER], n_more=0, digest_key=None, now=NOW)


@pytest.mark.parametrize("address", NOT_PUBLIC.values(), ids=NOT_PUBLIC)
@pytest.mark.parametrize("kind", ["slack", "email"])
def test_a_name_of_a_private_address_is_refused(build: Build, no_connection: None, address: str, kind: str) -> None:
    url = "https://hooks.example.com/x" if kind == "slack" else "smtps://mail.example.com"
    names = Names([address])
    with pytest.raises(DeliveryError) as caught:
        send(build(kind, url, resolve=names, allow=()))
    assert (caught.value.reason, caught.value.is_transient) == ("address", False)
    assert "allow" in str(caught.value)
    assert len(names.asked) == 1


@pytest.mark.parametrize("address", [LOOPBACK, "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "0.0.0.0"])
def test_a_private_address_itself_is_refused(build: Build, no_connection: None, address: str) -> None:
    with pytest.raises(DeliveryError, match=r"^address: "):
        send(build("webhook", f"https://{address}/", allow=()))


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_connected_to(build: Build, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    to: list[Any] = []

    def connect(address: Any, *_arguments: Any) -> Any:
        to.append(address)
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(DeliveryError, match=r"^refused: "):
        send(build("webhook", "https://hooks.example.com/", resolve=Names([address]), allow=()))
    assert to == [(address.removeprefix("::ffff:"), 443)]


@given(st.ip_addresses())
def test_what_only_a_network_of_its_own_has_is_not_public(address: Any) -> None:
    """An oracle of its own making: what the standard library calls private is never public here."""
    if address.is_private or address.is_loopback or address.is_link_local or address.is_multicast:
        mapped = getattr(address, "ipv4_mapped", None)
        assert not is_public(address) or (mapped is not None and is_public(mapped))
    assert Reach.of([str(address)]).refusal(address, is_tls=False) is None


def test_the_connection_goes_to_the_address_that_was_checked(build: Build, authority: Authority) -> None:
    """A second question would be answered by another address: there is none."""
    names = Names([LOOPBACK], ["10.0.0.1"])
    with receiver(tls=authority.server) as server:
        send(build("slack", f"https://hooks.example.com:{server.port}/", resolve=names))
        assert len(server.seen) == 1
    assert names.asked == ["hooks.example.com"]


def test_each_address_is_checked_and_the_first_that_may_be_reached_is_used(build: Build) -> None:
    with receiver() as server:
        names = Names(["10.0.0.1", "169.254.169.254", LOOPBACK])
        send(build("slack", f"http://hooks.example.com:{server.port}/", resolve=names))
        assert server.seen[0].headers["host"] == f"hooks.example.com:{server.port}"


def test_the_next_address_is_tried_where_one_does_not_answer(build: Build) -> None:
    with receiver() as server:
        names = Names(["127.0.0.2", LOOPBACK])
        send(build("slack", f"http://hooks.example.com:{server.port}/", resolve=names, allow=("127.0.0.0/8",)))
        assert len(server.seen) == 1


def test_without_tls_only_what_is_listed_is_reached(build: Build, no_connection: None) -> None:
    with pytest.raises(DeliveryError, match=r"^address: .*without TLS"):
        send(build("webhook", "http://hooks.example.com/", resolve=Names(["1.1.1.1"])))
    with pytest.raises(UsageError, match="ALERT_URL"):
        build("webhook", "http://hooks.example.com/", allow=())


SPELLINGS = (
    "2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1", "0177.0.0.1", "127.0.0.1.", "①②⑦.0.0.1",
    "exämple.com",
)  # fmt: skip


@pytest.mark.parametrize(
    "url",
    [
        *(f"https://{host}/" for host in SPELLINGS),
        "https://good.example.com@evil.example.com/",
        "https://good.example.com:pass@evil.example.com/",
        "https://good.example.com\\@evil.example.com/",
        "https://good.example.com#@evil.example.com/",
        "https://[::1/",
        "https://[fe80::1%25lo]x/",
        "https:///path",
        "https://host:0/",
        "https://host:/",
        "https://host:70000/",
        "https://host:x/",
        "https://-host.example.com/",
        "https://host..example.com/",
        "https://ho st/",
        "https://host/\r\nX-Header: 1",
        "https://host/\x00",
        "ftp://host/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "javascript:alert(1)",
        "//host/",
        "host/path",
        "smtp://host",
    ],
)
def test_urls_that_two_readers_could_read_differently_are_refused(build: Build, url: str) -> None:
    with pytest.raises(UsageError) as caught:
        build("webhook", url)
    text = str(caught.value)
    assert "ALERT_URL" in text
    assert "'webhook'" in text
    assert "evil" not in text


@pytest.mark.parametrize(
    "url", ["https://mail.example.com", "smtp://user@mail.example.com", "smtp://:pw@mail.example.com"]
)
def test_what_is_no_mail_server_is_refused(build: Build, url: str) -> None:
    with pytest.raises(UsageError, match="ALERT_URL"):
        build("email", url)


def test_a_listed_network_may_be_one_of_ipv6(build: Build) -> None:
    with pytest.raises(DeliveryError, match=r"^refused: "):
        send(build("slack", f"http://[::1]:{free_port()}/", allow=("::1", "10.0.0.0/8")))
