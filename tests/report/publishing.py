"""Pages of made-up deployments as a folder on disk, the way `publish_report` lays it out, without a warehouse."""

from pathlib import Path

from pipelines.report.pages import fleet_row, page_of, render_deployment, render_fleet
from pipelines.report.publishing import shared_files
from pipelines.report_input import Report


def pages_of(report: Report) -> dict[str, str]:
    """Render all pages of the report, by file name; the first one first."""
    first = render_fleet([fleet_row(one) for one in report.deployments], report)
    return {"index.html": first, **{page_of(one.name): render_deployment(one, report) for one in report.deployments}}


def text_of(report: Report) -> str:
    """Return all pages as one text."""
    return "\n".join(pages_of(report).values())


def write_pages(report: Report, folder: Path) -> Path:
    """Write all pages of the report into the folder; return the first one."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages_of(report).items():
        (folder / name).write_text(page, encoding="utf-8")
    for name, content in shared_files():
        (folder / name).write_bytes(content)
    return folder / "index.html"
