"""The cookbook: questions that analysts ask, each a statement of `sql/adhoc` with its question in its header.

Belongs here: finding a question by its name, and its parameters. Does not belong here: the statements, asking them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from pipelines import queries
from pipelines.commands.options import utc_date
from pipelines.errors import UsageError
from pipelines.section import nearest

FOLDER = "adhoc"
_PARAMETER = re.compile(r"([a-z_]+) (VARCHAR|DOUBLE|BIGINT|DATE) = ('[^']*'|[^\s,()]+)")
_READ: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {"VARCHAR": str, "DOUBLE": float, "BIGINT": int, "DATE": utc_date}
)
_NUMBERS = MappingProxyType({"DOUBLE": "a number", "BIGINT": "a whole number"})
_MOST = 1_000_000
"""Above every price ratio, share and number of days or hours that can be meant, below what the engine cannot add."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a question leaves open; `default` holds where nothing else is said."""

    type: str
    default: Any

    def read(self, name: str, text: str) -> Any:
        """Return a value as typed; raise UsageError where it is of another type, or a number that cannot be meant."""
        try:
            value = _READ[self.type](text)
        except ValueError as error:
            expected = _NUMBERS.get(self.type)
            raise UsageError(f"{name} = {text!r} is not {expected or f'a {self.type}: {error}'}") from None
        # Numbers here are counts, hours, shares and ratios; NaN is not in the range either.
        if self.type in _NUMBERS and not 0 <= value <= _MOST:
            raise UsageError(f"{name} = {text!r} cannot be meant: give {_NUMBERS[self.type]} from 0 to {_MOST:,}")
        return value


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of the cookbook, or somebody's own file in its form."""

    name: str
    question: str
    grain: str
    text: str
    parameters: Mapping[str, Parameter]

    def bound(self, assignments: Sequence[str]) -> dict[str, Any]:
        """Return all parameters, those of `assignments` (`name=value`) with their values; raise UsageError."""
        values = {name: parameter.default for name, parameter in self.parameters.items()}
        for assignment in assignments:
            name, is_given, text = assignment.partition("=")
            if not is_given or name not in values:
                takes = ", ".join(f"{known}={value}" for known, value in values.items()) or "none"
                raise UsageError(
                    f"{self.name} takes no parameter {assignment!r}{nearest(name, values)}; it takes {takes}"
                )
            values[name] = self.parameters[name].read(name, text)
        return values


@cache
def questions() -> Mapping[str, Question]:
    """Return the whole cookbook by name."""
    found = (_question(name) for name in queries.names(FOLDER))
    return MappingProxyType({question.name: question for question in found})


def question(name: str) -> Question:
    """Return one; raise UsageError with the nearest name where there is none."""
    known = questions()
    if name not in known:
        is_view = f"views/{name}" in queries.names("views")
        raise UsageError(
            f"{name!r} is neither SQL nor a question of the cookbook{nearest(name, known)}; "
            f"`valleywatch sql --cookbook` lists them{f'; the view is asked as `from {name}`' if is_view else ''}"
        )
    return known[name]


def table() -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the cookbook as columns and rows: name, question, parameters with their defaults."""
    rows: list[tuple[str, ...]] = [
        (entry.name, entry.question, ", ".join(f"{name}={of.default}" for name, of in entry.parameters.items()))
        for entry in questions().values()
    ]
    return ("name", "question", "parameters"), rows


def copied(path: str, text: str) -> Question:
    """Return what a file of one's own asks: a copy of an entry keeps the parameters that its header declares."""
    header = queries.header(text)
    return Question(path, header.get("question", ""), header.get("grain", ""), text, _parameters(header))


def _question(path: str) -> Question:
    query = queries.load(path)
    header = query.header
    name = path.removeprefix(f"{FOLDER}/")
    return Question(name, header["question"], header["grain"], query.text.strip(), _parameters(header))


def _parameters(header: Mapping[str, str]) -> dict[str, Parameter]:
    found = _PARAMETER.findall(header.get("params", ""))
    return {name: Parameter(type_name, _READ[type_name](default.strip("'"))) for name, type_name, default in found}
