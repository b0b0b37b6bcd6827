"""The folder that is given away: a file for each table, and a README that says what it is and what is missing.

Belongs here: files and their words. Does not belong here: what is in the tables (`marts`).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl

from pipelines.commands.output import inert
from pipelines.errors import UsageError
from pipelines.sharing.marts import Shared

README = """\
# Prefix-cache hit rates and throughput curves, in groups of at least {k}

Made by `valleywatch share`. Times are UTC, rates in [0, 1], an empty value is unknown.

- `hourly_hit_rate`: a row a deployment and hour. `hit_rate` is cached_tokens / input_tokens.
- `hit_rate_histogram`: the same requests by their own hit rate, from bin_low up to, not including, bin_high. A rate of
  bin_high belongs to the next row; where none of the hour begins there, to this one.
- `valley_status`, `throughput_curve`: verdicts of those hours, and curves of the days that have one.

k-anonymity with k = {k}: an individual is a session, or a request that names none. The quasi-identifiers are
deployment, hour and request hit rate. Every row of the first two tables is of the requests of at least {k} individuals
(`n_individuals` is a lower bound of their number), and the rows of an hour add up to its total, so that no difference
of rows is of fewer. Counted are successful requests that report their cached tokens. output_tokens is empty where not
every request of the group reports it.

Left out: {n_hours_left_out:,} of {n_hours:,} deployment-hours, which had fewer than {k} individuals, with {share} of
the requests. {n_bins:,} bins of the other hours were joined to {n_bins_published:,}. There are no ids, no names of
files, models or instances{names}.

Not protected: what is known of a whole deployment by its volume, its curve or its prices; and a second export of the
same hours with another k, whose rows could be subtracted from these.
"""


def require_new(folder: Path) -> None:
    """Raise UsageError where something is in the way."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UsageError(f"{folder} is there already: name a new folder, whose content is then the export and no more")


def write_folder(shared: Shared, folder: Path, *, as_csv: bool, with_names: bool) -> None:
    """Write all files, whole or not at all; raise UsageError where the folder cannot be made."""
    require_new(folder)
    aside = folder.absolute().with_name(f".{folder.absolute().name}.tmp")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        for name, table in shared.tables.items():
            if as_csv:
                _inert(table).write_csv(aside / f"{name}.csv")
            else:
                table.write_parquet(aside / f"{name}.parquet")
        (aside / "README.md").write_text(readme(shared, with_names=with_names), encoding="utf-8")
        aside.replace(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}; name a folder elsewhere") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def readme(shared: Shared, *, with_names: bool) -> str:
    """Return the README. How many requests were left out is told as a rounded share, as they may be of few."""
    percent = round(100 * shared.n_requests_left_out / shared.n_requests) if shared.n_requests else 0
    return README.format(
        k=shared.k,
        n_hours=shared.n_hours,
        n_hours_left_out=shared.n_hours_left_out,
        share=f"about {percent} %" if percent else "none" if not shared.n_hours_left_out else "less than 1 %",
        n_bins=shared.n_bins,
        n_bins_published=shared.n_bins_published,
        names="" if with_names else ", and labels for the names of deployments",
    )


def _inert(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with texts that no spreadsheet takes for a formula."""
    return table.with_columns(pl.col(pl.String).map_elements(inert, return_dtype=pl.String))
