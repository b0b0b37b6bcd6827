"""`valleywatch report --figures`: each figure as a picture, safely named, drawn without a network."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from pipelines import report_figures as figures
from pipelines.report_figures.png import SIGNATURE

from ..place import Place, request

HOSTILE = "../../<svg onload=alert(1)>/a.b[0]"


@pytest.fixture
def settled(place: Place) -> Place:
    place.write("a.jsonl", [request(1), request(2, deployment=HOSTILE)])
    place.settle()
    return place


def written(place: Place, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[Path]:
    assert place.valleywatch("report", "--figures", str(place.folder / "new" / "figures"), *arguments) == 0
    return [Path(line) for line in capsys.readouterr().out.splitlines()]


def test_each_figure_is_a_png_with_a_safe_name(settled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    paths = written(settled, capsys)
    assert sorted(paths) == sorted((settled.folder / "new" / "figures").iterdir())
    assert all(re.fullmatch(r"d-[0-9a-f]{16}-[a-z_]+\.png", path.name) for path in paths)
    assert len({path.name[:18] for path in paths}) == 2
    for path in paths:
        assert path.read_bytes().startswith(SIGNATURE)
        assert path.stat().st_size > 3_000
        assert path.stat().st_mode & 0o077 == 0


def test_one_deployment_as_svg(settled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    paths = written(settled, capsys, "--deployment", HOSTILE, "--format", "svg")
    assert {path.suffix for path in paths} == {".svg"}
    assert len({path.name[:18] for path in paths}) == 1
    for path in paths:
        image = ET.fromstring(path.read_bytes())
        assert not [key for element in image.iter() for key in element.attrib if key.startswith("on") or "href" in key]
        assert HOSTILE in "".join(image.itertext())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--deployment", "pool"], "--deployment goes with --figures"),
        (["--format", "svg"], "--format goes with --figures"),
        (["--figures", "f", "--open"], "--open goes with the report"),
        (["--figures", "f", "--deployment", "poll"], "no deployment 'poll'"),
        (["--figures", "a-file/f"], "cannot be written"),
    ],
)
def test_mistakes_are_told(
    settled: Place, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(settled.folder)
    Path("a-file").touch()
    assert settled.valleywatch("report", *arguments) == 2
    assert said in capsys.readouterr().err


def test_a_picture_fetches_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        fetching: dict[str, Any] = {
            "data": {"url": "http://{}:{}/x.csv".format(*server.getsockname())},
            "mark": "point",
            "usermeta": {"title": "", "caption": ""},
        }
        with pytest.raises(ValueError, match=r"(?i)not allowed|base url|denied"):
            figures.picture(fetching, "svg")
        with pytest.raises(BlockingIOError):
            server.accept()
