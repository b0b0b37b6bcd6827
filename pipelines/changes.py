"""What changed settings mean for judged days, in words.

Belongs here: sentences. Does not belong here: which days they are (`alerts.record`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipelines.alerts.record import Changed
from pipelines.times import day_text


def tell_changes(changed: Changed, tell: Callable[[str], None]) -> None:
    """Tell, a sentence each; nothing where nothing changed."""
    if changed.policy:
        tell("policy, costs or objectives changed: every judged day is judged again")
    elif changed.judged_again:
        tell(f"prices changed: {_days_text(changed.judged_again)} had none for all traffic and is judged again")
    if changed.kept:
        tell(
            f"warning: the price rows no longer say what {_days_text(changed.kept)} was published at; it keeps its "
            "prices. See `valleywatch status`; `valleywatch run --day D --reprice` judges a day at the rows of now"
        )


def _days_text(days: Sequence[int]) -> str:
    first, last = day_text(days[0]), day_text(days[-1])
    return first if len(days) == 1 else f"each of {len(days)} days from {first} to {last}"
