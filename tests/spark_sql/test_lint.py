"""The linter of `sql/` refuses what is known to differ on Spark, says what to write, and accepts all there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import REPO
from tools.spark_sql.lint import ELSEWHERE, EXEMPT, OF_TIMES, ON_SPARK, SHOWING_TIMES, findings, lint
from tools.spark_sql.rules import Rule
from tools.spark_sql.subset import RULES, Effect

SQL = REPO / "sql"

SILENT = {
    "select ttft_s::int as x from t": "rounded by DuckDB and cut off by Spark",
    "select (cached_tokens / input_tokens)::bigint as x from t": "rounded by DuckDB and cut off by Spark",
    "select 1.5::int as x": "rounded by DuckDB and cut off by Spark",
    "select log(x) as y from t": "natural one to Spark",
    "select floor(log2(x))::bigint as y from t": "2^48 - 1 for 2^48 on Spark",
    "select 1.0 / 3 as x": "DECIMAL of a few digits",
    "select epoch(arrived_at) as x from t": "drops it on Spark",
    "select date_diff('minute', a, b) as x from t": "whole units on Spark",
    "select date_diff('hour', a, b) as x from t": "whole units on Spark",
    "select date_diff('day', a, b) as x from t": "whole units on Spark",
    "select extract(dow from arrived_at) as x from t": "Sunday as 0 on DuckDB and as 1",
    "select dayofweek(arrived_at) as x from t": "Sunday as 0 on DuckDB and as 1",
    "select percentile_cont(0.5) within group (order by x) as y from t": "percentile_approx",
    "select percentile_disc(0.5) within group (order by x) as y from t": "percentile_approx",
    "select * from t qualify row_number() over (order by x) = 1": "helper column _w",
    "select list(x order by y) as z from t": "collect_list loses it",
    "select list(x) as z from t": "collect_list loses it",
    "select random() as x from t": "another result on each run",
    "select uuid() as x from t": "another result on each run",
    "select x from t tablesample 10%": "another result on each run",
    "select any_value(x) as y from t": "whatever row comes first",
    "select first(x order by y) as z from t": "whatever row comes first",
    "select string_agg(x, ',') as y from t": "joins rows as they come",
    "select row_number() over (partition by x) as y from t": "takes rows as they come",
    "select lag(x) over () as y from t": "takes rows as they come",
    "select weekday(x) as y from t": "Sunday as 0 on DuckDB and as 1",
    "select fsum(x) as y from t": "six last digits",
    "select product(x) as y from t": "six last digits",
    "select arg_max(x, y, 3) as z from t": "loses n",
    "select mode(x) as y from t": "as frequent",
    "select kurtosis(x) as y from t": "population on Spark",
    "select skewness(x) as y from t": "population on Spark",
    "select hash(x) as y from t": "every engine and version",
    "select ('nan'::double)::varchar as y from t": "spells fractions, NaN, intervals",
    "select (a - b)::varchar as y from t": "spells fractions, NaN, intervals",
    "select date '2026-01-02' - date '2026-01-01' as x": "interval to Spark",
    "select current_date - day_utc as x from t": "interval to Spark",
    "select avg(x) as y from t": "six last digits",
    "select stddev(x) as y from t": "six last digits",
    "select corr(x, y) as z from t": "six last digits",
    "select approx_quantile(x, 0.5) as y from t": "another result on each run",
}
ZONED = {
    "select date_trunc('day', arrived_us) as x from t": "session's hours and days",
    "select date_trunc('hour', arrived_us) as x from t": "session's hours and days",
    "select cast(arrived_us as date) as x from t": "the session's day",
    "select extract(hour from arrived_us) as x from t": "is the session's",
    "select x from t where arrived_at >= '2026-01-01'": "zoned on one engine and naive on the other",
    "select x from t where x >= timestamp '2026-01-01'": "zoned on one engine and naive on the other",
    "select make_timestamp(arrived_us) as x from t": "zoned on one engine and naive on the other",
    "select now() as x": "another moment on every run",
    "select localtimestamp as x": "another moment on every run",
}
LOUD = {
    "select time_bucket(interval 1 hour, x) as y from t": "date_bin",
    "select epoch_ms(x) as y from t": "unknown to Spark, or means the inverse",
    "select epoch_us(x) as y from t": "unknown to Spark, or means the inverse",
    "select epoch_ns(x) as y from t": "unknown to Spark, or means the inverse",
    "select extract(epoch from x) as y from t": "no part that Spark knows",
    "select extract(isodow from x) as y from t": "no part that Spark knows",
    "select make_timestamptz(x) as y from t": "unknown to Spark",
    "select strftime(x, '%YT%m') as y from t": "plain letters",
    "select quantile_cont(x, 0.5) as y from t": "no form of two arguments",
    "select quantile_disc(x, 0.5) as y from t": "no form of two arguments",
    "select histogram(x) as y from t": "another function",
    "select [x + 1 for x in xs] as y from t": "does not parse on Spark",
    "select xs[1:2] as y from t": "does not parse on Spark",
    "select xs[9] as y from t": "out of range",
    "select len(xs) as y from t": "of text alone",
    "select list_sum(xs) as y from t": "unknown to Spark",
    "select map {'a': 1} as y": "does not parse on Spark",
    "select x from generate_series(1, 3) as t(x)": "no table on Spark",
    "select x from range(3) as t(x)": "no table on Spark",
    "select sum(x > 1) as y from t": "truth values",
    "select sum(a and b) as y from t": "truth values",
    "select sum(x)::hugeint as y from t": "no type of Spark",
    "select x::ubigint as y from t": "no type of Spark",
    "select a + 1 as b from t where b > 1": "no column to Spark",
    "select * replace (x + 1 as x) from t": "does not parse on Spark",
    "select * exclude (x) from t": "does not parse on Spark",
    "select columns('a.*') from t": "unknown to Spark",
    "select x.upper() as y from t": "a field of x",
    "select a from t union by name select a from u": "does not parse on Spark",
    "pivot t on x using sum(y)": "another way on Spark",
    "unpivot t on a, b into name n value v": "another way on Spark",
    "select t.x from t asof join u on t.x >= u.x": "unknown to Spark",
    "select t.x from t positional join u": "unknown to Spark",
    "select x from t limit 10%": "does not parse on Spark",
    "select fmod(x, 2) as y from t": "unknown to Spark",
    "select isfinite(x) as y from t": "unknown to Spark",
    "select x / 0 as y from t": "where DuckDB gives NULL",
}
MARTS = {
    "select sum(x) as y from t": "HUGEINT",
    "select x / y as z from t": "sums depend on the order",
    "select 0.5 as x": "DECIMAL on one engine",
    "select 1e6 as x": "DECIMAL on one engine",
    "select ttft_s as x from requests": "sums depend on the order",
    "select request_hit_rate as x from requests": "sums depend on the order",
    "select x::integer as y from t": "bounds and roundings",
    "select try_cast(x as bigint) as y from t": "bounds and roundings",
    "select x::decimal(18, 2) as y from t": "bounds and roundings",
    "select max(x) over (order by y range between 1 preceding and current row) as z from t": "other bounds",
    "select max(x) over (order by y) as z from t": "other bounds",
    "select max(x) filter (where x > 1) over (order by y) as z from t": "other bounds",
    "select x from mart.hourly_hit_rate": "what the other engine does not have",
    "select * from requests": "grows with the lake's columns",
}
UNPROVEN = (
    "select x from t where regexp_matches(x, 'a')",
    "select distinct x from t",
    "select x || 'a' as y from t",
    "select {'a': 1} as x",
    "select t.x from t join u on t.x = u.x",
    "select x from read_parquet('a.parquet')",
    "select first(x) over (order by y rows between current row and current row) as z from t",
    "select min(x, 3) as y from t",
    "select max(x order by y) as z from t",
    "select x from 'a.parquet'",
    "select ? as x from t",
    "select $1 as x from t",
    "select 9223372036854775808 as x from t",
    "with r as materialized (select x from t) select x from r",
    "with recursive r as (select x from t) select x from r",
    "with recursive r as (select 1 as n union all select n + 1 from r) select n from r",
    "delete from t where x = 1",
)


def told(statement: str, rules: tuple[Rule, ...] = ON_SPARK) -> list[str]:
    only_allowed = rules is ON_SPARK
    return [str(found) for found in findings(statement, file="sql/mart/x.sql", rules=rules, only_allowed=only_allowed)]


@pytest.mark.parametrize(("statement", "why"), [*SILENT.items(), *ZONED.items(), *LOUD.items(), *MARTS.items()])
def test_a_statement_for_spark_may_not_hold_what_differs(statement: str, why: str) -> None:
    assert any(why in line and ". Write " in line and line.startswith("sql/mart/x.sql:1: ") for line in told(statement))


@pytest.mark.parametrize(("statement", "why"), [*SILENT.items(), *ZONED.items(), *LOUD.items()])
def test_no_other_statement_may_hold_it_either(statement: str, why: str) -> None:
    assert any(why in line for line in told(statement, ELSEWHERE))


@pytest.mark.parametrize(("statement", "why"), SILENT.items())
def test_not_even_statements_on_times_may_differ_silently(statement: str, why: str) -> None:
    assert any(why in line for line in told(statement, OF_TIMES))


@pytest.mark.parametrize("statement", UNPROVEN)
def test_what_was_never_compared_is_refused_for_that_alone(statement: str) -> None:
    assert any("is not among the constructs that were run on both engines" in line for line in told(statement))


def test_every_rule_has_a_statement_that_it_alone_explains() -> None:
    statements = [*SILENT, *ZONED, *LOUD, *MARTS]
    unseen = [
        rule.construct
        for rules in RULES.values()
        for rule in rules
        if not any(
            f" {rule.construct} {rule.why}. Write {rule.instead}." in line for s in statements for line in told(s)
        )
    ]
    assert unseen == []


@pytest.mark.parametrize(
    "rewritten",
    [
        "select (100 * cached_tokens // input_tokens)::bigint as x from requests",
        "select arrived_us // 3600000000 as hour_index, arrived_us // 3600000000 % 24 as hour_of_day from requests",
        "select (arrived_us // 86400000000 + 4) % 7 as weekday from requests",
        "select later_us - earlier_us as passed_us from requests",
        "select count(*) filter (where x > 1)::bigint as y from requests",
        "select sum(x)::bigint as y, sum(x::decimal(38, 0) * x)::decimal(38, 0) as z from requests",
        "with r as (select x, row_number() over (order by y) as n from requests) select x from r where n = 1",
        "select sum(x) filter (where y = 1)::bigint as z from requests",
        "select max(x) over (order by y rows between unbounded preceding and current row) as z from requests",
        "select greatest(a, least(b, nullif(c, 0))) as x from requests where a between 1 and 2 or a in (3, 4)",
        "select model, count(*)::bigint as n from requests where arrived_us >= $a group by model having count(*) > 1",
    ],
)
def test_what_is_told_to_be_written_instead_is_accepted(rewritten: str) -> None:
    assert told(rewritten) == []


@pytest.mark.parametrize(
    "statement",
    [
        "select floor(x)::int as y from t",
        "select sum(busy_us) / 1e6 as busy_s from t",
        "select length(bin(x)) - 1 as y from t",
        "select count(*) filter (where a > 0.5)::bigint as n from t",
        "select arg_max(x, y) as z from t",
        "select t.x, u.y from mart.t left join ops.u on t.x = u.x union all select x, y from v",
    ],
)
def test_what_reads_marts_may_hold_more(statement: str) -> None:
    assert told(statement, ELSEWHERE) == []
    assert told(statement) != []


@pytest.mark.parametrize(
    "statement",
    [
        "select extract(hour from hour_utc)::integer as x from t",
        "select day_utc - to_days(1) as x from t",
        "select epoch_us(hour_utc) as x from t where hour_utc::date = $day",
    ],
)
def test_what_shows_times_may_hold_times(statement: str) -> None:
    assert told(statement, OF_TIMES) == []
    assert told(statement, ELSEWHERE) != []


@pytest.mark.parametrize("broken", ["", "-- nothing", "select 'abc", "select (x from t"])
def test_what_does_not_parse_is_a_finding(broken: str) -> None:
    assert any("does not parse: " in line for line in told(broken))
    assert any("does not parse: " in line for line in told(broken, OF_TIMES))


def test_all_of_sql_is_accepted() -> None:
    assert lint(SQL) == []


def test_what_is_held_to_less_is_few_folders_that_are_there() -> None:
    lesser = set(EXEMPT) | set(SHOWING_TIMES)
    assert lesser <= {path.name for path in SQL.iterdir()}
    assert not lesser & {"alerts", "checks", "curve", "mart", "metrics", "ops", "report", "schema", "valley"}


def test_a_finding_names_the_file_and_the_line(tmp_path: Path) -> None:
    for name, text in {
        "mart/unique_requests": "-- name: mart/unique_requests\nselect\n  request_id,\n  hash(model) as x\nfrom lake\n",
        "report/any": "select\n  deployment,\n  avg(x) as y\nfrom t\n",
        "views/any": "select\n  hour_utc,\n  log(x) as y\nfrom t\n",
        "formats/any": "select hash(line) as x from lines\n",
        "report/broken": "select\n  (x\nfrom t\n",
    }.items():
        path = tmp_path / f"{name}.sql"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    found = [str(finding) for finding in lint(tmp_path)]
    assert found[0].startswith("sql/mart/unique_requests.sql:4: hash(x) is another function on every engine")
    assert found[0].endswith("Write md5(x).")
    assert found[1].startswith("sql/report/any.sql:3: avg, stddev")
    assert found[2].startswith("sql/report/broken.sql:3: a statement does not parse")
    assert found[3].startswith("sql/views/any.sql:3: log(x)")
    assert len(found) == 4


def test_who_is_held_to_what() -> None:
    assert set(ON_SPARK) == {rule for rules in RULES.values() for rule in rules}
    assert set(ON_SPARK) - set(ELSEWHERE) == set(RULES[Effect.MARTS])
    assert set(OF_TIMES) == set(RULES[Effect.SILENT])
