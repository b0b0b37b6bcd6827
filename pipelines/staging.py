"""The lines of one file, judged, in a table of their own that nobody else sees: what loading then decides on.

Belongs here: filling that table, and what is asked of a staged file as a whole. Does not belong here: rules about one
line (`sql/ingest/judged.sql`), what is loaded of it (`ingest`).
"""

from __future__ import annotations

from pipelines.contradictions import refuse_contradictions, remarks_on
from pipelines.declarations import Declarations
from pipelines.errors import RejectedFileError
from pipelines.formats import formats
from pipelines.growth import Part
from pipelines.lines import Extent
from pipelines.readers import read_records
from pipelines.reading import Reading
from pipelines.settings import SourceSettings
from pipelines.streams import Stream
from pipelines.warehouse import Writer

MAX_REJECT_SHARE = 0.05
"""Above this share of refused lines (and MIN_REJECTS of them) the producer changed its format: the file is refused."""
MIN_REJECTS = 100
MAX_DEPLOYMENTS = 10_000
"""Deployments in one file above which something that varies by request was taken for their name."""


def stage(writer: Writer, reading: Reading, part: Part) -> tuple[int, int]:
    """Put the part's judged lines into the staging table; return the numbers of lines and of blank ones.

    Blank are empty lines and, in logs that requests share with other messages, those messages. One statement judges the
    whole file while it is being read, so that its planning is paid once and every core has work.
    """
    source, log_format = reading.source, formats()[reading.source.format]
    writer.define_macros("ingest/macros")
    writer.run("ingest/clear_staged")
    declared = Declarations(writer, source, log_format)
    whole = Extent(part.n_bytes)
    declared.require_columns(read_records(log_format.reader, reading.log, part.sha256, whole, source.columns))
    stream = Stream(read_records(log_format.reader, reading.log, part.sha256, part.extent, source.columns))
    with writer.registered("lines", stream.first):
        writer.run("ingest/plain_key_lists")
    while not stream.is_done:
        with writer.streamed("lines", stream.first.schema, stream.part()):
            declared.map_lines()
            writer.insert(
                "staged",
                "ingest/judged",
                deployment=source.deployment,
                epoch_unit=source.epoch_unit or log_format.epoch_unit,
                naive_is_utc=source.timezone is not None,
                absent_cached_is_zero=source.absent_cached_is_zero,
                latest_us=reading.latest_us,
                ttft_basis=source.ttft_basis or log_format.ttft_basis,
                cached_basis=source.cached_basis or log_format.cached_basis,
                source_name=source.name,
                source_file=reading.name,
                source_sha256=part.origin_sha256,
            )
        faults = stream.take_faults()
        writer.insert_rows(
            "staged",
            [
                {"reason": x.reason, "source_line": x.line_number, "byte_offset": x.byte_offset, "excerpt": x.excerpt}
                for x in faults
            ],
        )
    return stream.n_lines, stream.n_blank + writer.change("ingest/drop_other_lines")


def examine(writer: Writer, reading: Reading, part: Part) -> tuple[str, ...]:
    """Refuse a staged file that is not what its source says; mend what is known to be meant; return what to tell."""
    source, log_format = reading.source, formats()[reading.source.format]
    is_rest = part.extent.skip_lines > 0
    refuse_contradictions(writer, source, log_format, reading.latest_us, least_arrivals=20 if is_rest else 1)
    n_whole = writer.change("ingest/drop_whole_ttft")
    remarks = [f"time to first token unknown where it was the end of a whole response: {n_whole:,}"] if n_whole else []
    return (*remarks, *remarks_on(writer, source, log_format))


def settle(writer: Writer, withdrawn: Part | None = None) -> tuple[int, int, int]:
    """Decide which staged lines are new; return the numbers of loaded, duplicate and quarantined lines.

    Where the first line of `withdrawn` was loaded before it had an end, its record is taken back.
    """
    counts = writer.rows("ingest/counts")[0]
    writer.run("ingest/repeated_ids")
    n_duplicates = writer.change("ingest/drop_repeated") if writer.rows("ingest/any_repeated_id") else 0
    writer.open_lake(row["file"] for row in writer.rows("ops/lake_files"))
    writer.run("ingest/clashes")
    if withdrawn:
        writer.run("ingest/withdraw", origin_sha256=withdrawn.origin_sha256, line_number=withdrawn.first_line)
    n_duplicates += writer.change("ingest/drop_known")
    n_quarantined = counts["n_quarantined"]
    return counts["n_lines"] - n_quarantined - n_duplicates, n_duplicates, n_quarantined


def worst_reasons(writer: Writer) -> str | None:
    """Name the reasons of the staged file's refused lines, most frequent first."""
    reasons = writer.rows("ingest/rejects")
    return ", ".join(f"{row['n_lines']:,} {row['reason']}" for row in reasons[:3]) or None


def require_few_rejects(writer: Writer, n_quarantined: int, n_lines: int, source: SourceSettings) -> None:
    worst = writer.rows("ingest/rejects")
    if n_quarantined < MIN_REJECTS or n_quarantined <= MAX_REJECT_SHARE * n_lines or not worst:
        return
    raise RejectedFileError(
        "too_many_rejects",
        f"{n_quarantined:,} of {n_lines:,} lines are refused, {worst[0]['n_lines']:,} of them "
        f"for {worst[0]['reason']}: this is not the format {source.format!r}, or its producer changed; "
        "see `valleywatch formats`",
    )


def require_few_deployments(writer: Writer) -> None:
    names = [row["deployment"] for row in writer.rows("ingest/deployments", n_most=MAX_DEPLOYMENTS + 1)]
    if len(names) > MAX_DEPLOYMENTS:
        raise RejectedFileError(
            "too_many_deployments",
            f"it names over {MAX_DEPLOYMENTS:,} deployments, such as {', '.join(map(repr, names[:3]))}: is one named "
            "after each request? Set `deployment` of the source, or mend the producer",
        )
