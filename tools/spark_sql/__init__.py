"""One source of SQL for two engines: `sql/` is written for DuckDB; this turns its marts into Spark SQL and checks both.

Belongs here: which statements run on Spark as well, how they become `sql/spark/`, what a statement may contain so that
both engines give the same rows, and the linter that holds `sql/` to it. Does not belong here: running anything
(`pipelines/`), and a statement of its own (`sql/`). Nothing in `pipelines/` imports this: the generated statements are
committed, and a cluster needs no parser.
"""
