"""The log formats valleywatch reads, one small file each.

A format is a name, two sentences for people and one SQL file `sql/ingest/<name>.sql`, which maps the JSON object of a
line onto the canonical fields without interpreting them: `sql/ingest/judged.sql` types and judges them all alike.
Belongs here: what is particular to a producer. Does not belong here: rules about values.
"""

from collections.abc import Iterable

from pipelines.formats import canonical, gateway
from pipelines.formats.format import Format

FORMATS: dict[str, Format] = {entry.name: entry for entry in (canonical.FORMAT, gateway.FORMAT)}
"""Every known format by name."""


def detect(keys: Iterable[str]) -> Format | None:
    """Return the one format whose keys a line has; None when none or several fit: a format is never guessed."""
    found = [entry for entry in FORMATS.values() if entry.keys <= set(keys)]
    return found[0] if len(found) == 1 else None
