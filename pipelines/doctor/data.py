"""What the job itself has to say of the newest day's data: coverage, quarantine, contradictions.

Belongs here: telling it where the rest is told. Does not belong here: judging data (`contracts`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.contracts import warnings
from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, ok, warn
from pipelines.warehouse import Reader


def check_data(_case: Case, reader: Reader) -> Iterator[Finding]:
    """Find what `valleywatch status` notes of the newest judged day."""
    told = warnings(reader)
    rule = "the newest day keeps what is expected of it"
    for sentence in told:
        yield warn("data", sentence, rule=rule, remedy="the view check_findings has it by day; the verdicts stand")
    if not told:
        yield ok("data", "nothing is noted of the newest day", rule=rule)
