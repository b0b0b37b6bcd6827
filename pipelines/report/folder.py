"""
The folder that readers open: written aside, then put in its place whole by one rename of a link.

    report -> reports/000007        what is published; older links and open pages keep working on 000006

Belongs here: numbering, swapping and discarding folders. Does not belong here: what is in them (`publishing`).
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from pipelines.faults import reach
from pipelines.files import write_whole
from pipelines.warehouse.disk import make_folder, sync_folder, sync_rename

KEPT = 2
"""The published folder, and the one before: a page that is open goes on finding what it loads."""
_ABANDONED_S = 3600.0
"""Writing is not locked: a folder that was begun so long ago has no writer any more."""


class FolderAside:
    """A folder in the making; `publish` puts it where `link` points, `discard` forgets it."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self._home = link.with_name(f"{link.name}s")
        make_folder(self._home)
        self._sweep()
        self._aside = Path(tempfile.mkdtemp(prefix=".new-", dir=self._home))  # mode 0700

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder, durably and for its owner only."""
        write_whole(self._aside / name, content, 0o600)

    def published(self, name: str) -> Path | None:
        """Return a file of what is published now; None where there is none."""
        path = self.link / name
        return path if path.is_file() else None

    def publish(self) -> None:
        """Swap the link; what was published before stays until the next time but one."""
        reach("report_aside")
        target = self._take_number()
        link = self.link.with_name(f".{self.link.name}-{target.name}.tmp")
        link.unlink(missing_ok=True)
        link.symlink_to(target.relative_to(self.link.parent))
        sync_rename(link, self.link, sync_content=False)
        reach("report_written")
        for old in self._numbered()[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)

    def discard(self) -> None:
        """Leave nothing behind; without effect once published."""
        shutil.rmtree(self._aside, ignore_errors=True)

    def _take_number(self) -> Path:
        """Give the folder the next number; where another publisher takes it in this instant, the one after."""
        sync_folder(self._aside)
        while True:
            target = self._home / f"{max((int(path.name) for path in self._numbered()), default=0) + 1:06d}"
            try:
                self._aside.replace(target)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
            else:
                sync_folder(self._home)
                return target

    def _numbered(self) -> list[Path]:
        return sorted(path for path in self._home.iterdir() if path.name.isdecimal())

    def _sweep(self) -> None:
        for path in self._home.glob(".new-*"):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _ABANDONED_S:
                    shutil.rmtree(path, ignore_errors=True)
