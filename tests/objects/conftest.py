"""Stores with buckets to fill, and a relay in front of one that breaks things on request."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import boto3
import pytest

from tests.objects.relay import LOOPBACK, Relay

SECRET = "wJalrXUtnFEMIcanary"
KEY_ID = "AKIACANARY"


@contextmanager
def server(kind: str) -> Iterator[str]:
    """Start a server; yield its address; end it by its own process."""
    program = Path(__file__).with_name("servers.py")
    process = subprocess.Popen(
        [sys.executable, "-P", str(program), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        port = process.stdout.readline().strip()
        assert port, f"the {kind} server did not start"
        yield f"http://{LOOPBACK}:{port}"
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


@pytest.fixture(scope="session")
def s3_address() -> Iterator[str]:
    """The S3 of this session."""
    with server("s3") as address:
        yield address


@pytest.fixture(scope="session")
def gs_address() -> Iterator[str]:
    """The Google Cloud Storage of this session."""
    with server("gs") as address:
        yield address


@dataclass(frozen=True)
class Bucket:
    """A bucket of its own for one test."""

    url: str
    client: Any

    @property
    def name(self) -> str:
        """The bucket's name alone."""
        return self.url.split("/")[2]

    def put(self, key: str, content: bytes) -> str:
        """Write an object; return its name."""
        self.client.put_object(Bucket=self.name, Key=key, Body=content)
        return f"{self.url}/{key}"

    def delete(self, key: str) -> None:
        """Delete an object."""
        self.client.delete_object(Bucket=self.name, Key=key)


class GsClient:
    """The calls of the JSON interface that filling a bucket takes, named as the other client names them."""

    def __init__(self, address: str) -> None:
        self.address = address

    def create_bucket(self, Bucket: str) -> None:
        """Make a bucket."""
        self._send("POST", "/storage/v1/b?project=tests", json.dumps({"name": Bucket}).encode())

    def put_object(self, Bucket: str, Key: str, Body: bytes) -> None:
        """Write an object."""
        place = f"/upload/storage/v1/b/{Bucket}/o?uploadType=media&name={quote(Key, safe='')}"
        # The emulator takes JSON, where it is said to be JSON, for its own.
        self._send("POST", place, Body, "text/plain")

    def delete_object(self, Bucket: str, Key: str) -> None:
        """Delete an object."""
        self._send("DELETE", f"/storage/v1/b/{Bucket}/o/{quote(Key, safe='')}", None)

    def _send(self, method: str, path: str, body: bytes | None, kind: str = "application/json") -> None:
        headers = {"Content-Type": kind}
        request = urllib.request.Request(self.address + path, data=body, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()


def bucket_name(request: pytest.FixtureRequest) -> str:
    """Return a name that no other test has."""
    return f"logs-{hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]}"


@pytest.fixture
def no_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment in which no machine but this one can be asked for anything."""
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
        "AWS_MAX_ATTEMPTS": "2",
        "AWS_ENDPOINT_URL": f"http://{LOOPBACK}:9",
        "STORAGE_EMULATOR_HOST": f"http://{LOOPBACK}:9",
        "GCE_METADATA_ROOT": f"{LOOPBACK}:9",
        "NO_PROXY": LOOPBACK,
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def s3(s3_address: str, no_store: None, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bucket:
    """An empty bucket in S3, and an environment that leads there."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_address)
    client = boto3.client("s3", endpoint_url=s3_address)
    name = bucket_name(request)
    client.create_bucket(Bucket=name)
    return Bucket(f"s3://{name}", client)


@pytest.fixture
def gs(gs_address: str, no_store: None, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bucket:
    """An empty bucket in Google Cloud Storage, and an environment that leads there."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", gs_address)
    client = GsClient(gs_address)
    name = bucket_name(request)
    client.create_bucket(Bucket=name)
    return Bucket(f"gs://{name}", client)


@pytest.fixture(params=["s3", "gs"])
def bucket(request: pytest.FixtureRequest) -> Bucket:
    """A bucket of either kind of store."""
    found: Bucket = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def relay(s3: Bucket, s3_address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Relay]:
    """A relay between this process and the S3 server that does as told to the answers."""
    with Relay(s3_address) as found:
        monkeypatch.setenv("AWS_ENDPOINT_URL", found.address)
        yield found
