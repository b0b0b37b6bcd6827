"""What is stored already, seen by the `[privacy]` of now: excerpts whose time is over, ids under another salt.

Belongs here: erasing, noticing and saying so. Does not belong here: what is written from now on (`pseudonyms`,
`staging`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta

from pipelines.privacy.pseudonyms import Privacy, read_privacy
from pipelines.privacy.settings import PrivacySettings
from pipelines.times import to_us
from pipelines.warehouse import Writer

_NEVER_US = 1 << 62
_REMEDY = "`valleywatch rebuild --from-logs` gives every log that is still there the ids of now"


def apply_privacy(writer: Writer, settings: PrivacySettings, now: datetime, tell: Callable[[str], None]) -> Privacy:
    """Return what may be written of the lines to come, once what is stored is looked after; raise UsageError."""
    privacy = read_privacy(settings, os.environ)
    note_salt(writer, privacy, tell)
    erase_excerpts(writer, settings, now)
    return privacy


def erase_excerpts(writer: Writer, settings: PrivacySettings, now: datetime) -> None:
    """Erase the excerpts of refused lines that are too old, or all of them; the lines' other columns stay.

    The accounts of a file that grows rest on these rows, so that they are not deleted.
    """
    kept_from = to_us(now - timedelta(days=settings.quarantine_days)) if settings.quarantine_excerpts else _NEVER_US
    with writer.transaction():
        writer.run("ops/erase_excerpts", refused_before_us=kept_from)


def note_salt(writer: Writer, privacy: Privacy, tell: Callable[[str], None]) -> None:
    """Keep by what ids are hashed from now on, and tell where what is stored was not: the same id is then two."""
    fields, check_value = ",".join(sorted(privacy.fields)), privacy.check_value
    before = writer.rows("ops/hashed_with")
    if before and (before[0]["fields"], before[0]["check_value"]) == (fields, check_value):
        return
    with writer.transaction():
        writer.run("ops/clear_hashed_with")
        writer.insert_rows("ops.hashed_with", [{"fields": fields, "check_value": check_value}])
    if writer.rows("ops/lake_days") and (before or fields):
        is_other_salt = bool(before) and before[0]["check_value"] != check_value
        tell(f"warning: {_difference(before[0]['fields'] if before else '', fields, is_other_salt=is_other_salt)}")


def _difference(before: str, fields: str, *, is_other_salt: bool) -> str:
    if before and fields and is_other_salt:
        return (
            "[privacy] the salt is another one than before: from now on the same request, session or instance has "
            "another id than what is stored, and a request that is logged again counts twice. Bring the old salt back, "
            f"or begin anew: {_REMEDY}"
        )
    return (
        f"[privacy] hash was {before or 'nothing'} and is {fields or 'nothing'} now: what is stored keeps its ids, and "
        f"a request that is logged again under another id counts twice. {_REMEDY}"
    )
