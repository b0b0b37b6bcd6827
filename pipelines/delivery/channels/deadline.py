"""One deadline for a whole attempt, however slowly bytes come.

Belongs here: time left, and the cut. Does not belong here: what is done within it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from time import monotonic


class Deadline:
    """A moment `seconds` after it is made."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return monotonic() >= self._end

    def left_s(self) -> float:
        """Return the seconds that are left; raises TimeoutError where there are none."""
        if (left := self._end - monotonic()) <= 0:
            raise TimeoutError
        return left

    @contextmanager
    def cuts(self, connection: socket.socket) -> Iterator[None]:
        """Shut the connection at the deadline, whatever reads from it or writes to it then and through which wrapper.

        The timeout of a socket is one of each read: a byte a second never meets it. A duplicate of the socket is what
        is shut, as TLS takes the original over; both are of one connection.
        """
        twin = connection.dup()
        timer = Timer(self.left_s(), _shut, (twin,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            twin.close()


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # The other side may have ended it already.
        connection.shutdown(socket.SHUT_RDWR)
