"""
Data in a page: JSON that no name can break out of, and many figures that share their forms.

Belongs here: encoding. Does not belong here: what is encoded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from pipelines.report_figures.spec import Row, Spec

_OWN = ("data", "datasets", "description", "height", "params", "usermeta")
"""What a figure has of its own; the rest is its form, which it shares with every figure of its kind."""
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def embedded(value: Any) -> Markup:
    """
    Encode a value for the inside of ``<script type="application/json">``: the same value gives the same text.

    Nothing in it can end the element or begin a comment, whatever a string says; numbers that are not finite are null.
    """
    text = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"), sort_keys=True)
    return Markup(text.translate(_ESCAPES))  # noqa: S704 — no character that markup has a meaning for is left


def compact(specs: Mapping[str, Spec]) -> dict[str, Any]:
    """
    Return figures by name, each with what is its own and the number of its form: two hundred sparklines are of one.

    Data sets are by column, which takes half the room of rows.
    """
    forms: list[Spec] = []
    numbers: dict[str, int] = {}
    figures = {}
    for name, spec in specs.items():
        form = {key: part for key, part in spec.items() if key not in _OWN}
        text = json.dumps(form, sort_keys=True)
        if text not in numbers:
            numbers[text] = len(forms)
            forms.append(form)
        own = {key: spec[key] for key in _OWN if key in spec} | {"form": numbers[text]}
        own["datasets"] = {key: _columns(rows) for key, rows in spec["datasets"].items()}
        figures[name] = own
    return {"forms": forms, "figures": figures}


def _columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return rows by column, each name once; a row without a field has null there."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value
