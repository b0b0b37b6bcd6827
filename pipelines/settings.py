"""The configuration file `valleywatch.toml`: its keys, their bounds and their defaults.

Belongs here: parsing and refusing. Does not belong here: reading logs or secrets. Unknown keys are refused with the
nearest known name, all faults are reported together, and relative paths are relative to the file's own folder.
"""

from __future__ import annotations

import difflib
import tomllib
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipelines.errors import UsageError
from pipelines.formats import formats

NonEmpty = Annotated[str, Field(min_length=1, max_length=256)]
Price = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class WarehouseSettings(_Section):
    """Where results live."""

    path: Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")] = "warehouse"
    memory_limit: Annotated[str, Field(pattern=r"^[1-9][0-9]*(MB|GB|MiB|GiB)$")] = "1GiB"
    """Memory DuckDB may use before it spills to the warehouse's own temporary folder."""


class SourceSettings(_Section):
    """One set of log files and how to read them."""

    name: NonEmpty
    format: NonEmpty
    path: NonEmpty
    deployment: NonEmpty | None = None
    """Deployment of the lines that name none themselves."""
    timezone: Literal["UTC"] | None = None
    """Zone of time stamps without an offset; without this key such lines are quarantined."""
    epoch_unit: Literal["s", "ms", "us", "ns"] | None = None
    """Unit of time stamps that are numbers; without this key such lines are quarantined: units are never guessed."""

    @model_validator(mode="after")
    def _known_format(self) -> SourceSettings:
        if self.format not in formats():
            raise ValueError(
                f"unknown format {self.format!r}{nearest(self.format, formats())}; see `valleywatch formats`"
            )
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


def _as_tuples(document: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in document.items()}


def _fault(fault: Any) -> str:
    place = ".".join(str(part + 1) if isinstance(part, int) else part for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{place}: unknown key{nearest(str(fault['loc'][-1]), _known_keys(fault['loc'][:-1]))}"
    if fault["type"] == "missing":
        return f"{place}: required, but not given"
    if fault["type"] in ("tuple_type", "model_type", "dict_type"):
        brackets = "[[{}]]" if place.split(".")[0] in ("sources", "prices") else "[{}]"
        return f"{place}: must be a section, written {brackets.format(place.split('.')[0])}"
    if fault["type"].startswith("date_"):
        return f"{place}: must be a date written without quotes, such as 2026-01-01, not {fault['input']!r}"
    if place.endswith("currency"):
        return f"{place}: must be three capital letters, such as USD, not {fault['input']!r}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    value = fault["input"]
    return f"{place}: {message}" + ("" if isinstance(value, dict) else f", not {value!r}")


def _known_keys(section: tuple[Any, ...]) -> list[str]:
    models: dict[tuple[str, ...], type[_Section]] = {
        (): Settings, ("warehouse",): WarehouseSettings, ("policy",): PolicySettings,
        ("sources",): SourceSettings, ("prices",): PriceSettings,
    }  # fmt: skip
    model = models[tuple(part for part in section if isinstance(part, str))]
    return [name for name in model.model_fields if name != "folder"]
