"""Which files a source names, and how those of this machine are opened.

Belongs here: finding logs, and opening regular files. Does not belong here: what is inside them, nor object stores
(`objects`). Symbolic links are not followed and anything that is no regular file is refused, so that a log folder
cannot lead elsewhere or block a run.
"""

from __future__ import annotations

import io
import os
import stat
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO

from pipelines.errors import RejectedFileError, UsageError
from pipelines.log_file import LogFile, Stamp
from pipelines.object_url import is_url
from pipelines.patterns import WILDCARDS, refuse_joined_stars


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something a pattern reached that can be no log, or hides some; `why` goes on from the name."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Found:
    """The logs a pattern matches, sorted, and what could not be listed or read on the way."""

    files: tuple[LogFile, ...]
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of this machine."""

    path: Path

    @property
    def name(self) -> str:
        """The path as it is kept and shown."""
        return path_text(self.path)

    def stamp(self) -> Stamp:
        """Return size and time of the last change of content, owner or mode."""
        try:
            found = self.path.stat(follow_symlinks=False)
        except FileNotFoundError:
            raise RejectedFileError(
                "file_missing", "gone since the folder was listed; the next run lists it anew"
            ) from None
        except OSError as error:
            raise RejectedFileError("unreadable", str(error.strerror)) from None
        return Stamp(found.st_size, max(found.st_mtime_ns, found.st_ctime_ns), found.st_mtime_ns)

    def open(self) -> BinaryIO:
        """Open a regular file."""
        return open_regular(self.path)

    def at_hand(self, _folder: Path, /) -> AbstractContextManager[LogFile]:
        """Return itself: it is at hand."""
        return nullcontext(self)


def find_files(folder: Path, pattern: str) -> Found:
    """Return the logs under `folder`, at an absolute path or in an object store that match `pattern`.

    `*` stays within a name, `**` spans folders. Raises UsageError for an impossible pattern, and when one without
    wildcards names nothing: that is a misspelt path, not a quiet day.
    """
    if is_url(pattern):
        # The library that talks to stores is loaded for those who have one.
        from pipelines.objects import find_objects

        return find_objects(pattern)
    if "\0" in pattern:
        raise UsageError(f"the path {pattern!r} holds a NUL character: no file has such a name")
    refuse_joined_stars(pattern)
    parts = (folder / pattern).parts
    fixed = len(folder.parts) if not Path(pattern).is_absolute() else 1
    while fixed < len(parts) and not WILDCARDS & set(parts[fixed]):
        fixed += 1
    start = Path(*parts[:fixed])
    if fixed == len(parts):
        if not os.path.lexists(start):
            raise UsageError(f"no such file: {start}")
        return Found((_settled(start),))
    if os.path.lexists(folder / pattern):
        return Found((_settled(folder / pattern),))
    if not start.is_dir():
        raise UsageError(f"no such folder: {start} (from the path {pattern!r})")
    files: set[Path] = set()
    unreadable: set[Path] = set()
    _walk(start.resolve(), parts[fixed:], files, unreadable)
    hidden = (Unreadable(path_text(path), "cannot be listed; check its owner and mode") for path in sorted(unreadable))
    return Found(tuple(map(LocalFile, sorted(files))), tuple(hidden))


def _settled(file: Path) -> LocalFile:
    """Resolve the folders of a path that its owner wrote; the file itself is still not followed."""
    return LocalFile(file.parent.resolve() / file.name)


def find_named(folder: Path, pattern: str) -> list[LogFile]:
    """Return the logs a person named, as `find_files` does; raise UsageError when there is none."""
    found = find_files(folder, pattern)
    if found.unreadable:
        raise UsageError(f"{ascii(found.unreadable[0].name)[1:-1]} {found.unreadable[0].why}")
    if not found.files:
        raise UsageError(f"no file matches {pattern!r}" + ("" if is_url(pattern) else f" in {folder}"))
    return list(found.files)


def _walk(folder: Path, parts: tuple[str, ...], files: set[Path], unreadable: set[Path]) -> None:
    """Collect what matches `parts` below `folder`: unlike a glob, a folder that cannot be listed is not passed over."""
    part, rest = parts[0], parts[1:]
    if part == "**" and rest:
        _walk(folder, rest, files, unreadable)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        unreadable.add(folder)
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if part == "**":
            if is_folder:
                _walk(folder / entry.name, parts, files, unreadable)
        elif fnmatchcase(entry.name, part):
            if is_folder and rest:
                _walk(folder / entry.name, rest, files, unreadable)
            elif not is_folder and not rest:
                files.add(folder / entry.name)


def path_text(path: Path) -> str:
    """Return the path as text that any table can keep; bytes that are no UTF-8 are shown as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def open_regular(path: Path) -> BinaryIO:
    """Open `path` for reading; raise RejectedFileError unless it is a regular file reached without a link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise RejectedFileError("file_missing", "it was there when the folder was listed and is gone now") from None
    except OSError as error:
        if path.is_symlink():
            raise RejectedFileError(
                "symbolic_link", "links are not followed; name the file it points to as its own source"
            ) from None
        raise RejectedFileError("unreadable", f"{error.strerror}; check its owner and mode") from None
    try:
        _require_regular(path, descriptor)
    except RejectedFileError:
        os.close(descriptor)
        raise
    return io.BufferedReader(_LogFile(descriptor, "rb"))


def _require_regular(path: Path, descriptor: int) -> None:
    """Refuse what is no regular file, and one reached through a folder that became a link after it was listed.

    O_NOFOLLOW guards the last name alone. Where the system does not tell an open file's path, that is not checked.
    """
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise RejectedFileError("not_a_regular_file", "only regular files are read")
    try:
        opened = Path(f"/proc/self/fd/{descriptor}").readlink()
    except OSError:
        return
    if opened != path.absolute():
        raise RejectedFileError(
            "symbolic_link",
            "it was moved while it was opened, or a folder on its way is a link: name the target instead",
        )


class _LogFile(io.FileIO):
    """A file whose failure to be read half way is its own fault: it must not stop the other files."""

    def readinto(self, buffer: Any) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise RejectedFileError(
                "unreadable", f"{error.strerror} at byte {self.tell()}; check the disk or the share it is on"
            ) from None
