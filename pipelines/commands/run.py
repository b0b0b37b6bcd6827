"""`valleywatch run`."""

from __future__ import annotations

import argparse
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pipelines.commands.ingest import exit_code
from pipelines.commands.options import add_config, utc_date
from pipelines.commands.output import tell
from pipelines.commands.status import print_status
from pipelines.daily_job import run
from pipelines.delivery.patience import deliver_patiently
from pipelines.errors import BusyError, UsageError, ValleywatchError
from pipelines.metrics.textfile import publish_metrics
from pipelines.opening import warehouse_of
from pipelines.report import report_path
from pipelines.settings import Settings, load_settings


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run", help="the whole job: ingest, aggregate, fit, flag, record alerts, report (default: days with new data)"
    )
    parser.add_argument("--day", metavar="D", help="one UTC date, YYYY-MM-DD")
    parser.add_argument("--from", dest="first", metavar="D", help="first UTC date of a range")
    parser.add_argument("--to", dest="last", metavar="D", help="last UTC date of a range")
    parser.add_argument(
        "--reprice", action="store_true", help="judge the days named at the prices of now, not those published"
    )
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Run the job and print the valley table; exit as `ingest` does where a file was refused or not reached."""
    days = _days(options)
    if options.reprice and days is None:
        raise UsageError("--reprice rewrites published prices: name the days with --day D, or --from D --to D")
    return run_and_tell(options.config, days, reprice=options.reprice)


def run_and_tell(config: Path, days: list[date] | None, *, reprice: bool) -> int:
    """Do what `execute` does, for these days; None: those with new data."""
    settings = load_settings(config)
    try:
        outcome = run(config, days=days, tell=tell, reprice=reprice)
    except BusyError:
        raise
    except ValleywatchError:
        _deliver_besides(settings)
        raise
    warehouse = warehouse_of(settings)
    print_status(warehouse)
    print(f"report: {report_path(warehouse)}")
    n_of = Counter(file.status for file in outcome.files)
    if n_of["rejected"]:
        tell(
            f"{n_of['rejected']} sources or files were refused, as said above; the view ingest_files keeps the reasons"
        )
    if n_of["unreachable"]:
        tell(f"{n_of['unreachable']} sources or objects could not be reached, as said above: run again")
    code = _deliver(settings)
    publish_metrics(settings, warehouse, tell)  # last: it must not keep alerts from going out, and tells of them
    return code or exit_code(outcome.files)


def _deliver(settings: Settings) -> int:
    """Tell the channels what is due; return 1 where something was given up. Without channels nothing is looked for."""
    if not settings.alerts:
        return 0
    try:
        done = deliver_patiently(settings, tell)
    except BusyError as error:
        tell(f"alerts are left to the next round: {error}")
        return 0
    if done.waiting:
        tell(f"{done.waiting} alerts are to be delivered yet: `valleywatch alerts send` tries again")
    return 1 if done.dead else 0


def _deliver_besides(settings: Settings) -> None:
    """Tell the channels of what stopped the job; what goes wrong there must not hide it."""
    try:
        _deliver(settings)
    except ValleywatchError as error:
        tell(f"alerts were not delivered: {error}")


def _days(options: argparse.Namespace) -> list[date] | None:
    if options.day and (options.first or options.last):
        raise UsageError("--day names one day, --from and --to a range: use one or the other")
    if options.day:
        return [utc_date(options.day)]
    if not options.first and not options.last:
        return None
    if not (options.first and options.last):
        raise UsageError("a range needs both ends: --from D --to D")
    first, last = utc_date(options.first), utc_date(options.last)
    if last < first:
        raise UsageError(f"--to {last} is before --from {first}")
    return [first + timedelta(days=ahead) for ahead in range((last - first).days + 1)]
