"""Logs in an object store, through Arrow's file systems for S3 and Google Cloud Storage.

Belongs here: listing, fetching, and what to say when a store refuses. Does not belong here: what a name may be
(`object_url`), content (`lines`). Credentials are found by the stores' own libraries in the environment; nothing here
sees them, and of a library's message only what cannot hold one is repeated.

An object is fetched once, into a file without a name on the warehouse's disk, and every reading of it is of that file:
the network is met in one place, and a connection that breaks can never leave half an object loaded.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from pipelines.errors import DiskFullError, RejectedFileError, UnreachableError, UsageError, ValleywatchError
from pipelines.inbox import Found, Unreadable
from pipelines.log_file import LogFile, Stamp
from pipelines.object_url import CREDENTIALS, ObjectUrl, is_plain, read_url
from pipelines.patterns import WILDCARDS, matches

CHUNK_BYTES = 8 << 20
MAX_OBJECT_BYTES = 8 << 30
"""An object is kept on disk while it is read; a larger one is no log of some hours, and not worth the risk."""
CONNECT_TIMEOUT_S = 10.0
STALLED_TIMEOUT_S = 30.0
"""Time without a byte after which an attempt is given up."""
ATTEMPTS = 5
"""Of one request to S3, with growing pauses; AWS_MAX_ATTEMPTS overrides it."""
GCS_RETRY_S = 30.0
YOUNG_NS = 5_000_000_000
"""S3 tells changes by the second: an object younger than this may change again without its stamp changing."""

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


def find_objects(text: str) -> Found:
    """Return the objects that `text` names, sorted by key.

    The parts of the key before its first wildcard bound the listing. What a key cannot be told apart by is refused by
    name. Raises UsageError where the name or the credentials need a person, UnreachableError where time may help.
    """
    url = read_url(text)
    store = _Store.of(url)
    n_fixed = next((n for n, part in enumerate(url.parts) if WILDCARDS & set(part)), len(url.parts))
    folder, pattern = "/".join((url.bucket, *url.parts[:n_fixed])), url.parts[n_fixed:]
    if not pattern:
        return Found((_named(store, text, folder),))
    selector = fs.FileSelector(folder, recursive=len(pattern) > 1, allow_not_found=True)
    listed_ns = time.time_ns()
    entries = store.ask(text, lambda: store.filesystem.get_file_info(selector))
    if not entries:
        _require_bucket(store, text)
    inside = len(folder) + 1
    found = [x for x in entries if x.type == fs.FileType.File and matches(pattern, x.path[inside:].split("/"))]
    n_of_path = Counter(x.path for x in found)
    files, unreadable = [], []
    for entry in sorted(found, key=lambda x: str(x.path)):
        if n_of_path[entry.path] == 1 and all(map(is_plain, entry.path.split("/"))):
            files.append(_StoredObject.of(store, entry, listed_ns))
        else:
            unreadable.append(
                Unreadable(
                    f"{url.scheme}://{entry.path}",
                    "has a key with an empty or dotted part between slashes, by which no object can be asked for: "
                    "copy it to another key",
                )
            )
    return Found(tuple(files), tuple(unreadable))


def _named(store: _Store, text: str, path: str) -> _StoredObject:
    listed_ns = time.time_ns()
    entry = store.ask(text, lambda: store.filesystem.get_file_info(path))
    if entry.type == fs.FileType.Directory:
        raise UsageError(f"{text} is a folder of objects: add a pattern for names, such as `/**/*.jsonl.gz`")
    if entry.type != fs.FileType.File:
        _require_bucket(store, text)
        raise UsageError(f"no such object: {text}")
    return _StoredObject.of(store, entry, listed_ns)


def _require_bucket(store: _Store, text: str) -> None:
    try:
        kind = store.ask(text, lambda: store.filesystem.get_file_info(store.url.bucket)).type
    except UsageError:
        return  # An identity may list in a bucket that it may not ask about.
    if kind == fs.FileType.NotFound:
        raise UsageError(_no_bucket(text, store.url))


@dataclass(frozen=True, slots=True)
class _Store:
    """A connection to one kind of store, and the name it was asked for by."""

    url: ObjectUrl
    filesystem: Any

    @classmethod
    def of(cls, url: ObjectUrl) -> _Store:
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


@dataclass(frozen=True, slots=True)
class _StoredObject:
    """An object as it was listed."""

    store: _Store
    path: str
    """Bucket and key."""
    listed: Stamp

    @classmethod
    def of(cls, store: _Store, entry: Any, listed_ns: int) -> _StoredObject:
        # The moment of the listing is a stamp that no other listing gives: a young object is looked at once more.
        modified_ns = entry.mtime_ns if listed_ns - entry.mtime_ns > YOUNG_NS else listed_ns
        return cls(store, entry.path, Stamp(entry.size, modified_ns, entry.mtime_ns))

    @property
    def name(self) -> str:
        """The address, without anything secret."""
        return f"{self.store.url.scheme}://{self.path}"

    def stamp(self) -> Stamp:
        """Return the stamp as listed; later content has another, so that the next run looks again."""
        return self.listed

    def open(self) -> BinaryIO:
        """Open for one reading, by parts."""
        return io.BufferedReader(self._body(), CHUNK_BYTES)

    @contextmanager
    def at_hand(self, folder: Path, /) -> Iterator[LogFile]:
        """Return an object that is fetched when it is first opened."""
        fetched = _Fetched(self, folder)
        try:
            yield fetched
        finally:
            fetched.close()

    def fetch(self, into: BinaryIO) -> None:
        """Copy the whole object of one moment; raise where it ends early or changes on the way."""
        if self.listed.size_bytes > MAX_OBJECT_BYTES:
            raise RejectedFileError(
                "object_too_large",
                f"{self.listed.size_bytes:,} bytes, at most {MAX_OBJECT_BYTES:,} are fetched; write smaller objects",
            )
        part = memoryview(bytearray(min(CHUNK_BYTES, max(self.listed.size_bytes, 1))))
        with self._body() as body:
            before = body.version()
            while n_bytes := body.readinto(part):
                into.write(part[:n_bytes])
        # The parts are asked for one by one, and a store may serve the next one from another writing of the object.
        with self._body() as body:
            if body.version() != before:
                raise UnreachableError("changed_while_reading: it was written anew during the fetch; run again")

    def _body(self) -> _Body:
        return _Body(self, self.ask(lambda: self.store.filesystem.open_input_file(self.path)))

    def ask(self, question: Callable[[], _Got]) -> _Got:
        """Return the answer about this object; raise RejectedFileError where it, and no other, is at fault."""
        try:
            return self.store.ask(self.name, question)
        except _MissingError:
            raise RejectedFileError("file_missing", "it was there when the bucket was listed and is gone now") from None
        except UsageError as error:
            raise RejectedFileError("unreadable", str(error)) from None


@dataclass(slots=True)
class _Fetched:
    """An object with a copy of its own on this machine's disk, from the first opening on."""

    origin: _StoredObject
    folder: Path
    _copy: BinaryIO | None = field(default=None, init=False)
    _fault: ValleywatchError | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        """The object's name."""
        return self.origin.name

    def stamp(self) -> Stamp:
        """Return the object's stamp."""
        return self.origin.stamp()

    def open(self) -> BinaryIO:
        """Open the copy, from its beginning; one reading at a time."""
        if self._fault is not None:
            raise self._fault
        if self._copy is None:
            try:
                self._copy = self._fetch()
            except ValleywatchError as fault:
                self._fault = fault
                raise
        self._copy.seek(0)
        return os.fdopen(os.dup(self._copy.fileno()), "rb")

    @contextmanager
    def at_hand(self, _folder: Path, /) -> Iterator[LogFile]:
        """Return itself: it is at hand."""
        yield self

    def close(self) -> None:
        """Give the disk back, and let go of the store: a fault kept here holds its own traceback, and that this object.

        Arrow waits for the last connection when the program ends, and would wait for ever.
        """
        if self._copy is not None:
            self._copy.close()
        self._copy = self._fault = None

    def _fetch(self) -> BinaryIO:
        free = _free_bytes(self.folder)
        if self.origin.listed.size_bytes > free:
            raise DiskFullError(
                f"no space for {self.name} ({self.origin.listed.size_bytes:,} bytes) in {self.folder} ({free:,} bytes "
                "are free): free some and run again; what was committed before stays"
            )
        # A file without a name: the system takes it back however the process ends.
        copy = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115 — closed with the object
        try:
            self.origin.fetch(copy)
            copy.flush()
        except BaseException:
            copy.close()
            raise
        return copy


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


