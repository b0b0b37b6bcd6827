"""An answer on standard output: all of it, or nothing and a message.

Belongs here: collecting what is printed until it is complete, and saying why it cannot be given. Does not belong here:
what is printed (`forms`).
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from pipelines.errors import UsageError

IN_MEMORY_BYTES = 32 * 1024**2
"""An answer up to this size is collected in memory, a larger one in a nameless file of the temporary folder."""
_COPIED_CHARACTERS = 1024**2


@contextmanager
def whole() -> Iterator[None]:
    """Print what the block prints when it has ended well; nothing where it raises. Raises UsageError as `given` does.

    A query may fail at its last row: a CSV that ends early looks like one that is complete.
    """
    with (
        tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES) as spool,
        io.TextIOWrapper(spool, encoding="utf-8", newline="") as collected,
    ):
        try:
            with redirect_stdout(collected):
                yield
            collected.seek(0)
        except OSError as error:
            raise UsageError(
                f"an answer of this size cannot be collected in the temporary folder: {error.strerror or error}; let "
                "TMPDIR name another, or write --parquet FILE"
            ) from None
        with given():
            shutil.copyfileobj(collected, sys.stdout, _COPIED_CHARACTERS)


@contextmanager
def given() -> Iterator[None]:
    """Say what standard output does not take in the block: raise UsageError; BrokenPipeError is left to the caller."""
    try:
        yield
        sys.stdout.flush()
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise UsageError(
            f"standard output is {error.encoding}, which has no {character!a}: set PYTHONIOENCODING=utf-8"
        ) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is left in the buffer must not fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise UsageError(f"the answer cannot be written to standard output: {error.strerror}") from None
