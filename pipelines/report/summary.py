"""
What of the fleet needs attention, in a few sentences.

Belongs here: counting verdicts and adding up what they cost. Does not belong here: one deployment's words (`words`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from pipelines import display
from pipelines.verdict import Verdict


def attention(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """Say in a few sentences how many are where, and what the valley costs a day, each currency on its own."""
    verdicts = list(verdicts)
    inside = [verdict for verdict in verdicts if verdict.state == "in_valley"]
    undecided = sum(1 for verdict in verdicts if verdict.state in (None, "unknown"))
    said = [f"{len(inside)} of {_deployments(len(verdicts))} {'is' if len(inside) == 1 else 'are'} in the valley."]
    losses: dict[str | None, list[float]] = defaultdict(list)
    for verdict in inside:
        if verdict.lost_24h is not None and display.known(verdict.lost_24h):
            losses[verdict.currency].append(verdict.lost_24h)
    if losses:
        amounts = [display.money(math.fsum(lost), currency) for currency, lost in losses.items()]
        said.append(f"What that cost in 24 hours: {' and '.join(amounts)}.")
    if partial := sum(1 for verdict in inside if verdict.lost_24h is not None and verdict.lost_in_part):
        said.append(f"Of {partial} of them that is the cost of some hours only.")
    if missing := len(inside) - sum(len(lost) for lost in losses.values()):
        said.append(f"For {missing} of them the cost is not known.")
    if undecided:
        said.append(f"For {undecided} there is no verdict.")
    return tuple(said)


def _deployments(n: int) -> str:
    return f"{n} deployment" if n == 1 else f"{n} deployments"
