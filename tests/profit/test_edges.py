"""Requests on the very edge of a price, a band of lengths and an objective fall on one side of it, and on one alone."""

from __future__ import annotations

import pytest

from tests.place import PRICE, SOURCE, Place, request

PER_MTOK = {("early", "short"): 1.0, ("late", "short"): 3.0, ("early", "long"): 10.0, ("late", "long"): 30.0}
BANDS = {"early": "00:00-12:30", "late": "12:30-24:00"}
TIERS = {"short": "input_tokens_to = 20_001", "long": "input_tokens_from = 20_001"}
TIMES = {"2026-11-28T12:29:59.999999Z": "early", "2026-11-28T12:30:00Z": "late"}
LENGTHS = {20_000: "short", 20_001: "long"}


@pytest.mark.parametrize("at", TIMES)
@pytest.mark.parametrize("input_tokens", LENGTHS)
def test_a_request_on_an_edge_pays_one_price(place: Place, at: str, input_tokens: int) -> None:
    place.configure(SOURCE + "".join(
        PRICE.replace("= 1.0", f"= {price}") + f'hours_utc = "{BANDS[time]}"\n{TIERS[tier]}\n'
        for (time, tier), price in PER_MTOK.items()
    ))  # fmt: skip
    place.write("a.jsonl", [request(1, timestamp=at, input_tokens=input_tokens, cached_tokens=0)])
    place.settle()
    (found,) = place.rows("select n_requests, miss_revenue from profit_and_loss")
    price = PER_MTOK[TIMES[at], LENGTHS[input_tokens]]
    assert (found["n_requests"], found["miss_revenue"]) == (1, pytest.approx(input_tokens * price / 1e6))


def test_a_band_of_lengths_begins_at_its_edge(place: Place) -> None:
    edges = [1024, 4096, 16_384, 65_536, 262_144]
    place.configure(SOURCE + PRICE)
    lengths = [length for edge in edges for length in (edge - 1, edge)]
    place.write("a.jsonl", [request(n, input_tokens=length, cached_tokens=0) for n, length in enumerate(lengths)])
    place.settle()
    found = place.rows("select input_tokens_from, reported_input_tokens from profit_breakdown order by 1")
    of_band = dict.fromkeys([0, *edges], 0)
    for edge, below in zip(edges, [0, *edges], strict=False):
        of_band[below] += edge - 1
        of_band[edge] += edge
    assert {row["input_tokens_from"]: row["reported_input_tokens"] for row in found} == of_band


@pytest.mark.parametrize(
    ("output_tokens", "ttft_ms", "e2e_ms", "column"),
    [
        (11, 1500.0, 1700.0, "n_in_time"),
        (11, 1500.001, 1700.0, "n_late"),
        (11, 1500.0, 1700.001, "n_late"),
        (1, 1500.0, 9000.0, "n_in_time"),
        (0, 1500.0, 1500.0, "n_unknown_time"),
        (None, 1500.0, 1500.0, "n_unknown_time"),
    ],
)
def test_an_answer_on_the_edge_of_its_objective_is_in_time(
    place: Place, output_tokens: int | None, ttft_ms: float, e2e_ms: float, column: str
) -> None:
    place.configure(SOURCE + PRICE + '[[objectives]]\ndeployment = "*"\nttft_s = 1.5\ntpot_s = 0.02\n')
    place.write("a.jsonl", [request(1, output_tokens=output_tokens, ttft_ms=ttft_ms, e2e_ms=e2e_ms)])
    place.settle()
    (found,) = place.rows("select n_in_time, n_late, n_unknown_time from profit_and_loss")
    assert found == {name: int(name == column) for name in found}
