"""
Text from logs and numbers, made fit to be seen by a person.

Belongs here: one way to show a name, a share, an index, an amount of money, a time; "not known" where there is nothing.
Does not belong here: markup (the template and the charts escape), sentences (`words`), terminal colours.
"""

import hashlib
import math
import unicodedata
from datetime import UTC, date, datetime

NOT_KNOWN = "not known"
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LONGEST_NAME = 80


def shown(text: str | None, limit: int = _LONGEST_NAME) -> str:
    """
    Make a string from a log visible and inert as text: what cannot be seen is written as an escape.

    Control and format characters (line breaks, terminal sequences, direction overrides, zero-width ones) and lone
    surrogates become ``\\x1b`` or ``\\u202e``. Combining marks do so where the text is not in normal form C, so that
    two names that differ in that alone do not look the same. A name longer than `limit` characters is cut and ends in
    the first 8 digits of its SHA-256, so that two long names stay distinct. Empty and space-edged names are put in
    quotes.
    The result still needs the escaping of its medium.
    """
    if text is None:
        return NOT_KNOWN
    cut = ""
    if len(text) > limit:
        cut = "…#" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        text = text[: limit - len(cut)]
    unseen = _UNSEEN if unicodedata.is_normalized("NFC", text) else _UNSEEN | {"Mn"}
    seen = "".join(_escape(c) if unicodedata.category(c) in unseen else c for c in text) + cut
    return f"‘{seen}’" if seen != seen.strip() or not seen else seen


def anchor(name: str) -> str:
    """Make a fragment identifier for a name, which never contains the name."""
    return "d-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def known(value: float | None) -> bool:
    """Tell whether there is a finite number."""
    return value is not None and math.isfinite(value)


def share(value: float | None, digits: int = 1) -> str:
    """Show a ratio in [0, 1] as per cent; only exactly 0 and exactly 1 look like 0 % and 100 %."""
    if value is None or not known(value):
        return NOT_KNOWN
    text = f"{value * 100:.{digits}f}"
    if float(text) == 0 and value != 0:
        return f"under {10**-digits:.{digits}f} %"
    if float(text) == 100 and value < 1:
        return f"over {100 - 10**-digits:.{digits}f} %"
    return f"{text} %"


def index(value: float | None) -> str:
    """Show a revenue index (1 = as without a cache)."""
    return f"{value:.3f}" if known(value) else NOT_KNOWN


def interval(low: float | None, high: float | None) -> str:
    """Show the interval of a revenue index."""
    return f"{low:.3f}–{high:.3f}" if known(low) and known(high) else NOT_KNOWN


def number(value: float | None, digits: int = 3) -> str:
    """Show a number to so many significant digits, never in exponent form for ordinary sizes."""
    if value is None or not known(value):
        return NOT_KNOWN
    if abs(value) >= 10 ** (digits - 1):
        return _signed(f"{value:,.0f}")
    return _signed(f"{value:.{digits}g}")


def count(value: int | None) -> str:
    """Show a count with its thousands set apart."""
    return NOT_KNOWN if value is None else f"{value:,}"


def money(amount: float | None, currency: str | None) -> str:
    """Show an amount in its currency; an amount that would round to nothing says so instead of 0.00."""
    if amount is None or not known(amount):
        return NOT_KNOWN
    unit = "(currency not known)" if currency is None else shown(currency, 12)
    if amount != 0 and abs(amount) < 0.005:
        return f"under 0.01 {unit}"
    return _signed(f"{amount:,.2f} {unit}" if abs(amount) < 10_000 else f"{amount:,.0f} {unit}")


def hits(lost: float | None, currency: str | None) -> str:
    """Say what cache hits did to the money: ``cost 38.31 USD``, where the loss is negative ``earned 271.34 USD``."""
    if lost is None or not known(lost):
        return NOT_KNOWN
    return f"{'cost' if lost > 0 else 'earned'} {money(abs(lost), currency)}"


def price(per_mtok: float | None, currency: str | None) -> str:
    """Show a price per million tokens."""
    if per_mtok is None or not known(per_mtok):
        return NOT_KNOWN
    unit = "(currency not known)" if currency is None else shown(currency, 12)
    # Cents are written out: 1.40, not 1.4; fractions of one as far as they go.
    text = f"{per_mtok:,.2f}" if round(per_mtok, 2) == per_mtok else f"{per_mtok:,.4g}"
    return f"{text} {unit} per million tokens"


def utc_time(moment: datetime) -> str:
    """Show a moment in UTC to the minute; one without a zone is taken to be UTC, as everywhere here."""
    return as_utc(moment).strftime("%Y-%m-%d %H:%M")


def as_utc(moment: datetime) -> datetime:
    """Return the moment with the zone UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def days(first: date | None, last: date | None) -> str:
    """Show the covered days."""
    if first is None or last is None:
        return NOT_KNOWN
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _signed(text: str) -> str:
    return text.replace("-", "−", 1) if text.startswith("-") else text
