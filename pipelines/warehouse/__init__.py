"""The warehouse folder: one DuckDB file for marts and manifest, a lake of immutable Parquet files, published snapshots.

    warehouse.duckdb            the writer's own; nobody else opens it
    lake/day=YYYY-MM-DD/        requests, by UTC day of arrival
    snapshots/, valleywatch.duckdb -> snapshots/…   what readers open

Belongs here: connections, transactions, the writer's lock, the lake's view, publishing. The only importer of duckdb.
Does not belong here: what a statement computes (`sql/`) or when it runs (`assets/`).
"""

from pipelines.warehouse.engine import SCHEMA_VERSION
from pipelines.warehouse.folder import Warehouse
from pipelines.warehouse.reader import Answer, Reader
from pipelines.warehouse.retention import Retention
from pipelines.warehouse.views import PublishedView
from pipelines.warehouse.writer import Writer

__all__ = ["SCHEMA_VERSION", "Answer", "PublishedView", "Reader", "Retention", "Warehouse", "Writer"]
