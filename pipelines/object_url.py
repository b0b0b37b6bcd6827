"""Names in object stores: `s3://bucket/key` and `gs://bucket/key`, whose keys may hold wildcards.

Belongs here: reading such a name and refusing an impossible one, before any network. Does not belong here: listing and
reading (`objects`). A name with credentials in it is refused and never repeated, in no message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.errors import UsageError
from pipelines.patterns import refuse_joined_stars

CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or AWS_PROFILE, or the role of the machine)",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS (or the service account of the machine)",
}
"""Where each kind of store takes its credentials from; also the list of the kinds."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class ObjectUrl:
    """A bucket and the parts of a key between its slashes."""

    scheme: str
    bucket: str
    parts: tuple[str, ...]


def is_url(text: str) -> bool:
    """Say whether `text` names something in a store rather than a path."""
    return _SCHEME.match(text) is not None


def read_url(text: str) -> ObjectUrl:
    """Read `text`; raise UsageError when it cannot name an object."""
    scheme, _, rest = text.partition("://")
    if scheme not in CREDENTIALS:
        raise UsageError(f"{scheme}:// is not read: name s3://bucket/key, gs://bucket/key or a path")
    bucket, _, key = rest.partition("/")
    if ":" in bucket or "@" in bucket:
        raise UsageError(
            f"the {scheme}:// name holds credentials: take them out (and change them, if others could read them) and "
            f"set {CREDENTIALS[scheme]} in the environment"
        )
    if not _BUCKET.fullmatch(bucket):
        raise UsageError(f"{text!r}: {bucket!r} is no name of a bucket; wildcards are for the key alone")
    parts = tuple(key.split("/"))
    if not parts[-1]:
        raise UsageError(f"{text!r} names no object: end it in a pattern for names, such as `**/*.jsonl.gz`")
    if "\0" in key or not all(map(is_plain, parts)):
        raise UsageError(f"{text!r}: the parts of a key between slashes cannot be empty, `.` or `..`, nor hold a NUL")
    refuse_joined_stars(text)
    return ObjectUrl(scheme, bucket, parts)


def is_plain(part: str) -> bool:
    """Say whether a part of a key means itself: an empty or dotted one is taken away on the way to the store."""
    return part not in ("", ".", "..")


def redacted(text: str) -> str:
    """Return `text` as it may be shown: what may be credentials in a name is left out."""
    if not is_url(text):
        return text
    scheme, _, rest = text.partition("://")
    return f"{scheme}://…" if re.search("[:@]", rest.partition("/")[0]) else text
