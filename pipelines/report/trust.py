"""
What may be said of a deployment whose curve cannot be trusted.

Belongs here: withholding. Does not belong here: finding out whether a curve can be trusted (`models.trust`).
"""

from __future__ import annotations

from dataclasses import replace

from pipelines import words
from pipelines.report_input import DeploymentReport
from pipelines.verdict import Verdict


def trusted_verdict(deployment: DeploymentReport) -> Verdict:
    """
    Withhold what rests on an untrustworthy curve: from one, no valley verdict follows.

    What was measured (hit rate, coverage, prices, busy share) stays. The state becomes unknown with the curve's
    reasons, unless it was kept from earlier hours: a held state stays, without numbers.
    """
    curve, verdict = deployment.curve, deployment.verdict
    if curve is None or curve.trustworthy:
        return verdict
    return replace(
        verdict,
        state=verdict.state if words.is_held(verdict.reasons) else "unknown",
        reasons=tuple(dict.fromkeys((*verdict.reasons, *curve.reasons))),
        revenue_index=None,
        index_low=None,
        index_high=None,
        floor_hit_rate=None,
        exit_hit_rate=None,
        floor_depth=None,
        side=None,
        lost_24h=None,
        lever=None,
    )
