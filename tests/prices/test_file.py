"""The price book's CSV, the words of its keys, and what is said of mistakes in either."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from pipelines.errors import UsageError
from pipelines.prices.rows import DAY_NAMES, read_hours, read_weekdays
from pipelines.settings import load_settings
from tests.place import PRICE, SOURCE, Place, request

HEADER = "deployment,effective_from,input_per_mtok,cached_per_mtok"
ROW = "*,2026-01-01,1.0,0.1"
BOOK = '[price_book]\npath = "prices/book.csv"\n'


def configured(place: Place, csv: str | bytes, config: str = BOOK) -> Place:
    (place.folder / "prices").mkdir(exist_ok=True)
    (place.folder / "prices" / "book.csv").write_bytes(csv if isinstance(csv, bytes) else csv.encode())
    place.configure(SOURCE + config)
    return place


@pytest.mark.parametrize(
    ("csv", "said"),
    [
        (f"{HEADER},imput_per_mtok\n", "imput_per_mtok: unknown key (did you mean 'input_per_mtok'?)"),
        (f"{HEADER},deployment\n", "deployment: is there twice"),
        ("deployment,input_per_mtok\n", "effective_from: required, but not in the header"),
        ("", "deployment: required, but not in the header"),
        (f"{HEADER}\n{ROW}\n*,2026-02-01,1.0,1.5\n", "line 3: cached_per_mtok 1.5 exceeds input_per_mtok 1.0"),
        (f"{HEADER}\n*,2026-13-01,1.0,0.1\n", "line 2: effective_from: must be a UTC date"),
        (f"{HEADER}\n*,2026-01-01T10:00:00,1.0,0.1\n", "line 2: effective_from: must be a whole minute with its"),
        (f"{HEADER}\n*,2026-01-01,free,0.1\n", "line 2: input_per_mtok: Input should be a valid number, not 'free'"),
        (f"{HEADER}\n*,2026-01-01,,0.1\n", "line 2: input_per_mtok: required, but not given"),
        (f"{HEADER}\n*,2026-01-01,1.0,-1\n", "cached_per_mtok: Input should be greater than or equal to 0, not -1.0"),
        (f"{HEADER}\n*,2026-01-01,1.0\n", "line 2: has 3 cells, the header has 4"),
        (f"{HEADER},currency\n{ROW},usd\n", "line 2: currency: must be three capital letters, such as USD, not 'usd'"),
        (f"{HEADER},hours_utc\n{ROW},16:30\n", "line 2: hours_utc: must be UTC hours such as 16:30-00:30"),
        (f"{HEADER},weekdays\n{ROW},mo-fr\n", "line 2: weekdays: must be days such as mon-fri"),
        (f"{HEADER},input_tokens_from\n{ROW},-1\n", "line 2: input_tokens_from: Input should be greater"),
        (f"{HEADER},input_tokens_from\n{ROW},1.5\n", "line 2: input_tokens_from: Input should be a valid integer"),
        (f'{HEADER}\n"*,2026-01-01,1.0,0.1\n', "line 2: is not CSV"),
        (f"{HEADER}\n\xe9,2026-01-01,1.0,0.1\n".encode("latin-1"), "is not UTF-8"),
        (f"{HEADER}\n{ROW}\n{ROW}\n", "prices/book.csv, line 2 and prices/book.csv, line 3 both price"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_file_names_file_line_value_and_rule(
    place: Place, csv: str | bytes, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(place, csv)
    assert place.valleywatch("status") == 2
    error = capsys.readouterr().err
    assert said in error
    assert "book.csv" in error


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (BOOK.replace("book", "bok", 1), "price_bok: unknown key (did you mean 'price_book'?)"),
        (BOOK.replace("path", "paht"), "price_book.paht: unknown key (did you mean 'path'?)"),
        (BOOK.replace("prices/book.csv", "prices/none.csv"), "none.csv cannot be read: No such file or directory"),
        (BOOK.replace("prices/book.csv", "prices"), "cannot be read: Is a directory"),
        ('[price_book]\nknown_models = "somebody"\n', "price_book.known_models: Input should be 'genai-prices'"),
        (PRICE + "hour_utc = '10:00-11:00'\n", "prices.1.hour_utc: unknown key (did you mean 'hours_utc'?)"),
        (PRICE + "hours_utc = '24:00-01:00'\n", "prices.1.hours_utc: must begin at 00:00 to 23:59"),
        (PRICE + "effective_to = 2026-02-01T00:00:30Z\n", "prices.1.effective_to: must be a whole minute"),
        (PRICE + "input_tokens_from = 5\ninput_tokens_to = 5\n", "input_tokens_to 5 is not above input_tokens_from 5"),
        (BOOK + PRICE, "prices.1 and prices/book.csv, line 2 both price some requests of '*'"),
    ],
)
def test_a_mistake_in_the_keys_is_told_with_the_rule(
    place: Place, config: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configured(place, f"{HEADER}\n*,2026-01-01,1,0.1\n", config)
    assert place.valleywatch("status") == 2
    assert said in capsys.readouterr().err


def test_all_mistakes_of_a_file_are_told_at_once(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    configured(place, f"{HEADER}\n*,soon,1,0.1\n\n*,2026-01-01,1,2\nx,2026-01-01\n")
    assert place.valleywatch("status") == 2
    said = [line.split(":")[0].strip() for line in capsys.readouterr().err.splitlines()[1:]]
    assert said == ["line 2", "line 4", "line 5"]


def test_a_file_as_spreadsheets_write_it_prices_beside_the_configuration(place: Place) -> None:
    csv = (
        "\ufeffdeployment, effective_from ,effective_to,weekdays,hours_utc,input_tokens_from,input_tokens_to,"
        "input_per_mtok,cached_per_mtok,output_per_mtok,cache_write_per_mtok,currency\r\n"
        '"pool",2026-01-01,2026-08-16T16:00:00Z,"sat,sun","16:30-00:30",0,200001,1,.25,4,1.25,EUR\r\n\r\n'
    )
    configured(place, csv, BOOK + PRICE)
    place.write("a.jsonl", [request(1)])
    place.settle()
    assert [row for row in place.rows("from price_book order by deployment") if row.pop("effective_from")] == [
        {"deployment": "*", "effective_to": None, "hours_utc": None, "weekdays": None, "input_tokens_from": 0,
         "input_tokens_to": None, "input_per_mtok": 1.0, "cached_per_mtok": 0.1, "cache_write_per_mtok": None,
         "output_per_mtok": None, "currency": "USD", "source": "prices.1"},
        {"deployment": "pool", "effective_to": place.rows("select timestamp '2026-08-16 16:00' as t")[0]["t"],
         "hours_utc": "16:30-00:30", "weekdays": "sat-sun", "input_tokens_from": 0, "input_tokens_to": 200_001,
         "input_per_mtok": 1.0, "cached_per_mtok": 0.25, "cache_write_per_mtok": 1.25, "output_per_mtok": 4.0,
         "currency": "EUR", "source": "prices/book.csv, line 2"},
    ]  # fmt: skip


def test_an_offset_is_taken_to_utc(place: Place) -> None:
    place.configure(PRICE.replace("2026-01-01", "2026-08-17T00:00:00+08:00"))
    (found,) = load_settings(place.config).prices
    assert f"{found.effective_from:%Y-%m-%dT%H:%MZ}" == "2026-08-16T16:00Z"


@pytest.mark.parametrize("words", ["", "mon-", "mon-tue-wed", "monday", "MON", "mon;tue", "0-4"])
def test_other_words_are_no_weekdays(words: str) -> None:
    with pytest.raises(ValueError, match="must be days"):
        read_weekdays(words)


@pytest.mark.parametrize(
    "words", ["", "16:30", "16-17", "16:60-17:00", "24:00-01:00", "10:00-24:01", "10:00-10:00", "٠١:00-02:00"]
)
def test_other_words_are_no_hours(words: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        read_hours(words)


def test_a_range_of_weekdays_may_go_over_sunday() -> None:
    assert {DAY_NAMES[day] for day in read_weekdays("sat-mon, wed")} == {"sat", "sun", "mon", "wed"}
    for first, last in product(DAY_NAMES, DAY_NAMES):
        assert {DAY_NAMES.index(first), DAY_NAMES.index(last)} <= read_weekdays(f"{first}-{last}")
    assert all(len(read_weekdays(f"{day}-{day}")) == 1 for day in DAY_NAMES)


def test_the_whole_day_is_any_band_and_the_rest(tmp_path: Path) -> None:
    for band, rest in (("16:30-00:30", "00:30-16:30"), ("00:00-00:01", "00:01-24:00"), ("23:59-00:00", "00:00-23:59")):
        assert read_hours(f"{band},{rest}") == ((0, 1440),)
        minutes = [set().union(*(range(*piece) for piece in read_hours(words))) for words in (band, rest)]
        assert not minutes[0] & minutes[1]


def test_a_book_is_no_place_for_a_flood(place: Place) -> None:
    lines = "".join(f"d{number},2026-01-01,1,0.1\n" for number in range(10_001))
    configured(place, f"{HEADER}\n{lines}")
    with pytest.raises(UsageError, match="10,001 rows: more than 10,000"):
        load_settings(place.config)
