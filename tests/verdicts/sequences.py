"""Any sequence of a deployment's hours, and any policy, for properties that must hold of all of them."""

from __future__ import annotations

from hypothesis import strategies as st

from pipelines.alerts.episodes import Hour
from pipelines.alerts.state import Observation
from pipelines.settings import PolicySettings


def _hour(gap: int, p: float | None, has_valley: bool, regime: str | None, is_priced_in_eur: bool) -> tuple[int, Hour]:
    index = None if p is None else 1.5 - p
    lost = None if index is None else 10 * (1 - index) / index
    return gap, Hour(0, Observation(p, has_valley, regime), index, lost, "EUR" if is_priced_in_eur else "USD")


def _in_order(drawn: list[tuple[int, Hour]]) -> list[Hour]:
    found, at = [], 0
    for gap, hour in drawn:
        at += gap
        found.append(Hour(at, hour.seen, hour.revenue_index, hour.lost, hour.currency))
    return found


# Probabilities at and around the thresholds come up far more often than floats at large would let them.
probabilities = st.none() | st.sampled_from([0.0, 0.3, 0.5, 0.7, 0.95, 1.0, 1.0, 0.0]) | st.floats(0, 1)
hours = st.lists(
    st.builds(
        _hour,
        st.integers(1, 3),
        probabilities,
        st.booleans(),
        st.sampled_from([None, "demand_limited", "capacity_limited"]),
        st.sampled_from([False, False, False, True]),
    ),
    max_size=40,
).map(_in_order)
"""Some hours have no traffic; one in four is sold in another currency."""
policies = st.builds(
    PolicySettings,
    capacity=st.sampled_from(["elastic", "fixed"]),
    enter_hours=st.integers(1, 5),
    leave_hours=st.integers(1, 5),
)


def counts(hour: Hour, policy: PolicySettings) -> bool:
    """Say whether the policy evaluates the hour."""
    return hour.seen.p_in_valley is not None and (
        policy.capacity == "elastic" or hour.seen.regime == "capacity_limited"
    )


def seen_by(sequence: list[Hour], policy: PolicySettings) -> list[Hour]:
    """Return the hours that the policy evaluates."""
    return [hour for hour in sequence if counts(hour, policy)]
