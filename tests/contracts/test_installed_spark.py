"""Contracts are judged whatever Spark that Great Expectations finds would do when it is imported."""

import subprocess
import sys
from pathlib import Path

JUDGE = """
import sys
import polars as pl
from pipelines.expectations import BLOCK, Expectation, judge
if {imported_before}:
    import pyspark
(finding,) = judge(pl.DataFrame({{"n": [1]}}), [Expectation("n", "one row", BLOCK, 1, 1)])
assert finding.passed
assert ("pyspark" in sys.modules) is {imported_before}
print("judged")
"""


def test_a_spark_that_ends_the_process_on_import_judges_nothing_away(tmp_path: Path) -> None:
    spark = tmp_path / "pyspark" / "__init__.py"
    spark.parent.mkdir()
    spark.write_text("raise SystemExit(0)\n")
    assert _judged(tmp_path, imported_before=False) == "judged\n"


def test_a_spark_that_is_in_use_stays_in_use(tmp_path: Path) -> None:
    spark = tmp_path / "pyspark" / "__init__.py"
    spark.parent.mkdir()
    spark.write_text("")
    assert _judged(tmp_path, imported_before=True) == "judged\n"


def _judged(site: Path, *, imported_before: bool) -> str:
    script = f"import sys; sys.path.insert(0, {str(site)!r})" + JUDGE.format(imported_before=imported_before)
    command = [sys.executable, "-W", "ignore", "-c", script]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout
