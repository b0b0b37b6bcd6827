"""What several forms of message say in the same words.

Belongs here: signs, names and figures of an alert as text that needs only the escaping of its medium. Does not belong
here: any medium (the channels), where the figures come from (`pipelines.delivery.details`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import quote

from pipelines.alerts.kinds import OPENED_BY, Action
from pipelines.delivery.notice import Figures, Notice
from pipelines.display import as_utc, index, interval, known, money, share, shown, utc_time
from pipelines.words import lever_words, state_words

LONGEST_NAME = 256
LONGEST_HEADLINE = 1000
_LONGEST_SENTENCE = 2000
SIGNS: dict[Action, str] = {"trigger": "🔴", "update": "🟠", "resolve": "🟢"}
"""What is seen before anything is read."""
WORDS: dict[Action, str] = {"trigger": "ALERT", "update": "WORSE", "resolve": "OVER"}
"""The same for whoever sees no colours."""
SEVERITIES = {"entry": "critical", "data_blocked": "error", "untrustworthy": "warning", "stale": "warning"}
"""By kind that opens an alert; the same for as long as it is open."""


def family(notice: Notice) -> str:
    """Return the kind that opened the alert: `entry` for its worsening and its exit."""
    return OPENED_BY.get(notice.kind, notice.kind)


def severity(notice: Notice) -> str:
    """Return `critical`, `error` or `warning`."""
    return SEVERITIES[family(notice)]


def subject(notice: Notice) -> str:
    """Return the deployment's name, inert, or the warehouse's where the alert is of no one deployment."""
    return "warehouse" if notice.deployment is None else shown(notice.deployment, LONGEST_NAME)


def headline(notice: Notice) -> str:
    """Return the headline on one line; what is inert already stays as it is."""
    return shown(notice.headline, LONGEST_HEADLINE)


def sentences(notice: Notice) -> tuple[str, ...]:
    """Return the sentences, each on one line."""
    return tuple(shown(sentence, _LONGEST_SENTENCE) for sentence in notice.sentences)


def since(notice: Notice) -> str:
    """Say since when, and until when where it is over."""
    begun = f"since {utc_time(notice.since)} UTC"
    return f"{begun}, over at {utc_time(notice.at)} UTC" if notice.action == "resolve" else begun


def figures(of: Figures | None) -> tuple[tuple[str, str], ...]:
    """Return what is known as pairs of name and text; what is not known is left out."""
    if of is None:
        return ()
    lost = of.lost_per_day
    pairs = (
        ("State", None if of.state is None else state_words(of.state)),
        ("Revenue index", _index(of)),
        ("Lost per day" if lost is None or lost >= 0 else "Earned per day", _money(lost, of.currency)),
        ("Hit rate", share(of.hit_rate) if known(of.hit_rate) else None),
        ("Probability of the valley", share(of.p_in_valley) if known(of.p_in_valley) else None),
        ("Best lever", None if of.lever is None else lever_words(of.lever)),
        ("Newest hour", None if of.newest_hour is None else f"{utc_time(of.newest_hour)} UTC"),
    )
    return tuple((name, text) for name, text in pairs if text is not None)


def report_link(notice: Notice) -> str | None:
    """Return the report's URL as one that no medium can read otherwise; None where there is none on the web.

    What is no character of a URL is percent-encoded: Alertmanager would refuse all the alerts of the message for it.
    """
    url = notice.report_url
    place = None if url is None else re.match(r"(https?://[A-Za-z0-9._-]+(?::[0-9]{1,5})?)(?![^/?#])", url)
    if url is None or place is None:
        return None
    rest = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", url[place.end() :])
    return place[1] + quote(rest.encode("utf-8", "replace"), safe="/:?#@!$&()*+,;=%-._~")


def n_more_words(n_more: int) -> str:
    """Say how many alerts a digest does not tell."""
    return f"and {n_more:,} more; `valleywatch alerts` lists all"


def digest_title(notices: Sequence[Notice], n_more: int) -> str:
    """Say how many alerts changed."""
    total = len(notices) + n_more
    return f"{total:,} alerts at once" if total > 1 else "1 alert"


def digest_action(notices: Sequence[Notice]) -> Action:
    """Return what a digest does: it resolves only where everything in it does."""
    actions: set[Action] = {notice.action for notice in notices}
    return next(iter(actions)) if len(actions) == 1 else "trigger"


def iso(moment: datetime) -> str:
    """Return a moment as RFC 3339 in UTC."""
    return as_utc(moment).isoformat().replace("+00:00", "Z")


def _index(of: Figures) -> str | None:
    if not known(of.revenue_index):
        return None
    has_interval = known(of.index_low) and known(of.index_high)
    return index(of.revenue_index) + (f" ({interval(of.index_low, of.index_high)})" if has_interval else "")


def _money(lost_per_day: float | None, currency: str | None) -> str | None:
    return money(abs(lost_per_day), currency) if lost_per_day is not None and known(lost_per_day) else None
