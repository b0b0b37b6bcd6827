"""Spark: the statements of `sql/spark/mart/` on the lake's files, their rows handed to the warehouse as Parquet.

Belongs here: what is asked of a session, in which order. Does not belong here: sessions, folders, errors' words.

A day's requests are read once, with those of the day before, each kept once (`mart/unique_requests`) and written down;
the marts are made from that copy, so that a machine that is lost costs a part of one step. All of it is SQL and
DataFrames, which a Spark Connect server takes as well; only the count of stages needs a driver in this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from pipelines import queries
from pipelines.engines import run_folder
from pipelines.engines.run_folder import RunFolder
from pipelines.engines.session import LOG, identity_of, load_spark, session_of
from pipelines.engines.settings import SparkSettings
from pipelines.times import US_PER_DAY, US_PER_HOUR, day_text
from pipelines.warehouse import Writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TYPES = {"VARCHAR": "string", "BIGINT": "bigint"}
"""The types of the lake's columns, as DuckDB and Spark call them: it has no others, so that both read the same."""
REQUESTS = "requests"


class Spark:
    """The engine of a cluster: see `interface.Engine`. Its session starts when it is first needed, and ends with it."""

    def __init__(self, settings: SparkSettings, tell: Callable[[str], None]) -> None:
        self._settings = settings
        self._tell = tell
        self._open_ones = ExitStack()
        self._session: SparkSession | None = None
        self._read: tuple[int, RunFolder] | None = None
        self._steps: list[dict[str, Any]] = []

    def close(self) -> None:
        """Stop the session and remove what it wrote."""
        self._open_ones.close()

    def append_hours(self, writer: Writer, mart: str, day_index: int, hours: Sequence[int]) -> None:
        """Append the hours' rows; what lies between two of them is computed too, and not taken."""
        bounds = {"from_us": hours[0] * US_PER_HOUR, "to_us": (hours[-1] + 1) * US_PER_HOUR}
        self._append(writer, mart, day_index, bounds, hours)

    def append_busy_periods(self, writer: Writer, day_index: int) -> None:
        """Append the day's busy periods."""
        from_us = day_index * US_PER_DAY
        bounds = {"context_from_us": from_us - US_PER_DAY, "from_us": from_us, "to_us": from_us + US_PER_DAY}
        self._append(writer, "busy_periods", day_index, bounds)

    def shown(self) -> dict[str, Any]:
        """Return the cluster's name of the work, where its page is, and how much there was of it."""
        steps, self._steps = self._steps, []
        if self._session is None or not steps:
            return {}
        counted = {name: sum(step[name] for step in steps) for name in ("stages", "tasks", "failed_tasks")}
        if self._settings.is_connect:
            return {"engine": "spark", "spark_session": identity_of(self._session), "spark_runs": _runs(steps)}
        context = self._session.sparkContext
        page = {"spark_ui": context.uiWebUrl} if context.uiWebUrl else {}
        named = {"engine": "spark", "spark_application": context.applicationId, "spark_runs": _runs(steps)}
        return named | page | {f"spark_{name}": number for name, number in counted.items()}

    def _append(
        self,
        writer: Writer,
        mart: str,
        day_index: int,
        bounds: dict[str, int],
        hours: Sequence[int] | None = None,
    ) -> None:
        load_spark()
        from pipelines.engines.troubles import explained

        log = None if self._settings.is_connect else run_folder.folder_of(writer.folder) / LOG
        with explained(str(self._settings.master), log):
            folder = self._requests_of(writer, day_index)
            query = queries.load(f"spark/mart/{mart}")
            rows = self._open(writer).sql(query.text, args=query.bind(dict(bounds)))
            if hours is not None:
                rows = rows.where(rows["hour_index"].isin(list(hours)))
            self._write(rows, folder, mart, day_index)
        writer.insert_parquet(f"mart.{mart}", folder.files_of(mart))
        self._tell(f"spark: {mart} of {day_text(day_index)}, {self._steps[-1]['s']:.1f} s")

    def _requests_of(self, writer: Writer, day_index: int) -> RunFolder:
        """Let statements read the day's requests, those of the day before included, each once."""
        if self._read is not None and self._read[0] == day_index:
            return self._read[1]
        session = self._open(writer)
        if self._read is not None:
            self._read[1].remove()
        folder = run_folder.new(writer.folder, self._settings)
        files = writer.rows("ops/lake_files_of_days", first_day=day_index - 1, last_day=day_index)
        writer.require_sound(files)
        seen = run_folder.warehouse_url(writer.folder, self._settings)
        columns = writer.rows("ops/columns_of_requests")
        schema = ", ".join(f"{column['column_name']} {TYPES[column['data_type']]}" for column in columns)
        paths = [f"{seen}/{row['file']}" for row in files]
        lake = session.read.schema(schema).parquet(*paths) if paths else session.createDataFrame([], schema)
        # The session is ours alone, and each statement has ended before a view is made anew under its name.
        lake.createOrReplaceTempView("lake")
        unique = session.sql(queries.load("spark/mart/unique_requests").text)
        self._write(unique, folder, REQUESTS, day_index)
        written = session.read.schema(schema).parquet(folder.url_of(REQUESTS))
        written.createOrReplaceTempView(REQUESTS)
        self._read = (day_index, folder)
        self._open_ones.callback(folder.remove)
        return folder

    def _write(self, rows: DataFrame, folder: RunFolder, table: str, day_index: int) -> None:
        begun = time.monotonic()
        with self._counted(folder, f"{table} of {day_text(day_index)}") as step:
            rows.write.parquet(folder.url_of(table), compression="zstd")
        step["s"] = time.monotonic() - begun

    @contextmanager
    def _counted(self, folder: RunFolder, title: str) -> Iterator[dict[str, Any]]:
        """Name what is done inside on the cluster's page, and count its stages and tasks."""
        step: dict[str, Any] = {"run": folder.run_id, "stages": 0, "tasks": 0, "failed_tasks": 0}
        self._steps.append(step)
        if self._session is None or self._settings.is_connect:
            yield step
            return
        context, group = self._session.sparkContext, f"{folder.run_id} {title}"
        context.setJobGroup(group, f"valleywatch: {title}", interruptOnCancel=True)
        yield step
        tracker = context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
        stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
        for stage in stages:
            if stage is not None and stage.numCompletedTasks:
                step["stages"] += 1
                step["tasks"] += stage.numCompletedTasks
                step["failed_tasks"] += stage.numFailedTasks

    def _open(self, writer: Writer) -> SparkSession:
        if self._session is None:
            self._tell(f"spark: starting on {self._settings.master}")
            log = run_folder.folder_of(writer.folder) / LOG
            self._session = self._open_ones.enter_context(session_of(self._settings, log))
        return self._session


def _runs(steps: list[dict[str, Any]]) -> str:
    return ", ".join(dict.fromkeys(step["run"] for step in steps))
