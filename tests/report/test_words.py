"""What the product says: the codes of the vocabulary have words, others are shown as they are."""

import pytest

from pipelines import display
from pipelines.verdict import Verdict
from pipelines.words import (
    because,
    difference,
    lever_words,
    reason_sentence,
    regime_sentence,
    side_words,
    state_words,
    verdict_details,
    verdict_headline,
)

CODES = (
    "too_few",
    "narrow_hit_range",
    "poor_fit",
    "unstable",
    "low_coverage",
    "no_price",
    "no_curve",
    "no_exit",
    "held",
)


@pytest.mark.parametrize("code", CODES)
def test_every_reason_code_has_words_that_follow_because(code: str) -> None:
    clause = reason_sentence(code)
    assert code not in clause
    assert clause[0].islower()
    assert not clause.endswith(".")


def test_unknown_codes_are_shown_as_they_are() -> None:
    for say in (reason_sentence, state_words, side_words, lever_words):
        assert say("novel_code") == "novel_code"
    assert "novel_code" in regime_sentence("novel_code", None)
    assert reason_sentence("held:novel") == f"{reason_sentence('held')} (novel)"


def test_a_reason_is_said_once() -> None:
    assert because(("x", "y", "x")) == "because x; and y"


def test_unknown_state_gives_the_reason_and_no_number() -> None:
    verdict = Verdict(state="unknown", revenue_index=0.5, lost_24h=3.0, reasons=("no_price",))
    assert verdict_headline(verdict) == "Cannot tell, because no price is configured for its traffic."
    assert verdict_details(verdict) == ()


def test_a_verdict_is_said_whole() -> None:
    verdict = Verdict(
        state="in_valley",
        hit_rate=0.5,
        revenue_index=0.9,
        index_low=0.85,
        index_high=0.95,
        floor_hit_rate=0.6,
        floor_depth=0.12,
        side="descending",
        lost_24h=20.0,
        currency="USD",
        reasons=("no_exit",),
    )
    assert verdict_headline(verdict) == "In the valley."
    assert " ".join(verdict_details(verdict)) == (
        "At a hit rate of 50.0 %, a busy second earns 10.0 % less than without a cache (index 0.900, "
        "interval 0.850–0.950). One more hit loses money. That cost about 20.00 USD in its last 24 hours. "
        "The valley is deepest at a hit rate of 60.0 %, 12.0 % below no cache; "
        "it never ends: no hit rate earns the discount back."
    )


def test_an_interval_around_one_is_said_to_decide_nothing() -> None:
    verdict = Verdict(state="escaped", hit_rate=0.5, revenue_index=1.01, index_low=0.98, index_high=1.04)
    assert "leaves open whether that is a loss or a gain" in verdict_details(verdict)[0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.912, "8.8 % less than without a cache"),
        (1.031, "3.1 % more than without a cache"),
        (0.9999, "as much as without a cache"),
    ],
)
def test_an_index_is_said_as_a_difference(value: float, said: str) -> None:
    assert difference(value) == said


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (display.share(0.0), "0.0 %"),
        (display.share(0.0001), "under 0.1 %"),
        (display.share(0.9999), "over 99.9 %"),
        (display.share(1.0), "100.0 %"),
        (display.money(0.0, "USD"), "0.00 USD"),
        (display.money(0.001, "USD"), "under 0.01 USD"),
        (display.money(-3.5, "USD"), "−3.50 USD"),
        (display.money(123456.7, None), "123,457 (currency not known)"),
        (display.money(None, "USD"), "not known"),
        (display.number(0.04321), "0.0432"),
        (display.number(19600.4), "19,600"),
        (display.number(float("nan")), "not known"),
        (display.price(1.4, "USD"), "1.40 USD per million tokens"),
        (display.count(None), "not known"),
    ],
)
def test_numbers_are_shown_without_pretending(shown: str, said: str) -> None:
    assert shown == said
