"""The configuration file `valleywatch.toml`: its keys, their bounds and their defaults.

Belongs here: parsing and refusing. Does not belong here: reading logs or secrets. Unknown keys are refused with the
nearest known name, all faults are reported together, and relative paths are relative to the file's own folder.
"""

from __future__ import annotations

import difflib
import tomllib
import zoneinfo
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from pipelines.errors import UsageError
from pipelines.formats import formats
from pipelines.object_url import is_url, read_url, redacted

NonEmpty = Annotated[str, Field(min_length=1, max_length=256)]
AS_LOGGED = "as_logged"
Price = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class WarehouseSettings(_Section):
    """Where results live."""

    path: Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")] = "warehouse"
    memory_limit: Annotated[str, Field(pattern=r"^[1-9][0-9]*(MB|GB|MiB|GiB)$")] = "640MiB"
    """Memory DuckDB may use before it spills to the warehouse's own temporary folder."""


class SourceSettings(_Section):
    """One set of log files and how to read them."""

    name: NonEmpty
    format: NonEmpty
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """A glob, relative to the file's folder, or one in an object store (`s3://`, `gs://`)."""
    deployment: NonEmpty | None = None
    """Deployment of the lines that name none themselves."""
    timezone: NonEmpty | None = None
    """Zone (IANA name) of time stamps without an offset; without this key such lines are quarantined."""
    epoch_unit: Literal["s", "ms", "us", "ns"] | None = None
    """Unit of time stamps that are numbers; without this key such lines are quarantined: units are never guessed."""
    absent_cached_is_zero: bool = False
    """Whether the producer leaves cached_tokens out where it is 0; without this key absent is unknown, never 0."""
    settle_s: Annotated[int, Field(ge=0, le=86_400)] = 60
    """A file modified less than this ago may still be written to: what is unfinished in it waits for the next run."""
    latency_unit: Literal["s", "ms", "us", "ns", "as_logged"] | None = None
    """Unit of the log's durations whatever their names end in, or the format's own (`as_logged`): not doubted then."""
    input_tokens: Literal["inclusive", "exclusive"] | None = None
    """Whether the log's count of input tokens includes the cached and the written ones."""
    ttft_basis: Literal["engine", "gateway", "client"] | None = None
    """Where the time to first token is taken."""
    cached_basis: Literal["measured", "predicted", "simulated"] | None = None
    """Where the count of cached tokens comes from."""
    columns: dict[NonEmpty, NonEmpty] = Field(default_factory=dict)
    """The log's own names (in JSON lines: paths) of columns of the canonical format."""

    @model_validator(mode="after")
    def _known_format(self) -> SourceSettings:
        if self.format not in formats():
            raise ValueError(
                f"unknown format {self.format!r}{nearest(self.format, formats())}; see `valleywatch formats`"
            )
        return self

    @model_validator(mode="after")
    def _possible_url(self) -> SourceSettings:
        if is_url(self.path):
            read_url(self.path)
        return self

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str | None) -> str | None:
        # "localtime" is whatever the machine at hand is set to.
        if name is not None and name not in zoneinfo.available_timezones() - {"localtime"}:
            known = nearest(name, zoneinfo.available_timezones())
            raise ValueError(f"must be a zone of the IANA database, such as Europe/Berlin or UTC{known}")
        return name

    @model_validator(mode="after")
    def _left_open_by_the_format(self) -> SourceSettings:
        if self.format not in formats():
            return self
        log_format = formats()[self.format]
        for key in ("latency_unit", "input_tokens", "ttft_basis", "cached_basis"):
            if getattr(self, key) not in (None, AS_LOGGED) and key not in log_format.left_open:
                raise ValueError(
                    f"{key} = {getattr(self, key)!r}: what writes {self.format!r} fixes it: remove the key"
                )
        if self.columns and not log_format.columns:
            raise ValueError(
                f"columns: the format {self.format!r} knows its producer's names; only canonical, canonical_csv and "
                "canonical_parquet take others"
            )
        for name, own in self.columns.items():
            if name not in log_format.columns:
                raise ValueError(f"columns.{name}: no column of {self.format!r}{nearest(name, log_format.columns)}")
            log_format.pointer(own)
        return self


class PriceSettings(_Section):
    """Prices per million tokens of the deployments that match a glob, from a UTC date on."""

    deployment: NonEmpty
    effective_from: date
    effective_to: date | None = None
    """First UTC date on which the row no longer holds."""
    input_per_mtok: Annotated[Price, Field(gt=0)]
    cached_per_mtok: Price
    output_per_mtok: Price | None = None
    cache_write_per_mtok: Price | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"

    @model_validator(mode="after")
    def _consistent(self) -> PriceSettings:
        if self.cached_per_mtok > self.input_per_mtok:
            raise ValueError(
                f"cached_per_mtok {self.cached_per_mtok} exceeds input_per_mtok {self.input_per_mtok}: "
                "a cached token is sold at a discount; swap the two"
            )
        if self.effective_to is not None and self.effective_to <= self.effective_from:
            raise ValueError(f"effective_to {self.effective_to} is not after effective_from {self.effective_from}")
        return self

    def covers(self, deployment: str, day: date) -> bool:
        """Say whether this row prices `deployment` on the UTC date `day`."""
        in_time = self.effective_from <= day and (self.effective_to is None or day < self.effective_to)
        return in_time and fnmatchcase(deployment, self.deployment)


