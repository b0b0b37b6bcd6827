"""Which engine makes the marts is a matter of configuration; what is wrong with it is said before anything starts."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from pipelines.engines.run_folder import MARK, RunFolder, new, warehouse_url
from pipelines.engines.settings import SparkSettings
from pipelines.errors import UsageError, ValleywatchError
from pipelines.settings import load_settings
from tests.place import PRICE, SOURCE, Place, request

MASTERS = (
    "local", "local[2]", "local[*]", "local-cluster[2,1,1024]", "spark://head:7077", "spark://a:7077,b:7077", "yarn",
    "k8s://https://cluster:6443", "sc://head", "sc://head:15002", "sc://head:15002/;use_ssl=true", "sc://[::1]:15002",
)  # fmt: skip
NO_MASTERS = ("", "spark", "spark://head", "mesos://head:5050", "local[0]", "http://head:7077", "sc://", "sc://u@head")


def settings_of(place: Place, spark: str, engine: str = "spark") -> SparkSettings:
    place.configure(f'engine = "{engine}"\n[spark]\n{spark}\n{SOURCE}{PRICE}')
    return load_settings(place.config).spark


@pytest.mark.parametrize("master", MASTERS)
def test_masters_and_addresses_of_spark(place: Place, master: str) -> None:
    settings = settings_of(place, f'master = "{master}"')
    assert settings.master == master
    assert settings.is_connect == master.startswith("sc://")


@pytest.mark.parametrize("master", NO_MASTERS)
def test_other_masters_are_refused_with_the_rule(place: Place, master: str) -> None:
    with pytest.raises(UsageError, match=r"spark\.master: "):
        settings_of(place, f'master = "{master}"')


@pytest.mark.parametrize(
    ("spark", "said"),
    [
        ("", 'spark.master: required where engine = "spark"'),
        ('mastr = "local"', "spark.mastr: unknown key (did you mean 'master'?)"),
        ('master = "sc://head:15002/;token=abc"', "SPARK_CONNECT_AUTHENTICATE_TOKEN"),
        ('master = "local"\nfolder = "lake"', "spark.folder: must be an absolute path or a URL"),
        ('master = "local"\nfolder = "/data/{a}"', "spark.folder: must be an absolute path or a URL, and plain"),
        ('master = "local"\n[spark.conf]\n"spark.sql.ansi.enabled" = "false"', "is set by valleywatch"),
        ('master = "local"\n[spark.conf]\n"spark.sql.session.timeZone" = "Asia/Kolkata"', "is set by valleywatch"),
        ('master = "local"\n[spark.conf]\n"executor.memory" = "4g"', "settings of Spark begin with spark."),
        ('master = "local"\n[spark.conf]\n"spark.hadoop.fs.s3a.secret.key" = "x"', "secrets do not belong here"),
        ('master = "local"\n[spark.conf]\nspark.executor.memory = "4g"', "write the whole name in quotes"),
        ('master = "local"\n[spark.conf]\n"spark.executor.cores" = 4', "write the value in quotes"),
    ],
)
def test_mistakes_are_said_with_the_remedy(place: Place, spark: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        settings_of(place, spark)


def test_secrets_are_not_repeated(place: Place) -> None:
    with pytest.raises(UsageError) as refused:
        settings_of(place, 'master = "local"\n[spark.conf]\n"spark.hadoop.fs.s3a.secret.key" = "hunter2"')
    assert "hunter2" not in str(refused.value)
    with pytest.raises(UsageError) as refused:
        settings_of(place, 'master = "sc://head:15002/;token=hunter2"')
    assert "hunter2" not in str(refused.value)


def test_another_engine_is_no_engine(place: Place) -> None:
    with pytest.raises(UsageError, match="engine: Input should be 'duckdb' or 'spark'"):
        settings_of(place, 'master = "local"', engine="sparks")


def test_the_section_may_stay_while_duckdb_is_used(place: Place) -> None:
    assert settings_of(place, 'master = "local"', engine="duckdb").master == "local"


@pytest.mark.parametrize(("master", "here"), [("local[2]", True), ("spark://127.0.0.1:7077", True), ("yarn", False)])
def test_a_driver_stays_on_loopback_where_its_cluster_is(place: Place, master: str, here: bool) -> None:
    assert settings_of(place, f'master = "{master}"').is_on_this_machine == here


def test_a_folder_that_spark_would_read_otherwise_is_refused() -> None:
    assert warehouse_url(Path("/data/warehouse"), SparkSettings()) == "file:///data/warehouse"
    assert warehouse_url(Path("/data/a b"), SparkSettings(folder="s3a://bucket/warehouse/")) == "s3a://bucket/warehouse"
    for name in ("/data/a b", "/data/{a,b}", "/data/[a]", "/data/a*", "/data/a:b", "/data/a%20b"):
        with pytest.raises(UsageError, match="cannot be given to Spark"):
            warehouse_url(Path(name), SparkSettings())


def test_a_write_that_was_not_finished_is_not_read(tmp_path: Path) -> None:
    folder = new(tmp_path, SparkSettings())
    table = folder.path / f"run={folder.run_id}" / "hourly_hit_rate"
    table.mkdir(parents=True)
    (table / "part-0.parquet").touch()
    with pytest.raises(ValleywatchError, match=f"{MARK} is not in it"):
        folder.files_of("hourly_hit_rate")
    (table / MARK).touch()
    assert [path.name for path in folder.files_of("hourly_hit_rate")] == ["part-0.parquet"]
    assert isinstance(new(tmp_path, SparkSettings()), RunFolder)
    assert not table.exists(), "what a killed run left is removed by the next"


def test_without_pyspark_it_says_what_to_install(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    place.configure(f'engine = "spark"\n[spark]\nmaster = "local[2]"\n{SOURCE}{PRICE}')
    place.write("a.jsonl", [request()])
    assert place.valleywatch("run") == 2
    said = capsys.readouterr().err
    assert 'engine = "spark": pyspark is not installed: install valleywatch[spark], or remove the key' in said
    assert "Traceback" not in said
