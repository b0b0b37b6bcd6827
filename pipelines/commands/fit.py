"""`valleywatch fit`."""

from __future__ import annotations

import argparse
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from models.length_sweep import fit_length_sweep
from models.sweep import fit_sweep, is_one_length
from pipelines.commands.ingest import source_for
from pipelines.commands.options import add_config, add_json
from pipelines.commands.output import tell, write_json
from pipelines.curve_result import curve_fields, curve_sentences
from pipelines.errors import UnreachableError, UsageError
from pipelines.inbox import find_named
from pipelines.ingest import ingest_files
from pipelines.log_file import LogFile
from pipelines.object_url import is_url
from pipelines.plan_result import plan_fields, plan_sentences
from pipelines.planning import DEFAULT_PRICE_RATIO, plan_for
from pipelines.privacy.pseudonyms import Privacy
from pipelines.section import nearest
from pipelines.settings import load_settings
from pipelines.sweep_result import lengths_fields, lengths_sentences, one_length_fields, one_length_sentences
from pipelines.warehouse import Warehouse


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "fit", help="curve and valley from a benchmark sweep or of a deployment; what to measure"
    )
    parser.add_argument(
        "subject",
        metavar="SWEEP_FILE|DEPLOYMENT",
        nargs="?",
        help="log of a saturated benchmark: many hit rates; where no file has this name, a deployment of the warehouse",
    )
    parser.add_argument(
        "--plan",
        metavar="DEPLOYMENT",
        help="the few points to measure that would make this deployment's verdict certain, after SWEEP_FILE if given",
    )
    parser.add_argument("--format", metavar="NAME", help="the file's format (default: told from how it begins)")
    parser.add_argument(
        "--price-ratio",
        type=float,
        metavar="r",
        help="price of a cached / of a computed token (default: the deployment's own; of a file .1)",
    )
    add_json(parser)
    add_config(parser)
    parser.set_defaults(execute=execute, refuse=parser.error)


def execute(options: argparse.Namespace) -> int:
    """Print curve and valley, exit with 1 when the curve must not be trusted; or print a plan."""
    ratio = options.price_ratio
    if ratio is not None and not 0 <= ratio < 1:
        raise UsageError(f"--price-ratio {ratio} is not in [0, 1): give cached price / input price")
    if options.plan is not None:
        return _plan(options)
    if options.subject is None:
        options.refuse("name a SWEEP_FILE or a DEPLOYMENT, or a deployment with --plan")
    try:
        logs = _files_named(options.subject)
    except UsageError as no_file:
        found = _of_deployment(options.subject, options.config, ratio, no_file)
        sentences = curve_sentences(found)
    else:
        found, sentences = _of_file(_only(logs), options.format, DEFAULT_PRICE_RATIO if ratio is None else ratio)
    if options.json:
        write_json(found)
    else:
        print("\n".join(sentences))
    return 0 if found["trustworthy"] else 1


def _files_named(subject: str) -> list[LogFile]:
    """Return the files of this name, or raise UsageError; a folder is none."""
    if not is_url(subject) and "\0" not in subject and Path(subject).is_dir():
        raise UsageError(f"{subject} is a folder, not a file")
    return find_named(Path.cwd(), subject)


def _of_deployment(name: str, config: Path, price_ratio: float | None, no_file: UsageError) -> dict[str, Any]:
    """Return the fields of the deployment's curve; raise UsageError where there is neither file nor deployment."""
    try:
        settings = load_settings(config)
        with Warehouse(settings.warehouse_folder).reader() as reader:
            found = curve_fields(reader, name, price_ratio)
            known = [row["deployment"] for row in reader.rows("report/recent_traffic")]
    except UsageError as no_warehouse:
        raise UsageError(f"{no_file}; and {name!r} cannot be looked up as a deployment: {no_warehouse}") from None
    if found is None:
        raise UsageError(
            f"{no_file}; and {settings.warehouse_folder} has no deployment {name!r}{nearest(name, known)}: "
            "name a benchmark's log, or a deployment that `valleywatch status` lists"
        )
    return found


def _of_file(log: LogFile, format_name: str | None, price_ratio: float) -> tuple[dict[str, Any], list[str]]:
    rows, basis = read_sweep(log, format_name)
    try:
        return _fitted(rows, basis, price_ratio)
    except ValueError as error:
        raise UsageError(f"{log.name} is no sweep: {error}") from None


def _plan(options: argparse.Namespace) -> int:
    settings = load_settings(options.config)
    measured = None
    if options.subject is not None:
        measured, _ = read_sweep(_only(find_named(Path.cwd(), options.subject)), options.format)
    with Warehouse(settings.warehouse_folder).reader() as reader:
        planned = plan_for(reader, options.plan, price_ratio=options.price_ratio, benchmark=measured)
    if options.json:
        write_json(plan_fields(planned))
    else:
        print("\n".join(plan_sentences(planned)))
    return 0


def _fitted(rows: pl.DataFrame, basis: str, price_ratio: float) -> tuple[dict[str, Any], list[str]]:
    """Return the fields and the sentences of the fit: of the line at one length, of the law at several."""
    columns = [rows[name].to_numpy() for name in ("hit_rate", "input_tokens", "busy_s")]
    if is_one_length(columns[1]):
        found = one_length_fields(fit_sweep(*columns), basis, price_ratio)
        return found, one_length_sentences(found)
    found = lengths_fields(fit_length_sweep(*columns), basis, price_ratio)
    return found, lengths_sentences(found)


def _only(logs: list[LogFile]) -> LogFile:
    if len(logs) > 1:
        raise UsageError(f"{len(logs)} files match, {logs[0].name!r} among them: a sweep is one file")
    return logs[0]


def read_sweep(log: LogFile, format_name: str | None) -> tuple[pl.DataFrame, str]:
    """Return hit_rate, input_tokens and busy_s of the sweep's successful requests, and which time busy_s is."""
    source = source_for(log, {"format": format_name, "deployment": "sweep"})
    with tempfile.TemporaryDirectory(prefix="valleywatch-fit-") as scratch:
        warehouse = Warehouse(Path(scratch))
        with warehouse.writer() as writer:
            outcome = ingest_files(writer, source, [log], 1, datetime.now(UTC), tell, Privacy())[0]
            writer.open_lake(row["file"] for row in writer.rows("ops/lake_files"))
            rows = writer.frame("curve/sweep_rows")
    if outcome.status == "unreachable":
        raise UnreachableError(f"{log.name} cannot be read: {outcome.detail}")
    if outcome.status == "rejected":
        raise UsageError(f"{log.name} cannot be read: {outcome.detail}")
    if rows.is_empty():
        raise UsageError(f"{log.name} holds no successful request with cached tokens and a time to fit")
    basis = "prefill" if rows["prefill_us"].null_count() == 0 else "ttft"
    return rows.with_columns(busy_s=pl.col(f"{basis}_us") / 1e6).drop_nulls("busy_s"), basis
