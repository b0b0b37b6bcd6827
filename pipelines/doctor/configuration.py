"""Whether what the configuration names is there: the warehouse's folder, the channels' variables, the salt's.

Belongs here: that. Does not belong here: whether the file can be used at all, which is decided before any check runs
(`pipelines.settings`), and whether a channel answers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from pipelines.delivery.settings import ChannelSettings
from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, ok, warn
from pipelines.doctor.phrases import counted
from pipelines.errors import UsageError
from pipelines.privacy.pseudonyms import read_privacy

_FIRST_RUN = "run `valleywatch run`, which makes it, or correct `path` under [warehouse]"


def check_folder(case: Case) -> Iterator[Finding]:
    """Find whether the warehouse is a folder that this user can use."""
    rule = "the warehouse is a folder that the job's user can read and write"
    if not case.folder.exists():
        yield bad("warehouse_missing", f"{case.folder} is not there", rule=rule, remedy=_FIRST_RUN)
    elif not case.folder.is_dir():
        yield bad("warehouse_no_folder", f"{case.folder} is no folder", rule=rule, remedy=_FIRST_RUN)
    elif not os.access(case.folder, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
        user = f"user {os.geteuid()}"
        remedy = f"run doctor as the user that runs the job, or give the folder to it: chown -R USER {case.folder}"
        yield bad("warehouse_closed", f"{case.folder} is closed to {user}", os.geteuid(), rule=rule, remedy=remedy)
    else:
        yield ok("warehouse", f"{case.folder} is there", str(case.folder), rule=rule)


def check_channels(case: Case) -> Iterator[Finding]:
    """Find whether anybody is told, and whether the variables that hold addresses and keys are set."""
    channels = case.settings.alerts
    if not channels:
        yield ok(
            "channels_none",
            "no [[alerts]] are configured: alerts are recorded and nobody is told",
            0,
            remedy="name a channel under [[alerts]], or look at `valleywatch status`",
        )
        return
    missing = [
        (channel.label, name) for channel in channels for name in _variables(channel) if not case.environment.get(name)
    ]
    for label, name in missing:
        yield warn(
            "channel_variable_unset",
            f"the channel {label} takes {name} from the environment, and it is not set here",
            name,
            rule="every variable that a channel names is set where the job runs",
            remedy=f"set {name} in the job's environment; if it is set there, run doctor in that environment",
        )
    if not missing:
        yield ok("channels", f"{counted(len(channels), 'channel')}, every variable set", len(channels))


def check_salt(case: Case) -> Iterator[Finding]:
    """Find whether the salt of hashed ids is there; without hashes there is nothing to find."""
    privacy = case.settings.privacy
    if not privacy.hash:
        return
    try:
        read_privacy(privacy, case.environment)
    except UsageError as unusable:
        yield warn(
            "salt_unusable",
            str(unusable),
            privacy.salt_env,
            rule="the salt of hashed ids is set where the job runs",
            remedy="set it in the job's environment; if it is set there, run doctor in that environment",
        )
    else:
        yield ok("salt", f"{privacy.salt_env} holds a usable salt", privacy.salt_env)


def _variables(channel: ChannelSettings) -> list[str]:
    names = (channel.url_env, channel.secret_env, channel.token_env, channel.key_env)
    return [name for name in names if name is not None]
