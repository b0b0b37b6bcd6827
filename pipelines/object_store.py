"""A connection to an object store, and what its refusals mean.

Belongs here: how a store is reached, and its library's words turned into errors. Does not belong here: which objects
there are and fetching them (`objects`). Credentials are found by the stores' own libraries in the environment; nothing
here sees them, and of a library's message only what cannot hold one is repeated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from pipelines.errors import UnreachableError, UsageError, ValleywatchError
from pipelines.object_url import CREDENTIALS, ObjectUrl

CONNECT_TIMEOUT_S = 10.0
STALLED_TIMEOUT_S = 30.0
"""Time without a byte after which an attempt is given up."""
ATTEMPTS = 5
"""Of one request to S3, with growing pauses; AWS_MAX_ATTEMPTS overrides it."""
GCS_RETRY_S = 30.0

_MISSING = r"NO_SUCH_KEY|NOT_FOUND|Path does not exist"
_NO_BUCKET = "NO_SUCH_BUCKET"
_REFUSED = (
    r"[A-Z_]*(?:ACCESS_DENIED|ACCESS_KEY|SIGNATURE|TOKEN|CREDENTIAL|CLIENT|SKEWED|AUTHENTICATION)[A-Z_]*|"
    r"(?:Expired|Invalid)Token|PERMISSION_DENIED|UNAUTHENTICATED"
)
_REFUSED_STATUS = r"status(?: code:)? 40[013]"
"""All there is where an answer has no body; S3 says 400 of a token that has expired."""
_NO_CREDENTIALS = r"Could not create a OAuth2 access token|default credentials"
_OTHER_REGION = (
    r"PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraint|status 30[17]|is located in '"
)
_REGION = re.compile(r"(?:the bucket is located in|expecting) '([a-z0-9-]+)'")
_TROUBLE = re.compile(r"AWS Error ([A-Z_]+(?: \(HTTP status \d+\))?)|Status\(([A-Z_]+)")

_Got = TypeVar("_Got")


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A connection to one kind of store, and the name it was asked for by."""

    url: ObjectUrl
    filesystem: Any

    @classmethod
    def of(cls, url: ObjectUrl) -> ObjectStore:
        make = _s3 if url.scheme == "s3" else _gcs
        return cls(url, _translated(url, f"{url.scheme}://{url.bucket}", make))

    def ask(self, name: str, question: Callable[[], _Got]) -> _Got:
        """Return the answer to `question`, or raise what its failure means for `name`."""
        return _translated(self.url, name, question)


def _s3() -> Any:
    # Without a file system of its own for each run Arrow would keep a connection beyond the end of the program, where
    # it can no longer be closed.
    endpoint = _endpoint(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"))
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    attempts = os.environ.get("AWS_MAX_ATTEMPTS", "")
    return fs.S3FileSystem(
        region=region or None,
        connect_timeout=CONNECT_TIMEOUT_S,
        request_timeout=STALLED_TIMEOUT_S,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=int(attempts) if attempts.isdecimal() else ATTEMPTS),
        **endpoint,
    )


def _gcs() -> Any:
    # An emulator has no credentials to check, and none must be sent to it.
    endpoint = _endpoint(os.environ.get("STORAGE_EMULATOR_HOST"))
    return fs.GcsFileSystem(anonymous=bool(endpoint), retry_time_limit=timedelta(seconds=GCS_RETRY_S), **endpoint)


def _endpoint(address: str | None) -> dict[str, str]:
    """Return how Arrow wants the address of another store than the vendor's; without a scheme it is http."""
    if not address:
        return {}
    parts = urlsplit(address if "://" in address else f"http://{address}")
    return {"scheme": parts.scheme, "endpoint_override": parts.netloc.rpartition("@")[2] + parts.path.rstrip("/")}


class MissingObjectError(UsageError):
    """There is no such object."""


def _translated(url: ObjectUrl, name: str, question: Callable[[], _Got]) -> _Got:
    try:
        return question()
    except (OSError, pa.ArrowException) as error:
        raise _meaning(url, name, str(error), is_missing=isinstance(error, FileNotFoundError)) from None


def _meaning(url: ObjectUrl, name: str, told: str, *, is_missing: bool) -> ValleywatchError:
    """Return what a library's words mean: they are all that tells a wrong key from a broken line."""
    trouble = _TROUBLE.search(told)
    # What stands before are the caller's own words, a key among them.
    told = told[trouble.start() :] if trouble else told
    if re.search(_NO_CREDENTIALS, told):
        return UsageError(
            f"{name} cannot be asked for: the environment holds no usable credentials; set {CREDENTIALS[url.scheme]}"
        )
    if re.search(_OTHER_REGION, told):
        where = _REGION.search(told)
        return UsageError(
            f"{name}: the bucket is in another region than the one asked; set AWS_REGION to "
            + (f"{where[1]!r}" if where else "the bucket's")
        )
    if refused := re.search(_REFUSED, told) or re.search(_REFUSED_STATUS, told):
        return UsageError(
            f"{name}: the store refused ({refused[0]}){_unset(url)}: set {CREDENTIALS[url.scheme]} for an identity "
            "that may list the bucket and get its objects, and see that this machine's clock is right"
        )
    if re.search(_NO_BUCKET, told):
        return UsageError(no_bucket(name, url))
    if is_missing or re.search(_MISSING, told):
        return MissingObjectError(f"no such object: {name}")
    why = trouble[1] or trouble[2] if trouble else "no answer that can be understood"
    return UnreachableError(
        f"{name}: unreadable for now, the store did not answer properly, several times in a row ({why}); "
        f"check the network{_told_endpoint(url)} and run again"
    )


def no_bucket(name: str, url: ObjectUrl) -> str:
    """Say that the bucket is not there."""
    return f"{name}: there is no bucket {url.bucket!r}; check its spelling{_told_endpoint(url)}"


def _unset(url: ObjectUrl) -> str:
    variable = "AWS_ACCESS_KEY_ID" if url.scheme == "s3" else "GOOGLE_APPLICATION_CREDENTIALS"
    return "" if os.environ.get(variable) else f", and {variable} is not set"


def _told_endpoint(url: ObjectUrl) -> str:
    """Name the variables that send requests elsewhere than to the vendor, where they are set."""
    names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") if url.scheme == "s3" else ("STORAGE_EMULATOR_HOST",)
    given = [name for name in names if os.environ.get(name)]
    return f" and {given[0]}" if given else ""
