"""The constructs known to differ between DuckDB and Spark: what each does there, and what to write instead.

Belongs here: one rule a construct, each from a run of both engines, or because no engine gives it twice alike. Does not
belong here: how a construct is told by its nodes (`nodes`, `times`), and what is allowed (`subset`).
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tools.spark_sql import nodes as n
from tools.spark_sql import times as t


@dataclass(frozen=True, slots=True)
class Rule:
    """A construct that is refused."""

    construct: str
    why: str
    """What goes wrong, as the rest of a sentence that begins with the construct."""
    instead: str
    """What to write instead, as the rest of a sentence that begins with "write"."""
    matches: n.Predicate


_RANK = "row_number() and the row of rank (q_percent * n + 99) // 100"
_SUMS = "sums of integers, and the quotient where it is shown"
_TEXT = "the value itself, and its text where it is shown"

SILENT = (
    Rule("a fraction cast to an integer", "is rounded by DuckDB and cut off by Spark: 1.5 is 2 or 1",
         "// on integers, or floor(x) before the cast", n.is_fraction_cast_to_integer),
    Rule("log(x)", "is the decimal logarithm to DuckDB and the natural one to Spark",
         "ln(x)", n.is_logarithm_without_base),
    Rule("the floor of a logarithm", "takes 2^48 - 1 for 2^48 on Spark and not on DuckDB",
         "length(bin(x)) - 1 for floor(log2(x)) of a whole number", n.is_binned_logarithm),
    Rule("1.0 / x", "is a DOUBLE to DuckDB and a DECIMAL of a few digits to Spark",
         "whole numbers, or 1e0", n.is_division_of_decimal),
    Rule("epoch(t)", "keeps the fraction of a second on DuckDB and drops it on Spark",
         "whole microseconds, as in arrived_us", n.is_a(exp.TimeToUnix)),
    Rule("date_diff(part, a, b)", "counts the boundaries passed on DuckDB and whole units on Spark",
         "the difference of microseconds or of day_index", n.calls("date_diff", "datediff", of=(exp.DateDiff,))),
    Rule("extract(dow from t)", "counts Sunday as 0 on DuckDB and as 1 on Spark",
         "(day_index + 4) % 7, which is 0 on Sundays", t.is_day_of_week),
    Rule("percentile_cont(q), percentile_disc(q) within group", "becomes percentile_approx: 8.5 turned into 10",
         _RANK, n.is_a(exp.WithinGroup)),
    Rule("approx_quantile, approx_count_distinct", "gives another result on each run",
         "ranks, count(distinct x), or fixed integer bins", n.is_a(exp.ApproxQuantile, exp.ApproxDistinct)),
    Rule("random(), uuid(), a sample", "gives another result on each run", "md5 of the row's key", n.is_by_chance),
    Rule("any_value(x), first(x), last(x)", "is the value of whatever row comes first", "min(x), or arg_max(x, y)",
         n.is_whatever_value),
    Rule("string_agg(x) without an order", "joins rows as they come", "string_agg(x, ', ' order by x)",
         n.is_text_of_unordered),
    Rule("row_number(), lag(x) without an order", "takes rows as they come", "over (order by …), of a whole key",
         n.is_window_without_order),
    Rule("select * … qualify", "shows a helper column _w among the results",
         "the columns' names", n.is_star_with_qualify),
    Rule("list(x), list(x order by y)", "has no order: collect_list loses it",
         "rows, ordered where they are read", n.is_a(exp.ArrayAgg)),
    Rule("arg_max(x, y, n), arg_min(x, y, n)", "loses n and gives one value",
         "row_number() and the rows up to n", n.is_extreme_of_several),
    Rule("mode(x)", "takes another of several values that are as frequent",
         "row_number() over (order by count desc, value asc)", n.is_a(exp.Mode)),
    Rule("kurtosis(x)", "is of the sample on DuckDB and of the population on Spark",
         _SUMS, n.calls("kurtosis_pop", of=(exp.Kurtosis,))),
    Rule("skewness(x)", "is of the sample on DuckDB and of the population on Spark", _SUMS, n.is_a(exp.Skewness)),
    Rule("hash(x)", "is another function on every engine and version", "md5(x)", n.calls("hash")),
    Rule("a cast to text", "spells fractions, NaN, intervals and times in another way", _TEXT,
         n.is_cast_to("VARCHAR", "TEXT", "CHAR", "NCHAR", "NVARCHAR")),
    Rule("date - date", "is a number of days to DuckDB and an interval to Spark",
         "the difference of day_index", t.is_difference_of_dates),
    Rule("avg, stddev, variance, corr, regr_slope", "sums fractions in whatever order: six runs, six last digits",
         _SUMS, n.is_aggregate_of_fractions),
)  # fmt: skip
"""What gives another result, silently."""

ZONED = (
    Rule("date_trunc(part, t)", "cuts at the session's hours and days, and makes a zoned time of a naive one",
         "arrived_us // 3600000000, in whole hours", n.is_a(exp.TimestampTrunc, exp.DateTrunc)),
    Rule("a cast to a date", "takes the session's day", "arrived_us // 86400000000", t.is_date),
    Rule("extract(hour from t) and other parts", "is the session's", "arrived_us // 3600000000 % 24",
         t.is_part_of_time),
    Rule("now(), current_date", "is another moment on every run, in the session's zone", "a bound parameter",
         n.calls("now", "today", "get_current_timestamp",
                 of=(exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.Localtime, exp.Localtimestamp))),
    Rule("a time (arrived_at, hour_utc, a literal, make_timestamp)", "is zoned on one engine and naive on the other",
         "arrived_us, and bounds in microseconds", t.is_time),
)  # fmt: skip

MARTS = (
    Rule("sum(x) without a cast", "is a HUGEINT, which DuckDB writes to Parquet as DOUBLE",
         "sum(x)::bigint, of products sum(x)::decimal(38, 0)", n.is_uncast_sum),
    Rule("x / y", "is a DOUBLE, whose sums depend on the order",
         "// on integers; ratios are divided in views", n.is_a(exp.Div)),
    Rule("a number with a point or an exponent", "is a DECIMAL on one engine and a DOUBLE on the other once used",
         "whole numbers of a smaller unit: microseconds, permille, ppb", n.is_fractional_number),
    Rule("seconds and rates (ttft_s, request_hit_rate)", "is DOUBLE, whose sums depend on the order",
         "the columns in whole units: ttft_us, cached_tokens, input_tokens", n.is_fractional_column),
    Rule("a cast but to bigint or decimal(38, 0)", "has other bounds and roundings on each engine",
         "::bigint or ::decimal(38, 0)", n.is_cast_outside("BIGINT", "DECIMAL(38, 0)")),
    Rule("a range or groups frame, or none after order by", "is translated with other bounds by some versions",
         "rows between … and …", n.is_frame_other_than_rows),
    Rule("a schema before a table", "names what the other engine does not have", "requests or lake alone",
         n.is_qualified_table),
    Rule("select *", "grows with the lake's columns", "the columns' names", n.is_star_of_columns),
)  # fmt: skip
"""What both engines may agree on, and the marts must not hold: they are integers that add in any order."""

LOUD = (
    Rule("time_bucket(width, t)", "becomes date_bin, which Spark does not know", "arrived_us // width",
         n.is_a(exp.DateBin)),
    Rule("epoch_ms, epoch_us, epoch_ns", "is unknown to Spark, or means the inverse", "arrived_us",
         t.is_epoch_in_small_units),
    Rule("extract(epoch from t), extract(isodow from t)", "is no part that Spark knows",
         "arrived_us // 1000000, (day_index + 3) % 7 + 1", t.is_unknown_part),
    Rule("make_timestamptz", "is unknown to Spark", "arrived_us", n.calls("make_timestamptz")),
    Rule("strftime, strptime", "takes patterns whose plain letters Spark refuses", _TEXT,
         n.is_a(exp.TimeToStr, exp.StrToTime)),
    Rule("quantile_cont, quantile_disc, quantile", "has no form of two arguments on Spark", _RANK, n.is_quantile),
    Rule("histogram(x)", "is another function on Spark", "group by an integer bin", n.calls("histogram")),
    Rule("a list comprehension", "does not parse on Spark", "rows", n.is_a(exp.Comprehension)),
    Rule("xs[a:b]", "does not parse on Spark", "rows", n.is_slice),
    Rule("xs[n]", "raises out of range, where DuckDB gives NULL", "rows", n.is_a(exp.Bracket)),
    Rule("len(xs)", "is of text alone on Spark", "count(*) of rows", n.is_length),
    Rule("list_sum and other list_ functions", "is unknown to Spark", "sum over rows", n.is_list_function),
    Rule("map {…}", "does not parse on Spark", "rows of key and value", n.is_a(exp.ToMap, exp.Map)),
    Rule("generate_series, range", "is no table on Spark", "rows that are stored", n.is_a(exp.GenerateSeries)),
    Rule("sum(a condition)", "does not add truth values on Spark", "count(*) filter (where …)", n.is_sum_of_condition),
    Rule("HUGEINT and unsigned types", "is no type of Spark", "bigint or decimal(38, 0)", n.is_foreign_type),
    Rule("an alias in WHERE", "is no column to Spark", "a CTE, or the expression again", n.is_alias_in_where),
    Rule("* replace, * exclude", "does not parse on Spark or on its relatives", "the columns' names",
         n.is_altered_star),
    Rule("columns(…)", "is unknown to Spark", "the columns' names", n.is_a(exp.Columns)),
    Rule("x.function()", "is a field of x to Spark", "function(x)", n.is_dotted_call),
    Rule("union by name", "does not parse on Spark", "union all, columns in the same order", n.is_union_by_name),
    Rule("pivot, unpivot", "is written in another way on Spark", "a case for each column, and group by",
         n.is_a(exp.Pivot)),
    Rule("asof join, positional join", "is unknown to Spark", "lag or row_number over both", n.is_foreign_join),
    Rule("limit n %", "does not parse on Spark", "row_number() and count(*) over ()", n.is_limit_in_percent),
    Rule("fmod, isfinite", "is unknown to Spark", "% on integers", n.calls("fmod", "isfinite", of=(exp.IsInf,))),
    Rule("x / 0", "raises on Spark, where DuckDB gives NULL", "nullif(y, 0) as the divisor", n.is_division_by_zero),
)  # fmt: skip
