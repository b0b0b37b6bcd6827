"""`python -m tools.spark_sql lint|write`: hold `sql/` to the subset, or translate it for Spark and list the subset.

Belongs here: the two verbs of the Makefile. Does not belong here: what they do (`lint`, `transpile`, `subset`).
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.spark_sql import lint, subset, transpile

REPO = Path(__file__).resolve().parents[2]
PAGE = REPO / "docs" / "spark-sql.md"
MARK = "<!-- made by `make spark-sql` -->\n"


def page() -> str:
    """Return docs/spark-sql.md with its tables made anew."""
    above = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    return f"{above}{MARK}\n{subset.as_markdown()}"


def main(verb: str) -> int:
    """Do what `verb` says; return the exit code."""
    if verb == "write":
        for path in transpile.write(REPO / "sql"):
            print(path.relative_to(REPO))
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    found = lint.lint(REPO / "sql")
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["lint"], ["write"]):
        sys.exit("usage: python -m tools.spark_sql lint|write")
    sys.exit(main(sys.argv[1]))
