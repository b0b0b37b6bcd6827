"""Which files a source names, and how they are opened.

Belongs here: finding and opening regular files. Does not belong here: what is inside them. Symbolic links are not
followed and anything that is no regular file is refused, so that a log folder cannot lead elsewhere or block a run.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from pipelines.errors import RejectedFileError, UsageError

WILDCARDS = frozenset("*?[")


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files under `folder` (or at an absolute path) that match `pattern`, sorted; `**` spans folders.

    Raises UsageError for an impossible pattern, and when one without wildcards names nothing: that is a misspelt path,
    not a quiet day.
    """
    if "\0" in pattern:
        raise UsageError(f"the path {pattern!r} holds a NUL character: no file has such a name")
    if any("**" in part and part != "**" for part in Path(pattern).parts):
        raise UsageError(f"the path {pattern!r}: `**` spans folders and stands alone between slashes; use `*` in names")
    parts = Path(pattern).parts
    root = Path(parts[0]) if Path(pattern).is_absolute() else folder
    relative = parts[1:] if Path(pattern).is_absolute() else parts
    fixed = 0
    while fixed < len(relative) and not WILDCARDS & set(relative[fixed]):
        fixed += 1
    start = root.joinpath(*relative[:fixed])
    if fixed == len(relative):
        if not start.exists():
            raise UsageError(f"no such file: {start}")
        return [start]
    if not start.is_dir():
        raise UsageError(f"no such folder: {start} (from the path {pattern!r})")
    found = start.glob(str(Path(*relative[fixed:])))
    return sorted(path for path in found if not path.is_dir())


def find_named(folder: Path, pattern: str) -> list[Path]:
    """Return the files a person named, as `find_files` does; raise UsageError when there is none."""
    found = find_files(folder, pattern)
    if not found:
        raise UsageError(f"no file matches {pattern!r} in {folder}")
    return found


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
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RejectedFileError("not_a_regular_file", "only regular files are read")
    return os.fdopen(descriptor, "rb")