class _Body(io.RawIOBase):
    """The bytes of an open object as Python reads files: every one is the store's, and its faults are said as ours."""

    def __init__(self, origin: _StoredObject, file: Any) -> None:
        super().__init__()
        self._origin = origin
        self._file = file
        self._size_bytes = int(file.size())

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def version(self) -> tuple[int, bytes | None]:
        """Return what another writing of the object changes: its size, and S3's entity tag or Google's generation."""
        told = {key.lower(): value for key, value in (self._file.metadata() or {}).items()}
        return self._size_bytes, told.get("generation") or told.get("etag")

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, or what the object's rest fills of it.

        Where S3 gives fewer bytes than it was asked for and says so, Arrow counts those asked for and leaves the others
        as they were in memory. So the last byte is set before, and where it stays the part is read once more: the last
        byte of a whole part cannot be both marks. Text never ends in the first, and gzip hardly ever.
        """
        start = self.tell()
        part = memoryview(buffer).cast("B")[: max(self._size_bytes - start, 0)]
        if not part:
            return 0
        for mark in (0xFF, 0x00):
            part[-1] = mark
            self._file.seek(start)
            n_bytes = self._origin.ask(lambda: int(self._file.readinto(part)))
            if n_bytes == len(part) and part[-1] != mark:
                return n_bytes
        raise UnreachableError(
            f"{self._origin.name}: unreadable for now, the store gave less than the {self._size_bytes:,} bytes it "
            "announced; run again"
        )

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


class _MissingError(UsageError):
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
        return UsageError(_no_bucket(name, url))
    if is_missing or re.search(_MISSING, told):
        return _MissingError(f"no such object: {name}")
    why = trouble[1] or trouble[2] if trouble else "no answer that can be understood"
    return UnreachableError(
        f"{name}: unreadable for now, the store did not answer properly, several times in a row ({why}); "
        f"check the network{_told_endpoint(url)} and run again"
    )


def _no_bucket(name: str, url: ObjectUrl) -> str:
    return f"{name}: there is no bucket {url.bucket!r}; check its spelling{_told_endpoint(url)}"


def _unset(url: ObjectUrl) -> str:
    variable = "AWS_ACCESS_KEY_ID" if url.scheme == "s3" else "GOOGLE_APPLICATION_CREDENTIALS"
    return "" if os.environ.get(variable) else f", and {variable} is not set"


def _told_endpoint(url: ObjectUrl) -> str:
    """Name the variables that send requests elsewhere than to the vendor, where they are set."""
    names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") if url.scheme == "s3" else ("STORAGE_EMULATOR_HOST",)
    given = [name for name in names if os.environ.get(name)]
    return f" and {given[0]}" if given else ""
