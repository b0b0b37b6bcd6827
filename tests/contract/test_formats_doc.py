"""docs/formats.md lists what the files of sql/formats/ say of themselves, and no format lacks a fixture."""

import pytest

from pipelines.commands.formats import markdown
from pipelines.formats import formats
from tests.conftest import REPO

DOC = (REPO / "docs" / "formats.md").read_text()
ELSEWHERE = {"canonical", "canonical_parquet", "gateway"}
"""The generated fleet, a file that tests/formats writes (Parquet is no text), and the logs of a real server."""


def test_the_list_is_made_from_the_formats() -> None:
    assert DOC.partition("## The formats\n\n")[2] == markdown(), "run `make docs`"


@pytest.mark.parametrize("name", formats())
def test_every_format_has_a_fixture_and_what_becomes_of_it(name: str) -> None:
    folder = REPO / "fixtures" / "formats" / name
    assert name in ELSEWHERE or (folder / "expected.json").is_file()
