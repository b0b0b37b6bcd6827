"""Connecting to PostgreSQL, and its errors in words of ours.

Belongs here: the address, which is secret, and what can be wrong on the way. Does not belong here: statements
(`tables`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from pipelines.errors import BusyError, UnreachableError, UsageError, ValleywatchError

if TYPE_CHECKING:
    import psycopg

CONNECT_S = 10
LOCK_S = 60
"""Longest wait for a lock: what is replaced can only be locked by other writers, or by a change of its columns."""
_UNTOUCHED = "nothing was changed there"


def read_url(variable: str, environment: Mapping[str, str]) -> SecretStr:
    """Return the address in the variable; raise UsageError that names the variable and never quotes its value."""
    value = environment.get(variable, "").strip()
    if not value:
        raise UsageError(f"the variable {variable} is not set: set it to postgresql://USER:PASSWORD@HOST/DATABASE")
    return SecretStr(value)


@contextmanager
def connected(url: SecretStr, variable: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect; a fault while connected ends whatever transaction is open, and nothing of it stays."""
    try:
        import psycopg
    except ImportError:
        raise UsageError("psycopg is not installed: install valleywatch[postgres]") from None
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url.get_secret_value())
    except psycopg.Error:
        raise UsageError(
            f"the variable {variable} holds no address of a database: write postgresql://USER:PASSWORD@HOST/DATABASE, "
            "other characters in user and password as %20 and the like"
        ) from None
    settings: dict[str, Any] = (
        {"connect_timeout": CONNECT_S, "application_name": "valleywatch"} | parts | {"client_encoding": "UTF8"}
    )
    try:
        connection = psycopg.connect(psycopg.conninfo.make_conninfo("", **settings), autocommit=True)
    except psycopg.Error as error:
        raise UnreachableError(
            f"PostgreSQL ({variable}) cannot be reached: {_first_line(error, parts)}; check the address and try again"
        ) from None
    with connection:
        try:
            connection.execute("select set_config('lock_timeout', %s, false)", (f"{LOCK_S}s",))
            yield connection
        except psycopg.errors.LockNotAvailable:
            raise BusyError(
                f"PostgreSQL: somebody kept a table locked for {LOCK_S} s; {_UNTOUCHED}, try again"
            ) from None
        except psycopg.errors.InsufficientPrivilege as error:
            raise UsageError(
                f"PostgreSQL: {_first_line(error, parts)}; {_UNTOUCHED}. Grant the user CREATE on the database, or "
                "make the schema and give it to the user"
            ) from None
        except psycopg.errors.DependentObjectsStillExist as error:
            raise UsageError(
                f"PostgreSQL: {_first_line(error, parts)}, and its columns have changed: drop what depends on it "
                f"({error.diag.message_detail}), export again and make it anew; {_UNTOUCHED}"
            ) from None
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise UnreachableError(f"PostgreSQL: {_first_line(error, parts)}; {_UNTOUCHED}, try again") from None
        except psycopg.Error as error:
            raise ValleywatchError(f"PostgreSQL refused a step: {_first_line(error, parts)}; {_UNTOUCHED}") from None


def _first_line(error: psycopg.Error, parts: Mapping[str, Any]) -> str:
    """Return the server's own words; it does not quote passwords, and should a proxy do so, they do not get further."""
    text = str(error).strip().partition("\n")[0]
    password = parts.get("password")
    return text.replace(str(password), "***") if password else text
