"""The errors a user can meet. Every message says what failed, the offending value, the rule, the remedy and the place.

Belongs here: exception types and their exit codes. Does not belong here: reasons for quarantined lines (they are data,
see `sql/ingest/judged.sql`).
"""


class ValleywatchError(Exception):
    """Root of all expected failures: shown as one message, never as a traceback."""

    exit_code = 1


class UsageError(ValleywatchError, ValueError):
    """The command line, the configuration or a file named by the user cannot be used as given."""

    exit_code = 2


class CannotTellError(ValleywatchError):
    """What is published does not say; `reasons` are the codes that say why."""

    def __init__(self, subject: str, reasons: tuple[str, ...], because: str) -> None:
        super().__init__(f"{subject}: cannot tell, {because}")
        self.reasons = reasons


class QueryError(UsageError):
    """An ad-hoc query was refused by the engine."""


class BlockedDayError(ValleywatchError):
    """A day cannot be done: what it rests on breaks its contract. Other days can."""


class BusyError(ValleywatchError):
    """Another process holds the writer's lock, or a file changed while it was read: the same call may work later."""

    exit_code = 75


class DiskFullError(ValleywatchError):
    """The disk of the warehouse has no space left: the same call works once there is some."""

    exit_code = 75


class UnreachableError(ValleywatchError):
    """An object store gave no whole answer, several times in a row: the same call may work later."""

    exit_code = 75


class ClusterError(ValleywatchError):
    """A cluster lost what it was doing, or was not reached: the same call may work later."""

    exit_code = 75


class NothingYetError(ValleywatchError):
    """All there is to read is still being written: the next run may have something."""

    exit_code = 75


class RejectedFileError(ValleywatchError):
    """A whole log file cannot be trusted; nothing of it is loaded. `reason` is the code kept in the manifest."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class UnfinishedFileError(ValleywatchError):
    """A log file is still being written and brings nothing new that is complete: the next run looks at it again."""

    exit_code = 0
