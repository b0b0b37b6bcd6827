"""SIGTERM and ^C end a command at its last commit, whoever's code they interrupt.

Belongs here: noticing the two signals. Does not belong here: what is rolled back (`warehouse`), exit codes' meaning
(`cli`). The engine turns an interrupt into an error of its own and Dagster replaces the handlers while a job runs, so
the exception alone does not tell what happened: the signal's number is taken from the wake-up descriptor instead.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_listener: int | None = None


class Stopped(BaseException):
    """Someone asked the process to end; `signal_number` says how."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


@contextmanager
def listening() -> Iterator[None]:
    """Raise Stopped where one of the signals ends what is done inside; in the main thread only, as signals are."""
    global _listener
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _listener, wake_up = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = signal.set_wakeup_fd(wake_up, warn_on_full_buffer=False)
    handlers = {number: signal.signal(number, signal.default_int_handler) for number in _SIGNALS}
    try:
        yield
    except BaseException:
        heed()
        raise
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        os.close(_listener)
        os.close(wake_up)
        _listener = None


def heed() -> None:
    """Raise Stopped if a signal has come that nothing has heeded: what runs in between may have swallowed it."""
    if _listener is None:
        return
    try:
        numbers = os.read(_listener, 4096)
    except BlockingIOError:
        return
    for number in numbers:
        if number in _SIGNALS:
            raise Stopped(number)
