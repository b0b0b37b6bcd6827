"""Joining bins: for any hour the groups are a partition of it into ranges, each of at least k individuals."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pipelines.sharing.groups import Group, merged, total


@st.composite
def hours(draw: st.DrawFn) -> list[Group]:
    """The groups of an hour; a bin may be of nobody new."""
    lows = sorted(draw(st.sets(st.integers(0, 99), min_size=1, max_size=30)))
    found = []
    for low in lows:
        n_individuals = draw(st.integers(0, 7))
        n_requests = n_individuals + draw(st.integers(0 if n_individuals else 1, 5))
        cached = draw(st.integers(0, 1000))
        output = draw(st.none() | st.integers(0, 50))
        found.append(Group(low * 10, low * 10 + 10, n_requests, n_individuals, 1000, cached, output))
    return found


@given(groups=hours(), k=st.integers(2, 12))
def test_groups_are_ranges_of_k_that_add_up_to_the_hour(groups: list[Group], k: int) -> None:
    done = merged(groups, k)
    if sum(group.n_individuals for group in groups) < k:
        assert done == []
        return
    assert total(done) == total(groups)
    assert min(group.n_individuals for group in done) >= k
    assert all(one.high_permille <= two.low_permille for one, two in itertools.pairwise(done))
    for one in done:
        inside = [x for x in groups if one.low_permille <= x.low_permille < one.high_permille]
        assert total(inside) == one
    # Nothing is joined without need: a group without its last bins is too small, the last group apart.
    for one in done[:-1]:
        inside = [x for x in groups if one.low_permille <= x.low_permille < one.high_permille]
        assert sum(x.n_individuals for x in inside[:-1]) < k


def test_output_is_told_only_where_every_request_reports_it() -> None:
    known, unknown = Group(0, 10, 5, 5, 100, 1, 7), Group(10, 20, 5, 5, 100, 11, None)
    assert (known + known).output_tokens == 14
    assert (known + unknown).output_tokens is None
    assert merged([known, unknown], 5) == [known, unknown]
