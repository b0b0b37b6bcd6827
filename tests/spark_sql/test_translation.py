"""`sql/spark/` is what `sql/` says, translated, and the page on it lists the subset there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.queries import load
from tests.conftest import REPO
from tools.spark_sql.__main__ import PAGE, page
from tools.spark_sql.lint import ON_SPARK, findings, lint
from tools.spark_sql.transpile import OVERRIDES, STATEMENTS, parted, translated, write

SQL = REPO / "sql"
SOURCE = """\
-- name: mart/counts
-- grain: deployment
-- params: from_us BIGINT, to_us BIGINT (arrivals in
--         [from_us, to_us))
-- reads: requests
-- units: none
-- why: for this test
select deployment, count(*) filter (where model = 'a\\b')::bigint as n, sum(input_tokens // 2)::bigint as x
from requests
where arrived_us >= $from_us and arrived_us < $to_us
group by deployment
"""
TRANSLATED = """\
-- name: spark/mart/counts
-- grain: deployment
-- params: from_us BIGINT, to_us BIGINT (arrivals in
--         [from_us, to_us))
-- reads: requests
-- units: none
-- generated: from sql/mart/counts.sql by sqlglot 30.30.0 (`make spark-sql`); edit that, not this
SELECT
  deployment,
  CAST(COUNT(*) FILTER(WHERE
    model = 'a\\\\b') AS BIGINT) AS n,
  CAST(SUM(input_tokens DIV 2) AS BIGINT) AS x
FROM requests
WHERE
  arrived_us >= :from_us AND arrived_us < :to_us
GROUP BY
  deployment
"""


@pytest.fixture
def sql(tmp_path: Path) -> Path:
    (tmp_path / "mart").mkdir()
    (tmp_path / "mart" / "counts.sql").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_committed_statement_is_what_its_source_translates_to(name: str) -> None:
    committed = (SQL / "spark" / f"{name}.sql").read_text()
    assert committed == translated(SQL, name), "run `make spark-sql` and review what changed in sql/spark/"


def test_every_statement_for_spark_has_a_source() -> None:
    found = {str(path.relative_to(SQL / "spark").with_suffix("")) for path in (SQL / "spark").rglob("*.sql")}
    overriding = {name for name in found if name.startswith("overrides/")}
    assert found - overriding == set(STATEMENTS)
    assert {name.removeprefix("overrides/") for name in overriding} <= set(STATEMENTS)


@pytest.mark.parametrize("name", STATEMENTS)
def test_both_bind_the_same_parameters(name: str) -> None:
    assert load(f"spark/{name}").params == load(name).params


def test_a_translation_keeps_the_header_the_parameters_and_the_text_of_literals(sql: Path) -> None:
    assert translated(sql, "mart/counts") == TRANSLATED


def test_a_translation_is_written_once(sql: Path) -> None:
    assert write(sql, ("mart/counts",)) == [sql / "spark" / "mart" / "counts.sql"]
    assert write(sql, ("mart/counts",)) == []
    assert (sql / "spark" / "mart" / "counts.sql").read_text() == TRANSLATED


def test_what_has_no_translation_is_refused_with_what_to_do(sql: Path) -> None:
    (sql / "mart" / "counts.sql").write_text(SOURCE.replace("count(*)", "arg_max(a, b, 3)"))
    with pytest.raises(
        ValueError, match=r"sql/mart/counts\.sql cannot be translated .* sql/spark/overrides/mart/counts"
    ):
        translated(sql, "mart/counts")
    (sql / "mart" / "counts.sql").write_text("select (1")
    with pytest.raises(ValueError, match=r"sql/mart/counts\.sql cannot be translated"):
        translated(sql, "mart/counts")
    (sql / "mart" / "counts.sql").write_text("select 1; select 2")
    with pytest.raises(ValueError, match="holds 2 statements"):
        translated(sql, "mart/counts")


def test_a_statement_written_by_hand_wins(sql: Path) -> None:
    by_hand = sql / OVERRIDES / "mart" / "counts.sql"
    by_hand.parent.mkdir(parents=True)
    by_hand.write_text("-- name: spark/overrides/mart/counts\n-- grain: x\n-- why: no other way\nSELECT hash(:a)\n")
    made = translated(sql, "mart/counts")
    assert made.splitlines() == [
        "-- name: spark/mart/counts",
        "-- grain: x",
        "-- generated: from sql/spark/overrides/mart/counts.sql by `make spark-sql`; edit that, not this",
        "SELECT hash(:a)",
    ]


def test_a_statement_written_by_hand_stands_where_its_source_breaks_the_subset_and_says_why() -> None:
    for path in (SQL / OVERRIDES).rglob("*.sql"):
        name = str(path.relative_to(SQL / OVERRIDES).with_suffix(""))
        source = (SQL / f"{name}.sql").read_text()
        assert findings(source, file=name, rules=ON_SPARK, only_allowed=True), f"{path} is not needed: delete it"
        assert any(line.startswith("-- why: ") for line in parted(path.read_text())[0])


def test_a_source_that_is_overridden_may_break_the_subset(tmp_path: Path) -> None:
    source = tmp_path / "mart" / "unique_requests.sql"
    by_hand = tmp_path / OVERRIDES / "mart" / "unique_requests.sql"
    for path in (source, by_hand):
        path.parent.mkdir(parents=True)
    source.write_text("select xs[9] as x from lake\n")
    assert [finding.construct for finding in lint(tmp_path)] == ["xs[n]"]
    by_hand.write_text("-- why: no other way\nSELECT try_element_at(xs, 9) AS x FROM lake\n")
    assert lint(tmp_path) == []


def test_the_page_lists_the_subset_there_is() -> None:
    assert PAGE.read_text() == page(), "run `make spark-sql`"
