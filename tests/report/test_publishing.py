"""Publishing from a warehouse: a folder, whole, with a page for each deployment; what was there before goes in turn."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.report import page_of, publish_report, report_path
from pipelines.report.pages import FIGURES_SCRIPT
from tests.conftest import FleetWarehouse
from tests.place import Place

NOW = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)


@pytest.fixture
def fleet(fleet_warehouse: FleetWarehouse, tmp_path: Path) -> Place:
    return fleet_warehouse.copy(tmp_path / "fleet")


def test_each_publication_is_a_folder_of_its_own_and_two_stay(fleet: Place) -> None:
    warehouse = fleet.warehouse
    old_page = warehouse.folder / "report.html"
    old_page.write_text("of an earlier version")
    before = {path.name for path in (warehouse.folder / "report").iterdir()}
    for day in range(3):
        assert publish_report(warehouse, NOW + timedelta(days=day)) == report_path(warehouse)
    assert {path.name for path in (warehouse.folder / "report").iterdir()} == before
    assert {page_of("glm-5-h200"), "index.html", FIGURES_SCRIPT} <= before
    kept = sorted((warehouse.folder / "reports").iterdir())
    assert len(kept) == 2
    assert (warehouse.folder / "report").resolve() == kept[-1]
    generated = ["Generated 2026-12-01 02:30 UTC", "Generated 2026-12-02 02:30 UTC"]
    assert all(said in (one / "index.html").read_text() for one, said in zip(kept, generated, strict=True))
    assert not old_page.exists()


def test_the_same_snapshot_gives_the_same_bytes(fleet: Place) -> None:
    contents = []
    for _ in range(2):
        folder = publish_report(fleet.warehouse, NOW).parent
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert contents[0] == contents[1]


def test_a_publication_that_fails_leaves_the_one_before(fleet: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    page = report_path(fleet.warehouse)
    before = page.read_bytes()

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device", "index.html")

    monkeypatch.setattr("pipelines.report.folder.write_whole", full)
    assert fleet.valleywatch("report") == 75
    assert page.read_bytes() == before
    assert len(list((fleet.warehouse.folder / "reports").iterdir())) == 1
