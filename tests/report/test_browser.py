"""A real browser opens the page: it renders, and its console stays empty."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from pipelines.report import Report, render_report, write_report

CHROMIUM = shutil.which("chromium")


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_chromium_renders_the_page_without_a_console_message(small_report: Report, tmp_path: Path) -> None:
    page, picture = tmp_path / "report.html", tmp_path / "report.png"
    write_report(render_report(small_report), page)
    seen = _browse(page, tmp_path / "profile", f"--screenshot={picture}", "--window-size=1200,3000")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 50_000
    assert "CONSOLE" not in seen


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_chromium_reports_what_the_policy_refuses(tmp_path: Path) -> None:
    """The guard of the test above: a console message does arrive where there is cause for one."""
    page = tmp_path / "page.html"
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    page.write_text(f"<!doctype html>{policy}<script>1</script>")
    assert "CONSOLE" in _browse(page, tmp_path / "profile", "--dump-dom")


def _browse(page: Path, profile: Path, *options: str) -> str:
    """Open the page in a fresh profile and return what the browser wrote to its log; end the browser in any case."""
    quiet = ("no-first-run", "disable-background-networking", "disable-component-update", "disable-sync", "disable-gpu")
    command = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        *(f"--{option}" for option in quiet),
        f"--user-data-dir={profile}",
        "--enable-logging=stderr",
        *options,
        page.as_uri(),
    ]
    browser = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        return browser.communicate(timeout=30)[1]
    finally:
        if browser.poll() is None:
            os.killpg(browser.pid, signal.SIGKILL)  # the group that started with this browser
            browser.communicate()
