"""List prices of known models, from the data that comes with the genai-prices package (the extra `prices`).

Belongs here: that package's conditions as rows of our book. Does not belong here: prices of one's own. The package can
fetch newer data; nothing here starts that, so its installed version fixes every price. Its data has no date of its own,
and of service levels only the standard one is asked.

A model it does not know, or has no price of cached tokens for, has no rows: unpriced, never free.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pipelines.errors import UsageError
from pipelines.prices.rows import EVERY_DAY, MINUTES_PER_DAY, PriceRow, Prices, to_minute
from pipelines.times import FIRST_DAY

PACKAGE = "genai-prices"
CURRENCY = "USD"


class KnownPrices:
    """The package's models, looked up by name: `model`, or `provider/model` where several providers sell it."""

    def __init__(self) -> None:
        """Raise UsageError where the package is not installed; its data is read at the first look-up."""
        try:
            self.version = version(PACKAGE)
        except PackageNotFoundError:
            raise UsageError(
                f"price_book.known_models: {PACKAGE} is not installed: install valleywatch[prices], or remove the key"
            ) from None
        self._rows_of: dict[str, tuple[PriceRow, ...]] = {}
        self._data: Any = None

    def rows_of(self, name: str) -> tuple[PriceRow, ...]:
        """Return the rows that price the model `name`, none of them at the same time and length as another."""
        if name not in self._rows_of:
            found = self._find(name)
            self._rows_of[name] = () if found is None else tuple(self._rows(name, *found))
        return self._rows_of[name]

    def _find(self, name: str) -> tuple[Any, Any] | None:
        """Return the package's provider and model; None where it knows none of this name."""
        if self._data is None:
            # Half a second, and a module with an HTTP client: only for those who ask for it.
            from genai_prices.data import providers
            from genai_prices.data_snapshot import DataSnapshot

            self._data = DataSnapshot(providers=providers, from_auto_update=False)
        provider, slash, model = name.partition("/")
        ways = [(name, None), (model, provider)] if slash else [(name, None)]
        for model_ref, provider_id in ways:
            try:
                found: tuple[Any, Any] = self._data.find_provider_model(model_ref, None, provider_id, None)
            except LookupError:
                continue
            return found
        return None

    def _rows(self, name: str, provider: Any, model: Any) -> list[PriceRow]:
        """Return the package's prices between every two moments at which one of its conditions changes."""
        source = f"{PACKAGE} {self.version}: {provider.id}/{model.id}"
        dates = [FIRST_DAY, *sorted(day for day in _start_dates(model) if day > FIRST_DAY)]
        clocks = sorted({0, *_clocks(model)})
        rows: list[PriceRow] = []
        for first, after in zip(dates, [*dates[1:], None], strict=True):
            bands: dict[Any, list[tuple[int, int]]] = {}
            for start, end in zip(clocks, [*clocks[1:], MINUTES_PER_DAY], strict=True):
                at = datetime.combine(first, time(), tzinfo=UTC) + timedelta(minutes=start)
                for tier in _tiers(model.get_prices(at)):
                    bands.setdefault(tier, []).append((start, end))
            rows += [
                PriceRow(
                    deployment=name,
                    from_minute=to_minute(datetime.combine(first, time(), tzinfo=UTC)),
                    to_minute=None if after is None else to_minute(datetime.combine(after, time(), tzinfo=UTC)),
                    weekdays=EVERY_DAY,
                    bands=_joined(pieces),
                    input_tokens_from=input_tokens_from,
                    input_tokens_to=input_tokens_to,
                    prices=prices,
                    source=source,
                )
                for (input_tokens_from, input_tokens_to, prices), pieces in bands.items()
            ]
        return rows


def _conditions(model: Any) -> list[Any]:
    if not isinstance(model.prices, list):
        return []
    return [price.constraint for price in model.prices if price.constraint is not None]


def _start_dates(model: Any) -> set[date]:
    return {condition.start_date for condition in _conditions(model) if hasattr(condition, "start_date")}


def _clocks(model: Any) -> set[int]:
    ends = [
        end
        for condition in _conditions(model)
        if hasattr(condition, "start_time")
        for end in (condition.start_time, condition.end_time)
    ]
    # A clock of another zone is the same moment of the day in UTC.
    moments = [datetime.combine(FIRST_DAY, end, end.tzinfo or UTC).astimezone(UTC) for end in ends]
    return {moment.hour * 60 + moment.minute for moment in moments}


def _tiers(model_price: Any) -> list[tuple[int, int | None, Prices]]:
    """Return lengths [from, to) and prices of one condition; none where the prices are not of the kind we know."""
    keys = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")
    given = [getattr(model_price, key, None) for key in keys]
    # A tier of theirs begins above its start, one of ours at its first length.
    starts = {0} | {tier.start + 1 for price in given for tier in getattr(price, "tiers", ())}
    lengths = sorted(starts)
    found = []
    for first, after in zip(lengths, [*lengths[1:], None], strict=True):
        computed, cached, written, output = (_per_mtok(price, first) for price in given)
        if computed and cached is not None and cached <= computed:
            found.append((first, after, Prices(computed, cached, written, output, CURRENCY)))
    return found


def _per_mtok(price: Any, input_tokens: int) -> float | None:
    """Return the price for requests of this length."""
    if price is None:
        return None
    reached = [tier.price for tier in getattr(price, "tiers", ()) if input_tokens > tier.start]
    return float(reached[-1] if reached else getattr(price, "base", price))


def _joined(pieces: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in pieces:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)
