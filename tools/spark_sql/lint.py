"""The linter of `sql/`: what Spark runs is held to the allow-list, the rest to what no engine is known to do otherwise.

Belongs here: which files are held to what, and how a violation is told. Does not belong here: the constructs (`subset`,
`rules`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlglot
from sqlglot import exp

from tools.spark_sql.nodes import is_rare_form
from tools.spark_sql.rules import Rule
from tools.spark_sql.subset import Effect, allowed_types, rules_of
from tools.spark_sql.transpile import OVERRIDES, STATEMENTS

ON_SPARK = rules_of(*Effect)
"""What a statement that Spark runs may not hold, besides all that is not allowed."""

ELSEWHERE = rules_of(Effect.LOUD, Effect.SILENT, Effect.ZONED)
"""What the rest may not hold: it reads marts, which are small, and could run on Spark the day they are not."""

OF_TIMES = rules_of(Effect.SILENT)
"""What may not stand even where times are shown."""

SHOWING_TIMES = {
    "views": "publish times, by contract as UTC timestamps",
    "adhoc": "ask the published views, in the words of people who know DuckDB",
    "share": "give the published times away",
}
"""Folders whose statements handle times, which no two engines do alike, and why."""

EXEMPT = {
    "formats": "takes apart the JSON text of logs",
    "ingest": "judges and hashes that text, once, on the machine that reads the logs",
    "catalogue": "asks the engine for its own catalogue",
    "export": "asks the engine for its own catalogue",
    "spark": "is translated, from statements that are held to the subset",
}
"""Folders of `sql/` that no other engine will ever run, and why."""

_LEFT_OUT = "is not among the constructs that were run on both engines with equal results"
_ALLOWED = "what docs/spark-sql.md allows, or prove it equal in tests/spark and allow it in tools/spark_sql/subset.py"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A construct that may not stand where it does."""

    file: str
    line: int
    construct: str
    why: str
    instead: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.construct} {self.why}. Write {self.instead}."


def lint(sql: Path) -> list[Finding]:
    """Return what is wrong in the folder `sql`, files in order."""
    found: list[Finding] = []
    for path in sorted(sql.rglob("*.sql")):
        name = str(path.relative_to(sql).with_suffix(""))
        folder = name.split("/")[0]
        if folder in EXEMPT or (sql / OVERRIDES / f"{name}.sql").is_file():
            continue
        is_for_spark = name in STATEMENTS
        rules = ON_SPARK if is_for_spark else OF_TIMES if folder in SHOWING_TIMES else ELSEWHERE
        text = path.read_text(encoding="utf-8")
        found += findings(text, file=f"sql/{name}.sql", rules=rules, only_allowed=is_for_spark)
    return found


def findings(text: str, *, file: str, rules: tuple[Rule, ...], only_allowed: bool = False) -> list[Finding]:
    """Return what `rules` refuse in one statement, and, if `only_allowed`, what nothing allows; once a line."""
    try:
        statement = sqlglot.parse_one(text, read="duckdb")
    except sqlglot.errors.SqlglotError as error:
        # Text that has no end is told without a place.
        place = error.errors[0] if isinstance(error, sqlglot.errors.ParseError) and error.errors else {}
        why = f"does not parse: {place.get('description') or error}"
        return [Finding(file, place.get("line") or 1, "a statement", why, _ALLOWED)]
    return sorted(set(_of_nodes(statement, file, rules, only_allowed)))


def _of_nodes(statement: exp.Expr, file: str, rules: tuple[Rule, ...], only_allowed: bool) -> Iterator[Finding]:
    allowed = allowed_types()
    for node in statement.walk():
        rule = next((rule for rule in rules if rule.matches(node)), None)
        if rule is not None:
            yield Finding(file, _line(node), rule.construct, rule.why, rule.instead)
        elif only_allowed and (type(node) not in allowed or is_rare_form(node)) and not _is_explained(node, rules):
            yield Finding(file, _line(node), _spelling(node), _LEFT_OUT, _ALLOWED)


def _is_explained(node: exp.Expr, rules: tuple[Rule, ...]) -> bool:
    """Return whether a node is part of something that a rule refuses as a whole."""
    return node.parent is not None and any(
        rule.matches(above) for above in _ancestors(node) for rule in rules if not isinstance(above, exp.Select)
    )


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    while node.parent is not None:
        node = node.parent
        yield node


def _line(node: exp.Expr) -> int:
    """Return the line of the nearest node that knows its own: the parser notes only those of names and values."""
    for near in (*node.walk(), *_ancestors(node)):
        if "line" in near.meta:
            return int(near.meta["line"])
    return 1


def _spelling(node: exp.Expr) -> str:
    """Return the construct as people write it, cut after a few words."""
    words = " ".join(node.sql("duckdb", comments=False).split())
    return f"`{words if len(words) <= 60 else words[:57] + '…'}` ({type(node).__name__})"
