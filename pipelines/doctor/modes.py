"""Who may read and write the files.

Belongs here: owners and modes of the configuration and of the warehouse. Does not belong here: the logs, which are
other people's.
"""

from __future__ import annotations

import shlex
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import counted, listed


@dataclass(frozen=True, slots=True)
class _Kept:
    """Files that are kept at one mode, or at fewer bits of it."""

    code: str
    mode: int
    of: str
    patterns: tuple[str, ...]


_FOLDERS = (".", "lake", "lake/day=*", "snapshots", "tmp", "reports", "reports/*", "damaged-*")
_KEPT = (
    _Kept("mode_folder", 0o700, "folder", _FOLDERS),
    _Kept("mode_database", 0o600, "database file", ("warehouse.duckdb", "snapshots/*.duckdb", "*.lock")),
    _Kept("mode_published", 0o600, "published file", ("last_*.json", "reports/*/*")),
    _Kept("mode_lake", 0o400, "lake file", ("lake/*/*.parquet",)),
)


def check_configuration(case: Case) -> Iterator[Finding]:
    """Find whether others may write the configuration: it says where alerts go and what is read."""
    mode = stat.S_IMODE(case.config.stat().st_mode)
    what, rule = f"{case.config} has mode {mode:04o}", "only its owner, at most the group, may write the configuration"
    if mode & stat.S_IWOTH:
        remedy = f"chmod o-w {shlex.quote(str(case.config))}"
        yield bad("mode_configuration", what, f"{mode:04o}", rule=rule, remedy=remedy)
    else:
        yield ok("mode_configuration", what, f"{mode:04o}", rule=rule)


def check_warehouse(case: Case) -> Iterator[Finding]:
    """Find what others than the owner may read or write; logs hold what people asked."""
    for kept in _KEPT:
        paths = _matching(case.folder, kept.patterns)
        wide = [path for path in paths if stat.S_IMODE(path.stat().st_mode) & ~kept.mode]
        rule = f"a {kept.of} has at most mode {kept.mode:04o}"
        if wide:
            found = ", ".join(sorted({f"{stat.S_IMODE(path.stat().st_mode):04o}" for path in wide}))
            names = listed([str(path.relative_to(case.folder)) for path in wide])
            patterns = [pattern for pattern in kept.patterns if set(_matching(case.folder, [pattern])) & set(wide)]
            command = f"cd {shlex.quote(str(case.folder))} && chmod {kept.mode:o} {' '.join(patterns)}"
            yield warn(
                kept.code, f"{counted(len(wide), kept.of)} of mode {found}: {names}", found, rule=rule, remedy=command
            )
        else:
            yield ok(
                kept.code, f"{counted(len(paths), kept.of)} at most {kept.mode:04o}", f"{kept.mode:04o}", rule=rule
            )


def check_owners(case: Case) -> Iterator[Finding]:
    """Find files of somebody else, as a run by root leaves them: the next run by the job's user fails on them."""
    owner = case.folder.stat().st_uid
    paths = _matching(case.folder, [pattern for kept in _KEPT for pattern in kept.patterns])
    others = [str(path.relative_to(case.folder)) for path in paths if path.lstat().st_uid != owner]
    rule = "everything in the warehouse belongs to the owner of its folder"
    if others:
        remedy = f"chown -R --reference={shlex.quote(str(case.folder))} {shlex.quote(str(case.folder))}"
        yield bad(
            "owners",
            f"{counted(len(others), 'file')} of another user: {listed(others)}",
            len(others),
            rule=rule,
            remedy=remedy,
        )
    else:
        yield ok("owners", f"all of user {owner}", owner, rule=rule)


def _matching(folder: Path, patterns: Iterable[str]) -> list[Path]:
    found = {path for pattern in patterns for path in ([folder] if pattern == "." else folder.glob(pattern))}
    return sorted(path for path in found if path.exists())
