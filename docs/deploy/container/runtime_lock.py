"""Print the entries of a lock that valleywatch needs to run, hashes and all: the lock holds what develops it too.

Run in the environment that the lock makes. Names and what needs what come from the installed packages, versions and
hashes from the lock.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = ("ui", "prices")
"""Dagster's web server and the list prices: what a deployment may want, and small beside the rest."""


def needed(root: str, extras: tuple[str, ...]) -> set[str]:
    """Return the packages that `root` with these extras needs on this machine, itself left out."""
    found: set[tuple[str, str]] = set()
    todo = [(canonicalize_name(root), extra) for extra in ("", *extras)]
    while todo:
        name, extra = todo.pop()
        if (name, extra) in found:
            continue
        found.add((name, extra))
        for text in requires(name) or ():
            wanted = Requirement(text)
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                todo += [(canonicalize_name(wanted.name), asked) for asked in ("", *wanted.extras)]
    return {name for name, _ in found} - {canonicalize_name(root)}


def entries(lock: str) -> dict[str, list[str]]:
    """Return the lock's entries by package: several where its version depends on that of Python."""
    found: dict[str, list[str]] = defaultdict(list)
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        found[canonicalize_name(re.split(r"[=\[ ]", entry)[0])].append(entry)
    return found


if __name__ == "__main__":
    locked = entries(Path(sys.argv[1]).read_text())
    names = needed("valleywatch", EXTRAS)
    if missing := sorted(names - set(locked)):
        sys.exit(f"not in the lock: {', '.join(missing)}")
    print("\n".join(entry for name in sorted(names) for entry in locked[name]))
