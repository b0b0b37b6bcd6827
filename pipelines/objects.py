"""Logs in an object store, through Arrow's file systems for S3 and Google Cloud Storage.

Belongs here: listing and fetching. Does not belong here: connecting, and what it means when a store refuses
(`object_store`), what a name may be (`object_url`), content (`lines`).

An object is fetched once, into a file without a name on the warehouse's disk, and every reading of it is of that file:
the network is met in one place, and a connection that breaks can never leave half an object loaded.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pyarrow import fs

from pipelines.errors import DiskFullError, RejectedFileError, UnreachableError, UsageError, ValleywatchError
from pipelines.inbox import Found, Unreadable
from pipelines.log_file import LogFile, Stamp
from pipelines.object_store import MissingObjectError, ObjectStore, no_bucket
from pipelines.object_url import is_plain, read_url
from pipelines.patterns import WILDCARDS, matches

CHUNK_BYTES = 8 << 20
MAX_OBJECT_BYTES = 8 << 30
"""An object is kept on disk while it is read; a larger one is no log of some hours, and not worth the risk."""
YOUNG_NS = 5_000_000_000
"""S3 tells changes by the second: an object younger than this may change again without its stamp changing."""

_Got = TypeVar("_Got")


def find_objects(text: str) -> Found:
    """Return the objects that `text` names, sorted by key.

    The parts of the key before its first wildcard bound the listing. What a key cannot be told apart by is refused by
    name. Raises UsageError where the name or the credentials need a person, UnreachableError where time may help.
    """
    url = read_url(text)
    store = ObjectStore.of(url)
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


def _named(store: ObjectStore, text: str, path: str) -> _StoredObject:
    listed_ns = time.time_ns()
    entry = store.ask(text, lambda: store.filesystem.get_file_info(path))
    if entry.type == fs.FileType.Directory:
        raise UsageError(f"{text} is a folder of objects: add a pattern for names, such as `/**/*.jsonl.gz`")
    if entry.type != fs.FileType.File:
        _require_bucket(store, text)
        raise UsageError(f"no such object: {text}")
    return _StoredObject.of(store, entry, listed_ns)


def _require_bucket(store: ObjectStore, text: str) -> None:
    try:
        kind = store.ask(text, lambda: store.filesystem.get_file_info(store.url.bucket)).type
    except UsageError:
        return  # An identity may list in a bucket that it may not ask about.
    if kind == fs.FileType.NotFound:
        raise UsageError(no_bucket(text, store.url))


@dataclass(frozen=True, slots=True)
class _StoredObject:
    """An object as it was listed."""

    store: ObjectStore
    path: str
    """Bucket and key."""
    listed: Stamp

    @classmethod
    def of(cls, store: ObjectStore, entry: Any, listed_ns: int) -> _StoredObject:
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
        except MissingObjectError:
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
