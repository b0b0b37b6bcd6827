"""
The published report: which files its folder has, and when it is made.

Belongs here: making all pages of the newest snapshot and putting them in place. Does not belong here: what a page says
(`pages`), how folders are swapped (`folder`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pipelines.report.folder import FolderAside
from pipelines.report.pages import (
    FIGURES_SCRIPT,
    SCRIPTS,
    STYLE,
    fleet_row,
    page_of,
    render_deployment,
    render_fleet,
    style_sheet,
)
from pipelines.report.reading import read_deployments, read_frame
from pipelines.report_figures import script
from pipelines.warehouse import Reader, Warehouse, Writer

FIRST_PAGE = "index.html"
_BEFORE_FOLDERS = "report.html"
"""Where earlier versions put their one page; it would stay as it was for ever."""


def report_path(warehouse: Warehouse) -> Path:
    """Return where the report's first page is published."""
    return warehouse.folder / "report" / FIRST_PAGE


def deployment_page(address: str, deployment: str) -> str:
    """Return the address of a deployment's page beside the report's first page, or in the folder of that address."""
    at = urlsplit(address)
    folder, _, last = at.path.rpartition("/")
    folder = folder if not last or last.endswith(".html") else f"{folder}/{last}"
    return urlunsplit((at.scheme, at.netloc, f"{folder}/{page_of(deployment)}", at.query, ""))


def publish_report(warehouse: Warehouse, now: datetime) -> Path:
    """Put the snapshot's report beside it, whole or not at all; return its first page."""
    first_page = report_path(warehouse)
    with warehouse.reader() as reader, warehouse.explained():
        aside = FolderAside(first_page.parent)
        try:
            for name, page in _pages(reader, now):
                aside.write(name, page.encode())
            for name, content in shared_files(aside.published(FIGURES_SCRIPT)):
                aside.write(name, content)
            aside.publish()
        finally:
            aside.discard()
        (warehouse.folder / _BEFORE_FOLDERS).unlink(missing_ok=True)
    return first_page


def finish_publishing(writer: Writer) -> None:
    """Note that snapshot and report show everything that was judged."""
    writer.run("ops/clean_unpublished_days")


def publish_if_behind(warehouse: Warehouse, now: datetime) -> None:
    """Publish what was judged and never published: a run that died in between must not leave readers in the past."""
    with warehouse.writer() as writer:
        if writer.rows("ops/unpublished_days") or not warehouse.snapshot.exists():
            writer.publish()
        elif report_path(warehouse).exists():
            return
    publish_report(warehouse, now)
    with warehouse.writer() as writer:
        finish_publishing(writer)


def _pages(reader: Reader, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield names and pages; each deployment is forgotten but for its row once its page is made."""
    frame, rows = read_frame(reader, now), []
    for deployment in read_deployments(reader):
        rows.append(fleet_row(deployment))
        yield page_of(deployment.name), render_deployment(deployment, frame)
    yield FIRST_PAGE, render_fleet(rows, frame)


def shared_files(drawn_before: Path | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield what all pages load; drawn_before: the script that draws, where it was made before: it takes 4 s."""
    static = files("pipelines.report") / "static"
    yield STYLE, style_sheet().encode()
    for name in SCRIPTS:
        yield name, (static / name).read_bytes()
    yield FIGURES_SCRIPT, script().encode() if drawn_before is None else drawn_before.read_bytes()
