"""The section `[spark]` of the configuration: which cluster, and how it sees the warehouse.

Belongs here: keys, their bounds and defaults. Does not belong here: starting anything (`session`).
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field, field_validator

from pipelines.errors import UsageError
from pipelines.section import Section

OURS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
"""What results would depend on, hence set and checked in every session: without ANSI a sum beyond 2⁶³ is negative."""

_HOSTS = r"[A-Za-z0-9._-]+:[0-9]{1,5}(,[A-Za-z0-9._-]+:[0-9]{1,5})*"
_MASTER = re.compile(
    rf"local|local\[([1-9][0-9]*|\*)\]|local-cluster\[[0-9]+,[0-9]+,[0-9]+\]|spark://{_HOSTS}|yarn|k8s://[^\s@]+"
    r"|sc://(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/(;[A-Za-z_-]+=[^;\s]*)*)?"
)
_SECRET = re.compile(r"(?i)secret|passw|token|access\.?key|credential")
_FOLDER = re.compile(r"(/|[a-z][a-z0-9+]*://)[^\s\\*?\[\]{},:#%]+")
PLAIN_FOLDER = "Spark reads \\ * ? [ ] { } , : # % and blanks in a path as something else"


class SparkSettings(Section):
    """The cluster that makes the hourly marts where `engine = "spark"`."""

    master: Annotated[str, Field(min_length=1, max_length=2048)] | None = None
    """Master (`spark://`, `yarn`, `k8s://`, `local[2]`), or the address of a Spark Connect server (`sc://`)."""
    folder: Annotated[str, Field(min_length=1, max_length=2048)] | None = None
    """The warehouse's folder as the cluster sees it; without this key it has the same path there."""
    conf: dict[str, str] = Field(default_factory=dict)
    """Settings of Spark by their own names, such as `"spark.executor.memory" = "4g"`."""

    @field_validator("master")
    @classmethod
    def _known_master(cls, master: str | None) -> str | None:
        if master is not None and _SECRET.search(master):
            raise ValueError("names a secret: leave it out, Spark Connect takes SPARK_CONNECT_AUTHENTICATE_TOKEN")
        if master is not None and not _MASTER.fullmatch(master):
            raise ValueError(
                "must be a master such as spark://HOST:7077, yarn, k8s://URL or local[2], or a Spark Connect server, "
                "sc://HOST:15002"
            )
        return master

    @field_validator("folder")
    @classmethod
    def _plain_folder(cls, folder: str | None) -> str | None:
        if folder is not None and not _FOLDER.fullmatch(folder):
            raise ValueError(f"must be an absolute path or a URL, and plain: {PLAIN_FOLDER}")
        return folder

    @field_validator("conf", mode="before")
    @classmethod
    def _names_in_quotes(cls, conf: Any) -> Any:
        for name, value in conf.items() if isinstance(conf, dict) else ():
            if isinstance(value, dict):
                raise ValueError(f'{name}: write the whole name in quotes, as "spark.executor.memory" = "4g"')  # noqa: TRY004
            if not isinstance(value, str):
                raise ValueError(f"{name}: write the value in quotes, as Spark's own files have text alone")  # noqa: TRY004
        return conf

    @field_validator("conf")
    @classmethod
    def _not_ours(cls, conf: dict[str, str]) -> dict[str, str]:
        for name in conf:
            if not name.startswith("spark."):
                raise ValueError(f"{name}: settings of Spark begin with spark.")
            if name in OURS or name in ("spark.master", "spark.remote"):
                raise ValueError(f"{name}: is set by valleywatch, since results rest on it: remove it")
            if _SECRET.search(name):
                raise ValueError(f"{name}: secrets do not belong here: use spark-defaults.conf or the environment")
        return conf

    @property
    def is_connect(self) -> bool:
        """Whether the cluster is asked through a Spark Connect server."""
        return (self.master or "").startswith("sc://")

    @property
    def is_on_this_machine(self) -> bool:
        """Whether all of the cluster is reached over the loopback interface."""
        host = re.match(r"spark://([^:]+):", self.master or "")
        return (self.master or "").startswith("local") or (host is not None and host[1] in ("127.0.0.1", "localhost"))


def require_master(settings: SparkSettings) -> None:
    """Raise UsageError where no cluster is named."""
    if settings.master is None:
        raise UsageError('spark.master: required where engine = "spark", such as "spark://HOST:7077" or "local[2]"')


def is_plain(folder: str) -> bool:
    """Say whether Spark takes a folder's path as it stands."""
    return _FOLDER.fullmatch(folder) is not None
