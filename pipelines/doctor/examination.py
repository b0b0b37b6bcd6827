"""Every check, one after the other, none of which can stop the others.

Belongs here: the list of the checks, what each needs, and what is said of one that fails itself. Does not belong here:
any check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pipelines.display import shown
from pipelines.doctor import (
    alerts,
    clock,
    configuration,
    dagster_home,
    data,
    head_room,
    locks,
    modes,
    snapshot,
    sources,
    success,
    versions,
)
from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, worst_first
from pipelines.errors import ValleywatchError
from pipelines.stopping import Stopped
from pipelines.warehouse import Reader

Check = Callable[[Case], Iterable[Finding]]
PublishedCheck = Callable[[Case, Reader], Iterable[Finding]]

OF_ITSELF: tuple[Check, ...] = (
    configuration.check_channels,
    configuration.check_salt,
    modes.check_configuration,
    sources.check_patterns,
    dagster_home.check_home,
    clock.check_synchronized,
    versions.check_packages,
)
"""Checks that need nothing but the configuration and the machine."""
OF_FOLDER: tuple[Check, ...] = (
    success.check_success,
    locks.check_writer,
    locks.check_delivery,
    locks.check_file_system,
    head_room.check_room,
    head_room.check_left_over,
    versions.check_writer_version,
    modes.check_warehouse,
    modes.check_owners,
)
"""Checks that need the warehouse's folder."""
OF_PUBLISHED: tuple[PublishedCheck, ...] = (
    snapshot.check_content,
    snapshot.check_behind,
    snapshot.check_lake,
    success.check_blocked_days,
    alerts.check_deliveries,
    alerts.check_untried,
    sources.check_silence,
    sources.check_deployments,
    sources.check_left_behind,
    sources.check_rejected,
    head_room.check_growth,
    clock.check_clock,
    data.check_data,
)
"""Checks that ask the snapshot, which the first of them reads through."""


def examine(case: Case) -> list[Finding]:
    """Make every check that can be made; return what they found, worst first. Nothing but a stop raises."""
    findings = list(_guarded("the warehouse's folder", lambda: configuration.check_folder(case)))
    is_usable = not any(finding.level == "bad" for finding in findings)
    if is_usable:
        for check in OF_FOLDER:
            findings += _guarded(_name(check), lambda check=check: check(case))  # type: ignore[misc]
        findings += _published(case)
    for check in OF_ITSELF:
        findings += _guarded(_name(check), lambda check=check: check(case))  # type: ignore[misc]
    findings += _guarded("Dagster's history", lambda: _history(case))
    return worst_first(findings)


def _published(case: Case) -> list[Finding]:
    """Open the snapshot once for all that ask it; where it is not whole, say so once and leave the others out."""
    findings = _guarded("the snapshot", lambda: snapshot.check_file(case))
    if findings:
        return findings
    first, *others = OF_PUBLISHED
    try:
        with case.warehouse.reader() as reader:
            findings = list(first(case, reader))
            for check in others:
                findings += _guarded(_name(check), lambda check=check: check(case, reader))  # type: ignore[misc]
    except (ValleywatchError, OSError) as error:
        findings = [snapshot.unusable(error)]
    return findings


def _history(case: Case) -> Iterator[Finding]:
    home = dagster_home.usable_home(case)
    if home is not None:
        from pipelines.doctor.dagster_runs import check_history

        yield from check_history(case, home)


def _guarded(subject: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Return what a check finds; one that fails has found that something is wrong which it does not know."""
    try:
        return list(check())
    except (Stopped, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - doctor is asked when things are broken, in ways nobody thought of
        said = shown(f"{type(error).__name__}: {error}".partition("\n")[0], 300)
        return [
            bad(
                "cannot_tell",
                f"{subject} cannot be checked: {said}",
                subject,
                rule="every check can be made",
                remedy="the error names what is in the way: mend it and ask again; the other findings hold",
            )
        ]


def _name(check: Check | PublishedCheck) -> str:
    module = check.__module__.rpartition(".")[2]
    return f"{module}.{check.__name__.removeprefix('check_')}".replace("_", " ")
