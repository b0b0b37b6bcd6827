"""Files and folders of the warehouse: the writer's lock, durable renames, hashes, room.

Belongs here: what is asked of the file system. Does not belong here: databases (`engine`).
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.errors import BusyError, DiskFullError

LOOK_S = 0.1
"""Longest that somebody who only looks whether the lock is held may have it: whoever wants it waits so long."""
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_NO_SPACE_WORDS = r"No space left on device|Disk quota exceeded|max_temp_directory_size"


@contextmanager
def lock(path: Path, wait_s: float) -> Iterator[None]:
    """Hold an exclusive lock on `path`; the kernel frees it however the process ends."""
    deadline = time.monotonic() + max(wait_s, LOOK_S)
    with path.open("a+") as file:
        path.chmod(0o600)
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    file.seek(0)
                    holder = file.read().strip() or "unknown"
                    raise BusyError(
                        f"{path.parent} is being written by process {holder}: try again when it has ended"
                    ) from None
                time.sleep(0.05)
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield


def is_locked(path: Path) -> bool:
    """Say whether a process holds the lock on `path`, which is free where there is no such file; raise OSError.

    There is no asking but by taking it; shared and for an instant.
    """
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def disk_full(folder: Path, error: Exception) -> DiskFullError | None:
    """Return what to say where `error` comes from a lack of space; DuckDB tells so in words alone."""
    if getattr(error, "errno", None) not in _NO_SPACE and not re.search(_NO_SPACE_WORDS, str(error)):
        return None
    return DiskFullError(
        f"no space is left for {folder} ({shutil.disk_usage(folder).free:,} bytes are free): free some and run again; "
        f"what was committed before stays, what was not is done anew ({error})"
    )


def make_folder(folder: Path) -> None:
    """Make a folder where it is missing, its name on disk before anything in it is relied on."""
    if folder.is_dir():
        return
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_rename(source: Path, target: Path, *, sync_content: bool = True) -> None:
    """Rename durably: content on disk before the name points at it, the name on disk before returning."""
    if sync_content:
        with source.open("rb") as file:
            os.fsync(file.fileno())
    source.replace(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
