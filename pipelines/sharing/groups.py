"""k-anonymity of the shared marts, precisely.

An individual is a session; a request that names no session is one of its own. The quasi-identifiers, by which somebody
who knows a little could find a request again, are its deployment, its hour and its hit rate. A published row is a group
of requests with the same deployment and hour, and with hit rates in one range; it is published only if the requests of
at least k individuals are in it. Everything else in a row is a sum over the group, or follows from such sums.

The ranges of an hour cover all of its requests, and its totals are the sums of its ranges: nothing can be found by
subtracting one published row from another. An hour with fewer than k individuals is not published at all.

Belongs here: which groups those are. Pure: no files, no SQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Requests of one deployment and hour with request hit rates from low up to high, in thousandths.

    `n_individuals` is at most the number of those whose requests these are; over the groups of an hour it adds up.
    """

    low_permille: int
    high_permille: int
    n_requests: int
    n_individuals: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int | None
    """None where not every request reports them: the sum would be of fewer individuals than the group has."""

    def __add__(self, other: Group) -> Group:
        """Return the group of both; `other` is the next range of the same hour."""
        is_known = self.output_tokens is not None and other.output_tokens is not None
        return Group(
            self.low_permille,
            other.high_permille,
            self.n_requests + other.n_requests,
            self.n_individuals + other.n_individuals,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            (self.output_tokens or 0) + (other.output_tokens or 0) if is_known else None,
        )


def merged(groups: Iterable[Group], k: int) -> list[Group]:
    """Join neighbours, from the lowest hit rate up, until each group has k individuals; what is left joins the last.

    `groups` are all of an hour in order. Returns [] where all together have fewer than k.
    """
    done: list[Group] = []
    open_group: Group | None = None
    for group in groups:
        open_group = group if open_group is None else open_group + group
        if open_group.n_individuals >= k:
            done.append(open_group)
            open_group = None
    if open_group is not None and done:
        done.append(done.pop() + open_group)
    return done


def total(groups: Iterable[Group]) -> Group:
    """Return the hour of these groups, of which there is at least one."""
    first, *others = groups
    for other in others:
        first = first + other
    return first
