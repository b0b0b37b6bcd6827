"""`sql/spark/` is what `sql/` says, translated; and of copies Spark keeps the record that the ingest keeps."""

from __future__ import annotations

import pytest

from pipelines.queries import load
from tests.conftest import REPO
from tools.spark_sql.transpile import OVERRIDES, STATEMENTS, translated

SQL = REPO / "sql"


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_committed_statement_is_what_its_source_translates_to(name: str) -> None:
    committed = (SQL / "spark" / f"{name}.sql").read_text()
    assert committed == translated(SQL, name), "run `make spark-sql` and review what changed in sql/spark/"


def test_every_statement_for_spark_has_a_source() -> None:
    found = {str(path.relative_to(SQL / "spark").with_suffix("")) for path in (SQL / "spark").rglob("*.sql")}
    overriding = {name for name in found if name.startswith("overrides/")}
    assert found - overriding == set(STATEMENTS)
    assert {name.removeprefix("overrides/") for name in overriding} <= set(STATEMENTS)
    assert OVERRIDES == "spark/overrides"


@pytest.mark.parametrize("name", STATEMENTS)
def test_both_bind_the_same_parameters(name: str) -> None:
    assert load(f"spark/{name}").params == load(name).params
