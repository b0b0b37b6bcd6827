"""What runs here against what the package asks for, and against what wrote the warehouse.

Belongs here: Python, packages, the version of the last success. Does not belong here: the layout, which opening the
snapshot checks.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from importlib import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pipelines import __version__
from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import counted, listed
from pipelines.heartbeat import last_beat

DISTRIBUTION = "valleywatch"
_INSTALL = "install from the lock: make setup, or pip install --require-hashes --no-deps -r requirements.lock"


def check_packages(_case: Case) -> Iterator[Finding]:
    """Find packages outside the ranges that this version was tested with."""
    try:
        asked = metadata.requires(DISTRIBUTION) or []
        python = SpecifierSet(metadata.metadata(DISTRIBUTION)["Requires-Python"] or "")
    except metadata.PackageNotFoundError:
        yield warn(
            "packages_unknown",
            f"{DISTRIBUTION} runs without being installed: what it needs cannot be told",
            rule="it is installed as a distribution",
            remedy=_INSTALL,
        )
        return
    rule = "Python and packages are within the ranges the distribution names"
    here = platform.python_version()
    faults = ([] if Version(here) in python else [f"Python {here} is not {python}"]) + unmet(asked, metadata.version)
    if faults:
        yield bad("packages", listed(faults, 5), len(faults), rule=rule, remedy=_INSTALL)
    else:
        needed = counted(len(asked), "requirement")
        yield ok(
            "packages",
            f"{DISTRIBUTION} {__version__}, Python {here}, {needed} met",
            __version__,
            rule=rule,
        )


def unmet(asked: list[str], version_of: Callable[[str], str]) -> list[str]:
    """Say which requirements are not met; those of extras only where something is installed for them."""
    faults = []
    for requirement in map(Requirement, asked):
        is_extra = requirement.marker is not None and not requirement.marker.evaluate({"extra": ""})
        try:
            found = version_of(requirement.name)
        except metadata.PackageNotFoundError:
            if not is_extra:
                faults.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(found, prereleases=True):
            faults.append(f"{requirement.name} {found} is not {requirement.specifier}")
    return faults


def check_writer_version(case: Case) -> Iterator[Finding]:
    """Find whether the job runs in another version than this command."""
    beat = last_beat(case.warehouse)
    rule = "job and commands are of one version"
    if beat is not None and beat.version != __version__:
        yield warn(
            "version_differs",
            f"the last success was of {beat.version}, this is {__version__}",
            beat.version,
            rule=rule,
            remedy="call doctor from the job's environment, or install one version in both",
        )
    elif beat is not None:
        yield ok("version", f"the last success was of this version, {beat.version}", beat.version, rule=rule)
