"""What instances cost: kinds, precedence, what is not known; and rows that are refused with a reason."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.costs import CostSettings, HourCost, costs_of
from pipelines.errors import UsageError
from pipelines.objectives import ObjectiveSettings, objectives_of
from pipelines.settings import load_settings
from tests.place import SOURCE, Place

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = int(START.timestamp()) // 3600
RESERVED = {"kind": "reserved", "instances": 2, "per_instance_hour": 3.0}
SPOT = {"kind": "spot", "instances": 1, "per_instance_hour": 2.0}


def cost(*rows: dict[str, Any], n_seen: int | None = 4, hour: int = HOUR, deployment: str = "pool") -> HourCost:
    plain = {"deployment": "pool", "effective_from": START, "per_instance_hour": 6.0}
    return costs_of([CostSettings.model_validate(plain | row) for row in rows]).of(deployment, hour, n_seen)


@pytest.mark.parametrize(
    ("rows", "n_seen", "hours", "money"),
    [
        ([{}], 4, 4, 24.0),
        ([{}], 0, 0, 0.0),
        ([{}, RESERVED], 4, 4, 18.0),
        ([{}, RESERVED], 1, 2, 6.0),
        ([{}, RESERVED, SPOT], 4, 4, 14.0),
        ([SPOT | {"instances": None}], 4, 4, 8.0),
        ([{"instances": 3}], None, 3, 18.0),
        ([{"instances": 3}], 5, 5, 30.0),
        ([{"instances": 1}, RESERVED, SPOT], None, 4, 14.0),
    ],
)
def test_what_runs_is_paid_reserved_first_then_spot_then_on_demand(
    rows: list[dict[str, Any]], n_seen: int | None, hours: int, money: float
) -> None:
    found = cost(*rows, n_seen=n_seen)
    assert (found.instance_hours, found.cost, found.currency, found.reason) == (hours, money, "USD", None)


@pytest.mark.parametrize(
    ("rows", "n_seen", "reason"),
    [
        ([], 4, "no_cost"),
        ([{"effective_from": datetime(2027, 1, 1, tzinfo=UTC)}], 4, "no_cost"),
        ([{}], None, "instances_not_known"),
        ([RESERVED], 4, "instances_without_cost"),
        ([{}, RESERVED | {"deployment": "*", "currency": "EUR"}], 4, "costs_in_several_currencies"),
    ],
)
def test_a_cost_that_is_not_known_says_why(rows: list[dict[str, Any]], n_seen: int | None, reason: str) -> None:
    found = cost(*rows, n_seen=n_seen)
    assert (found.cost, found.reason) == (None, reason)


def test_of_each_kind_the_row_that_goes_before_holds_in_its_hours() -> None:
    later = {"effective_from": datetime(2026, 1, 1, 5, tzinfo=UTC), "per_instance_hour": 7.0}
    rows = ({"deployment": "*", "per_instance_hour": 1.0}, {}, later, RESERVED | {"deployment": "p*"})
    assert [cost(*rows, hour=HOUR + hour).cost for hour in (4, 5)] == [18.0, 20.0]
    assert cost(*rows, deployment="x").cost == 4.0


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('[[costs]]\ndeployment = "*"\neffective_from = 2026-01-01\n', "costs.1.per_instance_hour: required"),
        ("{cost}\nper_hour = 1.0", "costs.1.per_hour: unknown key (did you mean 'per_instance_hour'?)"),
        ('{cost}\nkind = "reserved"', "instances: required of reserved ones"),
        ('{cost}\nkind = "ondemand"', "costs.1.kind"),
        ('{cost}\ncurrency = "usd"', "three capital letters, such as USD, not 'usd'"),
        ("{cost}\ninstances = 0", "costs.1.instances"),
        ("{cost}\neffective_to = 2026-01-01", "is not after"),
        ("{cost}\neffective_to = 2026-02-01T00:30:00Z", "costs are by the hour"),
        ("{cost}\n{cost}", "costs.1 and costs.2 both cost the same kind of instances of '*' at the same time"),
        (
            '{cost}\n{cost}\nkind = "spot"\ncurrency = "EUR"',
            "costs.1 and costs.2 are for '*' in USD and EUR at the same time",
        ),
        ('[[objectives]]\ndeployment = "*"', "asks for no time: give ttft_s, tpot_s or e2e_s"),
        (
            '[[objectives]]\ndeployment = "*"\nttft_ms = 5.0',
            "objectives.1.ttft_ms: unknown key (did you mean 'ttft_s'?)",
        ),
        ('[[objectives]]\ndeployment = "*"\nttft_s = 0.0', "objectives.1.ttft_s"),
        (
            '[[objectives]]\ndeployment = "*"\nttft_s = 1.0\n' * 2,
            "objectives.1 and objectives.2 both say which answers are in time of '*': leave one of them out",
        ),
        ('[objectives]\ndeployment = "*"', "must be a section, written [[objectives]]"),
        ('[policy]\nrevenue_scope = "all"', "policy.revenue_scope"),
    ],
)
def test_a_row_that_says_nothing_certain_is_refused_by_name(place: Place, section: str, said: str) -> None:
    plain = '[[costs]]\ndeployment = "*"\neffective_from = 2026-01-01\nper_instance_hour = 2.0'
    place.configure(SOURCE + section.replace("{cost}", plain))
    with pytest.raises(UsageError) as refused:
        load_settings(place.config)
    assert said in str(refused.value)


def test_the_objective_of_a_deployment_is_the_most_specific_one() -> None:
    rows = [
        {"deployment": "*", "e2e_s": 9.0},
        {"deployment": "p*", "ttft_s": 1.0},
        {"deployment": "pool", "ttft_s": 2.0},
    ]
    found = objectives_of([ObjectiveSettings.model_validate(row) for row in rows])
    limits = [found.of(name) for name in ("pool", "pit", "x")]
    assert [of and (of.ttft_s, of.e2e_s) for of in limits] == [(2.0, None), (1.0, None), (None, 9.0)]
    assert objectives_of([]).of("pool") is None
