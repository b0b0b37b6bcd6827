"""The configuration file `valleywatch.toml`: its keys, their bounds and their defaults.

Belongs here: parsing and refusing. Does not belong here: reading logs or secrets. Unknown keys are refused with the
nearest known name, all faults are reported together, and relative paths are relative to the file's own folder.
"""

from __future__ import annotations

import tomllib
import zoneinfo
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from pipelines.cadence import ScheduleSettings
from pipelines.costs import Costs, CostSettings, costs_of
from pipelines.delivery.settings import AlertingSettings, ChannelSettings, SilenceSettings, require_names
from pipelines.engines.settings import SparkSettings, require_master
from pipelines.errors import UsageError
from pipelines.formats import formats
from pipelines.metrics.settings import MetricsSettings
from pipelines.object_url import is_url, read_url
from pipelines.objectives import Objectives, ObjectiveSettings, objectives_of
from pipelines.prices.book import PriceBook
from pipelines.prices.file import read_price_file
from pipelines.prices.known import KnownPrices
from pipelines.prices.rows import PriceSettings
from pipelines.privacy.settings import PrivacySettings
from pipelines.section import NonEmpty, Section, fault_text, nearest

AS_LOGGED = "as_logged"
LISTS = ("sources", "prices", "costs", "objectives", "alerts", "silences")
"""Sections of which there are several, written in double brackets."""
MEMORY = r"^[1-9][0-9]*(MB|GB|MiB|GiB)$"
"""A size of memory, as the engine takes it."""
Share = Annotated[float, Field(ge=0, le=1)]


class WarehouseSettings(Section):
    """Where results live."""

    path: Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")] = "warehouse"
    memory_limit: Annotated[str, Field(pattern=MEMORY)] = "640MiB"
    """Memory DuckDB may use before it spills to the warehouse's own temporary folder."""
    keep_h: Annotated[float, Field(ge=0, le=8760)] = 24.0
    """Hours for which what a reader may have open stays: superseded snapshots, and lake files only they list."""
    keep_gib: Annotated[float, Field(ge=0, le=1e6)] = 8.0
    """GiB that all snapshots may take before old ones go earlier; the newest three stay, and so do lake files."""


class SourceSettings(Section):
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


class PriceBookSettings(Section):
    """Where price rows come from besides `[[prices]]`."""

    path: Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")] | None = None
    """A CSV whose header is the keys of `[[prices]]`."""
    known_models: Literal["genai-prices"] | None = None
    """The package that prices deployments which no row matches and which are named like a model it knows."""


class PolicySettings(Section):
    """When a deployment is said to be in the valley."""

    version: Annotated[int, Field(ge=1)] = 1
    """Part of every episode's key: raise it when a changed threshold should open new episodes."""
    capacity: Literal["elastic", "fixed"] = "elastic"
    revenue_scope: Literal["input", "full"] = "input"
    """What the index and what is lost count: prompt tokens, or output tokens, cache writes and decoding too."""
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


class ReportSettings(Section):
    """Where people open the report."""

    url: Annotated[str, Field(pattern=r"^https?://[^\s<>|\"@]+$", max_length=2048)] | None = None
    """Address under which the folder `report` is served; alerts link to its pages, or say its path without it."""


