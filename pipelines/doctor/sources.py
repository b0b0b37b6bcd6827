"""Whether logs still arrive: patterns that match nothing, sources that went silent, files that stay behind.

Belongs here: sources and deployments. Does not belong here: object stores (no check opens a connection), what is inside
a log (the contracts judge it).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from pipelines.display import shown, utc_time
from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import DAY_S, HOUR_S, counted, listed, span
from pipelines.errors import RejectedFileError, UsageError
from pipelines.heartbeat import last_beat
from pipelines.inbox import Found, find_files
from pipelines.object_url import is_url
from pipelines.settings import SourceSettings
from pipelines.times import to_hour, to_instant, to_us
from pipelines.warehouse import Reader

MAX_WAIT_S = DAY_S
RETIRED_AFTER = timedelta(days=14)
"""A deployment that was silent for so long is taken to be gone, and no longer told of."""


def check_patterns(case: Case) -> Iterator[Finding]:
    """Find sources whose path names nothing, or something that cannot be listed."""
    if not case.settings.sources:
        yield bad(
            "sources_none",
            "no [[sources]] are configured",
            0,
            rule="at least one source is read",
            remedy="add a [[sources]] to the configuration; `valleywatch formats` lists what is read",
        )
    for source in _local(case):
        name, rule = shown(source.name), "a source's path matches at least one file, and its folders can be listed"
        found, fault = _found(case, source)
        if fault is not None:
            yield bad(
                "source_unlistable",
                f"{name}: {fault}",
                source.name,
                rule=rule,
                remedy="correct `path` of that [[sources]], or the owner and mode of what it names",
            )
        elif not found.files:
            yield bad(
                "source_empty",
                f"{name}: no file matches {source.path!r}",
                source.name,
                rule=rule,
                remedy="see whether the producer still writes there; correct `path`, or remove it",
            )
        else:
            yield ok("source_files", f"{name}: {counted(len(found.files), 'file')}", source.name, rule=rule)


def check_silence(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find sources of which nothing new was loaded for long, as of the last run: no run looked for what came since."""
    beat = last_beat(case.warehouse)
    as_of = case.now if beat is None else min(case.now, beat.finished)
    most_h = case.settings.alerting.stale_after_hours
    last_loaded = {row["source_name"]: row["last_loaded_us"] for row in reader.rows("doctor/sources")}
    rule = f"something new of every source is loaded within {most_h} hours (alerting.stale_after_hours)"
    remedy = "see whether its producer runs and writes there; remove the [[sources]] if it is gone for good"
    for source in case.settings.sources:
        name, instant_us = shown(source.name), last_loaded.get(source.name)
        if instant_us is None:
            yield bad("source_stale", f"{name}: nothing was ever loaded", source.name, rule=rule, remedy=remedy)
            continue
        silent_s = (as_of - to_instant(instant_us)).total_seconds()
        what = f"{name}: something new was last loaded {utc_time(to_instant(instant_us))} UTC"
        if silent_s > most_h * HOUR_S:
            what = f"{what}; a run {span(silent_s)} later found nothing new"
            yield bad("source_stale", what, source.name, rule=rule, remedy=remedy)
        else:
            yield ok("source", what, source.name, rule=rule)


def check_deployments(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find deployments that served requests and no longer do."""
    most_h = case.settings.alerting.stale_after_hours
    rows = [(row["deployment"], to_hour(row["newest_hour_index"])) for row in reader.rows("alerts/newest_hours")]
    alive = [(name, hour) for name, hour in rows if hour > case.now - RETIRED_AFTER]
    silent = [f"{shown(name)} since {utc_time(hour)} UTC" for name, hour in alive if case.age_s(hour) > most_h * HOUR_S]
    rule = f"a deployment serves a request every {most_h} hours (alerting.stale_after_hours)"
    if silent:
        yield warn(
            "deployments_stale",
            f"{counted(len(silent), 'deployment')} silent: {listed(silent)}",
            len(silent),
            rule=rule,
            remedy="see whether it still serves; if its log only comes later, raise stale_after_hours",
        )
    else:
        yield ok("deployments", f"{counted(len(alive), 'deployment')} with requests", len(alive), rule=rule)


def check_left_behind(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find files that no run has loaded for a day, be it that they are deferred, be it that no run looked."""
    known = {(row["path"], row["size_bytes"], row["modified_ns"]) for row in reader.rows("doctor/known_files")}
    before_ns = (to_us(case.now) - int(MAX_WAIT_S * 1e6)) * 1000
    late = []
    for source in _local(case):
        for file in _found(case, source)[0].files:
            try:
                stamp = file.stamp()
            except RejectedFileError:
                continue  # gone since it was listed
            if stamp.modified_ns < before_ns and (file.name, stamp.size_bytes, stamp.modified_ns) not in known:
                late.append(shown(file.name, 120))
    rule = f"a file is loaded within {span(MAX_WAIT_S)} of its last change"
    if late:
        yield bad(
            "files_waiting",
            f"{counted(len(late), 'file')} not loaded: {listed(late)}",
            len(late),
            rule=rule,
            remedy="run `valleywatch ingest` and read what it says: what is unfinished at its end must be written anew",
        )
    else:
        yield ok("files_waiting", "no file waits to be loaded", 0, rule=rule)


def check_rejected(case: Case, reader: Reader) -> Iterator[Finding]:
    """Find files of the last day that were refused whole."""
    rows = reader.rows("doctor/rejected_files", since_us=to_us(case.now) - int(DAY_S * 1e6))
    rule = "no file is refused"
    if rows:
        named = [f"{shown(row['path'], 120)} ({row['reason']})" for row in rows]
        yield bad(
            "files_rejected",
            f"{counted(len(rows), 'file')} refused in the last day: {listed(named)}",
            len(rows),
            rule=rule,
            remedy="`valleywatch sql \"from ingest_files where status = 'rejected'\"` says why, and the key",
        )
    else:
        yield ok("files_rejected", "no file was refused in the last day", 0, rule=rule)


def _local(case: Case) -> list[SourceSettings]:
    return [source for source in case.settings.sources if not is_url(source.path)]


def _found(case: Case, source: SourceSettings) -> tuple[Found, str | None]:
    """Return what a source's path names, and what is wrong with it, if something is."""
    try:
        found = find_files(case.settings.folder, source.path)
    except UsageError as error:
        return Found(()), str(error)
    hidden = [f"{shown(unreadable.name, 120)} {unreadable.why}" for unreadable in found.unreadable]
    return found, listed(hidden) if hidden else None