class PolicySettings(_Section):
    """When a deployment is said to be in the valley."""

    version: Annotated[int, Field(ge=1)] = 1
    """Part of every episode's key: raise it when a changed threshold should open new episodes."""
    capacity: Literal["elastic", "fixed"] = "elastic"
    enter_probability: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    leave_probability: Annotated[float, Field(ge=0, le=0.5)] = 0.5
    enter_hours: Annotated[int, Field(ge=1, le=48)] = 2
    leave_hours: Annotated[int, Field(ge=1, le=48)] = 3
    min_requests: Annotated[int, Field(ge=1)] = 30
    """Requests with reported cached tokens below which an hour only holds the state."""
    min_coverage: Share = 0.8
    """Share of requests that report cached tokens below which an hour only holds the state."""
    capacity_limited_busy_share: Share = 0.7
    window_days: Annotated[int, Field(ge=1, le=90)] = 7
    """Days of traffic, the evaluated one included, that a curve is fitted on."""


class Settings(_Section):
    """The whole file, plus the folder it stands in."""

    folder: Path
    warehouse: WarehouseSettings = WarehouseSettings()
    sources: tuple[SourceSettings, ...] = ()
    prices: tuple[PriceSettings, ...] = ()
    policy: PolicySettings = PolicySettings()

    @property
    def warehouse_folder(self) -> Path:
        """Absolute folder of the warehouse."""
        return (self.folder / self.warehouse.path).resolve()

    def price_of(self, deployment: str, day: date) -> PriceSettings | None:
        """Return the price row in force: an exact name wins over a glob, then the later `effective_from`."""
        rows = [row for row in self.prices if row.covers(deployment, day)]
        return max(rows, key=lambda row: (row.deployment == deployment, row.effective_from), default=None)


def nearest(name: str, known: Any) -> str:
    """Return ` (did you mean 'x'?)` for the known name closest to `name`, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def load_settings(path: Path) -> Settings:
    """Read `path`; raise UsageError that lists every fault with its key, value and rule."""
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"no configuration at {path}: name one with --config, or run `valleywatch demo` to see an example"
        ) from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder: --config takes the TOML file itself") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; check its owner and mode") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from None
    if "alerts" in document:
        raise UsageError(
            f"{path}: [[alerts]] is not supported by this version: it records alerts in the alert_outbox table "
            "and delivers none; remove the section"
        )
    if "folder" in document:
        raise UsageError(f"{path}: unknown key 'folder'")
    try:
        return Settings.model_validate({**_as_tuples(document), "folder": path.resolve().parent})
    except ValidationError as error:
        faults = "\n".join(f"  {_fault(fault)}" for fault in error.errors())
        raise UsageError(f"{path} cannot be used:\n{faults}") from None


def source_from(values: dict[str, Any]) -> SourceSettings:
    """Return a source described by hand; raise UsageError that lists every fault."""
    try:
        return SourceSettings.model_validate(values)
    except ValidationError as error:
        raise UsageError("\n".join(_fault(fault).removeprefix(": ") for fault in error.errors())) from None


def _as_tuples(document: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in document.items()}


def _fault(fault: Any) -> str:
    place = ".".join(str(part + 1) if isinstance(part, int) else part for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{place}: unknown key{nearest(str(fault['loc'][-1]), _known_keys(fault['loc'][:-1]))}"
    if fault["type"] == "missing":
        return f"{place}: required, but not given"
    if fault["type"] in ("tuple_type", "model_type", "dict_type"):
        section = str(fault["loc"][0])
        brackets = "[[{}]]" if section in ("sources", "prices") else "[{}]"
        written = "[sources.columns]" if place.endswith(".columns") else brackets.format(section)
        return f"{place}: must be a section, written {written}"
    if fault["type"].startswith("date_"):
        return f"{place}: must be a date written without quotes, such as 2026-01-01, not {fault['input']!r}"
    if place.endswith("currency"):
        return f"{place}: must be three capital letters, such as USD, not {fault['input']!r}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    value = fault["input"]
    shown = redacted(value) if isinstance(value, str) else value
    return f"{place}: {message}" + ("" if isinstance(value, dict) else f", not {shown!r}")


def _known_keys(section: tuple[Any, ...]) -> list[str]:
    models: dict[tuple[str, ...], type[_Section]] = {
        (): Settings, ("warehouse",): WarehouseSettings, ("policy",): PolicySettings,
        ("sources",): SourceSettings, ("prices",): PriceSettings,
    }  # fmt: skip
    model = models[tuple(part for part in section if isinstance(part, str))]
    return [name for name in model.model_fields if name != "folder"]