class Settings(Section):
    """The whole file, plus the folder it stands in."""

    folder: Path
    engine: Literal["duckdb", "spark"] = "duckdb"
    """What makes the hourly marts: DuckDB in this process, or the Spark cluster of `[spark]`."""
    spark: SparkSettings = SparkSettings()
    warehouse: WarehouseSettings = WarehouseSettings()
    sources: tuple[SourceSettings, ...] = ()
    prices: tuple[PriceSettings, ...] = ()
    price_book: PriceBookSettings = PriceBookSettings()
    costs: tuple[CostSettings, ...] = ()
    objectives: tuple[ObjectiveSettings, ...] = ()
    policy: PolicySettings = PolicySettings()
    schedule: ScheduleSettings = ScheduleSettings()
    report: ReportSettings = ReportSettings()
    metrics: MetricsSettings = MetricsSettings()
    privacy: PrivacySettings = PrivacySettings()
    alerting: AlertingSettings = AlertingSettings()
    alerts: tuple[ChannelSettings, ...] = ()
    silences: tuple[SilenceSettings, ...] = ()

    @property
    def warehouse_folder(self) -> Path:
        """Absolute folder of the warehouse."""
        return (self.folder / self.warehouse.path).resolve()

    @cached_property
    def book(self) -> PriceBook:
        """All price rows, those of the CSV too; raises UsageError where it cannot be read or rows contradict."""
        rows = [price.row(f"prices.{number}") for number, price in enumerate(self.prices, 1)]
        if self.price_book.path is not None:
            rows += read_price_file(self.folder / self.price_book.path, self.price_book.path)
        return PriceBook(rows, None if self.price_book.known_models is None else KnownPrices())

    @cached_property
    def cost_rows(self) -> Costs:
        """All costs of instances; raises UsageError where rows contradict."""
        return costs_of(self.costs)

    @cached_property
    def objective_rows(self) -> Objectives:
        """All objectives; raises UsageError where rows contradict."""
        return objectives_of(self.objectives)

    @property
    def judged_by(self) -> tuple[object, ...]:
        """What every judged day follows from besides its requests and prices."""
        return self.policy, self.costs, self.objectives


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
    if "folder" in document:
        raise UsageError(f"{path}: unknown key 'folder'")
    try:
        settings = Settings.model_validate({**_as_tuples(document), "folder": path.resolve().parent})
    except ValidationError as error:
        faults = "\n".join(f"  {_fault(fault)}" for fault in error.errors())
        raise UsageError(f"{path} cannot be used:\n{faults}") from None
    try:
        _ = settings.book, settings.cost_rows, settings.objective_rows
        require_names(settings.alerts)
        if settings.engine == "spark":
            require_master(settings.spark)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    return settings


def source_from(values: dict[str, Any]) -> SourceSettings:
    """Return a source described by hand; raise UsageError that lists every fault."""
    try:
        return SourceSettings.model_validate(values)
    except ValidationError as error:
        raise UsageError("\n".join(_fault(fault).removeprefix(": ") for fault in error.errors())) from None


def _as_tuples(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with tuples for lists, as the models have them."""
    return {key: _as_tuple(value) for key, value in document.items()}


def _as_tuple(value: Any) -> Any:
    if isinstance(value, dict):
        return _as_tuples(value)
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def _fault(fault: Any) -> str:
    place = ".".join(str(part + 1) if isinstance(part, int) else part for part in fault["loc"])
    if fault["type"] in ("tuple_type", "model_type", "dict_type"):
        section = str(fault["loc"][0])
        brackets = "[[{}]]" if section in LISTS else "[{}]"
        written = "[sources.columns]" if place.endswith(".columns") else brackets.format(section)
        return f"{place}: must be a section, written {written}"
    known = _known_keys(fault["loc"][:-1]) if fault["type"] == "extra_forbidden" else ()
    return f"{place}: {fault_text(fault, known)}"


def _known_keys(section: tuple[Any, ...]) -> list[str]:
    models: dict[tuple[str, ...], type[Section]] = {
        (): Settings, ("warehouse",): WarehouseSettings, ("policy",): PolicySettings,
        ("sources",): SourceSettings, ("prices",): PriceSettings, ("price_book",): PriceBookSettings,
        ("costs",): CostSettings, ("objectives",): ObjectiveSettings, ("report",): ReportSettings,
        ("metrics",): MetricsSettings, ("privacy",): PrivacySettings,
        ("alerting",): AlertingSettings, ("alerts",): ChannelSettings, ("silences",): SilenceSettings,
        ("schedule",): ScheduleSettings, ("spark",): SparkSettings,
    }  # fmt: skip
    model = models[tuple(part for part in section if isinstance(part, str))]
    return [name for name in model.model_fields if name != "folder"]
