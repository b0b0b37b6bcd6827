"""Orchestration and edges of valleywatch: files, the warehouse, the Dagster job, the command line, the report.

Belongs here: everything that reads, writes or schedules. Does not belong here: relational logic (`sql/`) and
mathematics (`models/`). This module imports nothing, so that importing a part never pays for the whole.
"""

__version__ = "0.1.0"
