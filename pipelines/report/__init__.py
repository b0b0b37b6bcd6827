"""
The report: a folder of pages that people open, the fleet's first, one for each deployment.

Belongs here: reading what a snapshot says (`reading`, `money`, `shapes`), pages of it (`pages`, `embedded`), putting
them in their place (`publishing`, `folder`). Does not belong here: the figures (`report_figures`), sentences (`words`),
how a number looks (`display`), the views that pages are made of (`report_input`).
"""

from pipelines.report.pages import page_of, render_deployment, render_fleet
from pipelines.report.publishing import (
    deployment_page,
    finish_publishing,
    publish_if_behind,
    publish_report,
    report_path,
)
from pipelines.report.reading import read_deployments
from pipelines.report.trust import trusted_verdict

__all__ = [
    "deployment_page",
    "finish_publishing",
    "page_of",
    "publish_if_behind",
    "publish_report",
    "read_deployments",
    "render_deployment",
    "render_fleet",
    "report_path",
    "trusted_verdict",
]
