"""`valleywatch doctor`."""

from __future__ import annotations

import argparse
import os
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pipelines.commands.options import add_config, add_json
from pipelines.commands.output import tell, write_json, write_table
from pipelines.doctor.case import Case
from pipelines.doctor.examination import examine
from pipelines.doctor.finding import Finding, exit_code
from pipelines.settings import load_settings

WIDTH = 100
"""Characters of a sentence in one line of the table."""


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("doctor", help="is everything healthy: last success, locks, disk, sources, alerts, …")
    add_json(parser)
    add_config(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print what the checks find, worst first; return 1 where a person is needed."""
    settings = load_settings(options.config)
    findings = examine(Case(options.config.resolve(), settings, present(), os.environ))
    if options.json:
        write_json([asdict(finding) for finding in findings])
    else:
        write_table(("level", "finding", "what"), [row for finding in findings for row in _rows(finding)])
    levels = Counter(finding.level for finding in findings)
    tell(f"{levels['bad']} bad, {levels['warn']} warnings, {levels['ok']} ok")
    return exit_code(findings)


def present() -> datetime:
    """Return the machine's time."""
    return datetime.now(UTC)


def _rows(finding: Finding) -> Sequence[tuple[str, str, str]]:
    """Return the lines of a finding: what it is, and below it the rule and what to do unless all is well."""
    said = [finding.what]
    if finding.level != "ok":
        said += [f"rule: {finding.rule}", f"do: {finding.remedy}"]
    lines = [line for text in said for line in textwrap.wrap(text, WIDTH, break_on_hyphens=False)]
    names = [(finding.level, finding.code), *[("", "")] * (len(lines) - 1)]
    return [(*name, line) for name, line in zip(names, lines, strict=True)]
