"""`[metrics]`: the keys of the section.

Belongs here: keys and bounds. Does not belong here: writing (`textfile`) or serving (`server`).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from pipelines.section import Section


def require_prom(path: str) -> str:
    """Return the path of a text file; raise ValueError where no collector would read it."""
    if not path.endswith(".prom"):
        raise ValueError("must end in .prom: the node exporter's textfile collector reads no other file")
    return path


class MetricsSettings(Section):
    """How dashboards learn of results."""

    textfile: Annotated[str, Field(max_length=4096, pattern=r"^[^\x00]*$"), AfterValidator(require_prom)] | None = None
    """Written at the end of every run, relative to the file's folder; unset: nowhere."""
