"""SIGTERM and ^C end a command at its last commit, whoever's code they interrupt.

Belongs here: noticing the two signals. Does not belong here: what is rolled back (`warehouse`), exit codes' meaning
(`cli`). The engine turns an interrupt into an error of its own and Dagster replaces the handlers while a job runs, so
the exception alone does not tell what happened: the signal's number is taken from the wake-up descriptor instead. And
DuckDB 2.0.1 closes a query that failed by waiting for its threads, which nobody has told to stop: a second thread does.
"""

from __future__ import annotations

import select
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
REPEAT_S = 0.05
"""What is told to end between two steps begins the next; it is told again."""


class Stopped(BaseException):
    """Someone asked the process to end; `signal_number` says how."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


class _Listener:
    """What has come through the wake-up descriptor; read by whoever looks first, kept until it is heeded."""

    def __init__(self) -> None:
        self._ear, self.mouth = socket.socketpair()
        for end in (self._ear, self.mouth):
            end.setblocking(False)
        self._lock = threading.Lock()
        self._heard: list[int] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._relay, name="stopping", daemon=True)
        self._thread.start()

    def hear(self) -> list[int]:
        """Return the numbers of the signals that nothing has heeded."""
        with self._lock:
            with suppress(BlockingIOError):
                self._heard += [number for number in self._ear.recv(4096) if number in _SIGNALS]
            return self._heard

    def close(self) -> None:
        """End the thread."""
        self._is_over.set()
        self.mouth.close()
        self._thread.join()
        self._ear.close()

    def take(self) -> list[int]:
        """Return what `hear` does, and forget it."""
        heard = self.hear()
        with self._lock:
            taken, heard[:] = heard[:], []
        return taken

    def _relay(self) -> None:
        while not self._is_over.is_set():
            if self.hear():
                with _lock:
                    for end in _ends:
                        end()
                self._is_over.wait(REPEAT_S)
            else:
                select.select([self._ear], [], [])


_listener: _Listener | None = None
_lock = threading.Lock()
_ends: list[Callable[[], None]] = []


@contextmanager
def listening() -> Iterator[None]:
    """Raise Stopped where one of the signals ends what is done inside; in the main thread only, as signals are."""
    global _listener
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _listener = _Listener()
    before = signal.set_wakeup_fd(_listener.mouth.fileno(), warn_on_full_buffer=False)
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
        _listener.close()
        _listener = None


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` from another thread, again and again, once a signal has come; it must make long work inside fail."""
    with _lock:
        _ends.append(end)
    try:
        yield
    finally:
        with _lock:
            _ends.remove(end)


def forgiven() -> bool:
    """Say whether ^C has come, and forget it: what it ended was a step. Raise Stopped where it was SIGTERM."""
    heard = [] if _listener is None else _listener.take()
    if signal.SIGTERM in heard:
        raise Stopped(signal.SIGTERM)
    return bool(heard)


@contextmanager
def lent() -> Iterator[None]:
    """Leave the wake-up descriptor and ^C to the event loop inside; SIGTERM ends it as a KeyboardInterrupt."""
    listener = _listener
    if listener is None:
        yield
        return

    def note(number: int, _frame: object) -> None:
        listener.mouth.send(bytes([number]))
        raise KeyboardInterrupt

    before = signal.set_wakeup_fd(-1)
    handler = signal.signal(signal.SIGTERM, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)


def heed() -> None:
    """Raise Stopped if a signal has come that nothing has heeded: what runs in between may have swallowed it."""
    if _listener is not None and (heard := _listener.hear()):
        raise Stopped(heard.pop(0))
