"""The manifests keep to Kubernetes' own schemas, shut the pods in, and hold a configuration that is accepted."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from pipelines.settings import load_settings
from tests.conftest import REPO
from tests.deploy.commands import require_understood

OBJECTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((REPO / "docs" / "deploy" / "kubernetes" / "valleywatch.yaml").read_text())
)
JOBS = {made["metadata"]["name"]: made for made in OBJECTS if made["kind"] == "CronJob"}
NEWEST = kubernetes_validate.latest_version()


def pod(job: str) -> dict[str, Any]:
    spec: dict[str, Any] = JOBS[job]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("made", OBJECTS, ids=lambda made: f"{made['kind']}/{made['metadata']['name']}")
@pytest.mark.parametrize("version", ["1.29", NEWEST])
def test_an_object_keeps_to_the_schema(made: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(made, version, strict=True)


def test_the_schema_notices_a_slip() -> None:
    broken = copy.deepcopy(JOBS["valleywatch-run"])
    broken["spec"]["concurencyPolicy"] = broken["spec"].pop("concurrencyPolicy")
    with pytest.raises(kubernetes_validate.ValidationError, match="concurencyPolicy"):
        kubernetes_validate.validate(broken, NEWEST, strict=True)


@pytest.mark.parametrize("job", JOBS)
def test_a_pod_is_shut_in(job: str) -> None:
    spec = pod(job)
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert {"requests", "limits"} <= set(container["resources"])
    assert all("value" not in variable for variable in container.get("env", ()))
    assert container["envFrom"] == [{"secretRef": {"name": "valleywatch-secrets"}}]


@pytest.mark.parametrize("job", JOBS)
def test_one_at_a_time_and_not_for_ever(job: str) -> None:
    spec = JOBS[job]["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["timeZone"] == "Etc/UTC"
    assert spec["startingDeadlineSeconds"] > 0
    assert spec["jobTemplate"]["spec"]["activeDeadlineSeconds"] > 0
    assert spec["jobTemplate"]["spec"]["backoffLimit"] <= 3


@pytest.mark.parametrize("job", JOBS)
def test_a_pod_runs_a_command_that_exists(job: str) -> None:
    require_understood("valleywatch", list(pod(job)["containers"][0]["args"]))


@pytest.mark.parametrize("job", JOBS)
def test_what_a_pod_mounts_is_there(job: str) -> None:
    names = {(made["kind"], made["metadata"]["name"]) for made in OBJECTS}
    volumes = {volume["name"]: volume for volume in pod(job)["volumes"]}
    assert {mount["name"] for mount in pod(job)["containers"][0]["volumeMounts"]} == set(volumes)
    assert ("PersistentVolumeClaim", volumes["warehouse"]["persistentVolumeClaim"]["claimName"]) in names
    assert ("ConfigMap", volumes["config"]["configMap"]["name"]) in names


def test_the_configuration_is_accepted_and_on_the_volume(tmp_path: Path) -> None:
    (made,) = [made for made in OBJECTS if made["kind"] == "ConfigMap"]
    config = tmp_path / "valleywatch.toml"
    config.write_text(made["data"]["valleywatch.toml"])
    mounts = {mount["name"]: mount["mountPath"] for mount in pod("valleywatch-run")["containers"][0]["volumeMounts"]}
    assert load_settings(config).warehouse_folder.is_relative_to(mounts["warehouse"])
