"""Who has the writer's lock, told by a process that really has it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.doctor.locks import file_system
from pipelines.doctor.processes import owner, process
from pipelines.warehouse.disk import is_locked, lock
from tests.conftest import REPO
from tests.doctor.conftest import Patient

HOLD = """
import sys
from pathlib import Path
from pipelines.warehouse.disk import lock
with lock(Path(sys.argv[1]), 0):
    print("held", flush=True)
    sys.stdin.read()
"""
PROC = Path("/proc")


@contextmanager
def holder(path: Path) -> Iterator[int]:
    """A process that holds the lock until the end of the block."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        assert held.stdout.readline() == "held\n"
        try:
            yield held.pid
        finally:
            held.kill()


def test_the_holder_is_named_with_its_command_and_too_long_is_bad(patient: Patient) -> None:
    path = patient.warehouse.folder / "writer.lock"
    with holder(path) as pid:
        now = datetime.now(UTC)
        (found,) = [one for one in patient.findings(now) if one.code == "writer_lock"]
        assert (found.level, found.value) == ("ok", str(pid))
        assert f"process {pid} ({sys.executable} -c" in found.what
        later = now + timedelta(hours=4, minutes=1)
        (found,) = [one for one in patient.findings(later) if one.code == "writer_lock_long"]
        assert (found.level, f"kill {pid}" in found.remedy) == ("bad", True)
        assert "holds writer.lock since" in found.what
    assert patient.found("writer_lock").what == "no process is writing"


def test_a_round_of_delivery_that_hangs_is_bad_after_an_hour(patient: Patient) -> None:
    assert patient.found("delivery_lock").what == "no process is sending alerts"
    with holder(patient.warehouse.folder / "delivery.lock") as pid:
        later = datetime.now(UTC) + timedelta(hours=1, minutes=1)
        (found,) = [one for one in patient.findings(later) if one.code == "delivery_lock_long"]
        assert (found.level, found.value) == ("bad", str(pid))


def test_a_holder_that_is_not_to_be_seen_is_said_to_be_elsewhere(patient: Patient, tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "mounts").write_text("/dev/sda / ext4 rw 0 0\n")
    with holder(patient.warehouse.folder / "writer.lock") as pid:
        now = datetime.now(UTC)
        (found,) = [one for one in patient.findings(now, proc=tmp_path) if one.code == "writer_lock_unseen"]
        assert (found.level, found.value) == ("warn", str(pid))
        assert "not to be seen from here" in found.what
        assert "fuser -v" in found.remedy
        later = now + timedelta(hours=5)
        (found,) = [one for one in patient.findings(later, proc=tmp_path) if one.code == "writer_lock_long"]
        assert found.level == "bad"


def test_what_a_killed_holder_left_is_free(patient: Patient) -> None:
    path = patient.warehouse.folder / "writer.lock"
    with holder(path) as pid:
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert path.read_text() == str(pid)
        assert patient.found("writer_lock").level == "ok"
    path.unlink()
    assert patient.found("writer_lock").what == "no process is writing"


def test_looking_stops_nobody_from_writing(patient: Patient) -> None:
    path = patient.warehouse.folder / "writer.lock"
    with path.open() as looker:
        import fcntl

        fcntl.flock(looker, fcntl.LOCK_SH)
        assert not is_locked(path)
        signal.signal(signal.SIGALRM, lambda *_: fcntl.flock(looker, fcntl.LOCK_UN))
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        with lock(path, 0):
            assert is_locked(path)


def test_a_number_that_another_process_has_by_now_is_nobodys(tmp_path: Path) -> None:
    mine = process(os.getpid(), PROC)
    assert mine is not None
    assert owner(os.getpid(), datetime.now(UTC), PROC) == mine
    assert owner(os.getpid(), mine.started_at - timedelta(minutes=1), PROC) is None
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert process(ended.pid, PROC) is None  # not waited for: there, and dead
    assert process(ended.pid, PROC) is None
    assert process(os.getpid(), tmp_path) is None


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv/valleywatch", "ext4"),
        ("/srv/share/warehouse", "nfs4"),
        ("/srv/share/local/warehouse", "xfs"),
        ("/srv/two words/warehouse", "cifs"),
        ("/srv/sharepoint", "ext4"),
    ],
)
def test_the_mount_nearest_to_the_folder_counts(folder: str, kind: str) -> None:
    mounts = (
        "/dev/sda1 / ext4 rw 0 0\nhost:/x /srv/share nfs4 rw 0 0\n/dev/sdb /srv/share/local xfs rw 0 0\n"
        "//host/x /srv/two\\040words cifs rw 0 0\n"
    )
    assert file_system(Path(folder), mounts) == kind


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph"])
def test_a_warehouse_on_a_share_is_bad(patient: Patient, tmp_path: Path, kind: str) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "mounts").write_text(f"/dev/sda / ext4 rw 0 0\nhost:/x {patient.folder} {kind} rw 0 0\n")
    (found,) = [one for one in patient.findings(proc=tmp_path) if one.code == "warehouse_remote"]
    assert (found.level, found.value) == ("bad", kind)
