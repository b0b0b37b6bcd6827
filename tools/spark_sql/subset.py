"""What SQL means the same on DuckDB and on Spark: the constructs allowed, and what becomes of the others.

Belongs here: the allow-list, the kinds of difference, and both as the documentation shows them. Does not belong here:
the single differences (`rules`), and which files are held to what (`lint`).
"""

from __future__ import annotations

import re
from enum import Enum

from sqlglot import exp

from tools.spark_sql import rules


class Effect(Enum):
    """What becomes of a construct on Spark; the values are the headings of the documentation."""

    LOUD = "fails"
    SILENT = "gives another result, silently"
    ZONED = "depends on the session's time zone"
    MARTS = "breaks the integer contract of the marts"


ALLOWED: dict[str, tuple[type[exp.Expr], ...]] = {
    "one SELECT with CTEs, WHERE, GROUP BY, HAVING, ORDER BY": (
        exp.Select, exp.With, exp.CTE, exp.From, exp.Table, exp.TableAlias, exp.Where, exp.Group, exp.Having, exp.Order,
        exp.Ordered,
    ),
    "named columns and aliases, bound parameters": (exp.Alias, exp.Column, exp.Identifier, exp.Placeholder),
    "whole numbers, text and NULL": (exp.Literal, exp.Null),
    "CASE, AND, OR, NOT, IS NULL, IN a list, BETWEEN, comparisons": (
        exp.Case, exp.If, exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between, exp.EQ, exp.NEQ, exp.LT, exp.LTE,
        exp.GT, exp.GTE,
    ),
    "+ - * // % and parentheses": (exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Mod, exp.Neg, exp.Paren),
    "coalesce, nullif, greatest, least": (exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least),
    "count, sum, min, max, with FILTER": (exp.Count, exp.Star, exp.Sum, exp.Min, exp.Max, exp.Filter),
    "windows with ROWS frames, row_number, lag": (exp.Window, exp.WindowSpec, exp.RowNumber, exp.Lag),
    "::bigint and ::decimal(38, 0)": (exp.Cast, exp.DataType, exp.DataTypeParam),
}  # fmt: skip
"""What a statement that Spark runs may be made of, by how the documentation names it."""

RULES: dict[Effect, tuple[rules.Rule, ...]] = {
    Effect.LOUD: rules.LOUD,
    Effect.SILENT: rules.SILENT,
    Effect.ZONED: rules.ZONED,
    Effect.MARTS: rules.MARTS,
}
"""What is refused, by its effect; of several rules that match, the first says why."""


def rules_of(*effects: Effect) -> tuple[rules.Rule, ...]:
    """Return the rules with one of these effects."""
    return tuple(rule for effect, found in RULES.items() if effect in effects for rule in found)


def allowed_types() -> tuple[type[exp.Expr], ...]:
    """Return every kind of node that a statement for Spark may hold."""
    return tuple(kind for kinds in ALLOWED.values() for kind in kinds)


def as_markdown() -> str:
    """Return the tables of the documentation: what is allowed, and each refused construct by its effect."""
    lines = ["| allowed |", "|---|", *(f"| {_cell(words)} |" for words in ALLOWED)]
    for effect, found in RULES.items():
        lines += ["", f"What {effect.value}:", "", "| construct | it … | write |", "|---|---|---|"]
        lines += [f"| {_cell(rule.construct)} | {_cell(rule.why)} | {_cell(rule.instead)} |" for rule in found]
    return "\n".join(lines) + "\n"


def _cell(words: str) -> str:
    return re.sub(r"([|*_])", r"\\\1", words)
