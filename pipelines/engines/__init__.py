"""Who makes the rows of the hourly marts from the lake: this process, or a Spark cluster.

interface    what an engine is asked for
duck         DuckDB in this process, a few hours at a time
settings     the section `[spark]` of the configuration
spark        Spark: the same statements, translated beforehand (`sql/spark/`)
session      a session of Spark, started, set and checked; its end
run_folder   where Spark writes: a fresh folder for each run
troubles     what Spark's errors mean to a person, and which of them may pass
opening      the configuration → an engine

Belongs here: running the statements of `sql/mart/`. Does not belong here: which hours they are run for and the commit
that makes them visible (`marts`), what they compute (`sql/mart/`). Only this package imports pyspark, and only when the
configuration asks for it.
"""
