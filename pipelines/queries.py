"""The only reader of `sql/`: a query is a file with a header, found by its path.

Belongs here: finding, checking and caching statements. Does not belong here: running them (`warehouse`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_HEADER = re.compile(r"^-- (\w+): ?(.*)$")
_COLUMN = re.compile(r"^--   (\w+): (.*)$")
_BASE = re.compile(r"\bviews/\w+")
_PARAMETER = re.compile(r"\$([a-z_][a-z0-9_]*)")
_PARAMETER_OF_SPARK = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Query:
    """One statement of `sql/`, with the names of the parameters it binds."""

    name: str
    text: str
    params: frozenset[str]
    header: Mapping[str, str]
    """What the comment above the statement says, by key; a value may run over several indented lines."""
    comments: Mapping[str, str]
    """What the section `comments` of a view's header says of each of its columns."""

    def bind(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return `values`, checked to be exactly what the statement binds."""
        if set(values) != self.params:
            raise ValueError(f"sql/{self.name}.sql binds {sorted(self.params)}, not {sorted(values)}")
        return values


def resource_folder(name: str) -> Path:
    """Return the data folder `name`: inside the installed package, else at the top of the repository."""
    package = Path(__file__).resolve().parent
    candidates = (package / f"_{name}", package.parent / name)
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"valleywatch is installed without its {name}: neither {candidates[0]} nor {candidates[1]}")


@cache
def load(name: str) -> Query:
    """Return the statement in `sql/<name>.sql`; its header must name it. Those of `spark/` are for Spark alone."""
    text = (resource_folder("sql") / f"{name}.sql").read_text(encoding="utf-8")
    found = header(text)
    if found.get("name") != name:
        raise ValueError(f"sql/{name}.sql says its name is {found.get('name')!r}")
    statement = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    parameter = _PARAMETER_OF_SPARK if name.startswith("spark/") else _PARAMETER
    return Query(name, statement, frozenset(parameter.findall(statement)), found, _comments(text))


def header(text: str) -> dict[str, str]:
    """Return what the comment at the head of a statement says, by key."""
    found: dict[str, str] = {}
    key = ""
    for line in itertools.takewhile(lambda line: line.startswith("--"), text.splitlines()):
        if match := _HEADER.match(line):
            key, found[match[1]] = match[1], match[2].strip()
        elif key:
            found[key] += f" {line.removeprefix('--').strip()}"
    return found


def _comments(text: str) -> dict[str, str]:
    """Return the texts of a view's columns; the section may begin with those of another view."""
    lines = itertools.takewhile(lambda line: line.startswith("--"), text.splitlines())
    begin = next((line for line in lines if line.startswith("-- comments:")), None)
    if begin is None:
        return {}
    base = _BASE.search(begin)
    found = dict(load(base[0]).comments) if base else {}
    name = ""
    for line in lines:
        if match := _COLUMN.match(line):
            name, found[match[1]] = match[1], match[2]
        else:
            found[name] += f" {line.removeprefix('--').strip()}"
    return found


@cache
def names(folder: str) -> tuple[str, ...]:
    """Return the statements directly in `sql/<folder>/`, in order."""
    return tuple(f"{folder}/{path.stem}" for path in sorted((resource_folder("sql") / folder).glob("*.sql")))
