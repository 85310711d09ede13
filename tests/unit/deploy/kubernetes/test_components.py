"""The components of deploy/kubernetes, and the example that takes them: scaling, metrics, shared checkpoints."""

from __future__ import annotations

import re
import shutil

import kubernetes_validate
import pytest

from monitor.app.metrics.pages import INSTALLATION, PROCESS
from monitor.app.wiring.audit import Auditing
from tests.rig.deploy.kubernetes import (
    FOLDER,
    FOREIGN,
    GUIDE,
    SECRET_KEYS,
    VERSIONS,
    build,
    built,
    container,
    named,
    of_kind,
    pods,
    selected,
    settings_of,
)

PRODUCTION = "overlays/production"


@pytest.fixture
def copy(tmp_path):
    """A copy of deploy/kubernetes, to be changed as the guide says."""
    return shutil.copytree(FOLDER, tmp_path / "deploy/kubernetes")


@pytest.mark.parametrize("component", sorted(path.name for path in (FOLDER / "components").iterdir()))
def test_each_component_fits_the_base(component, copy):
    own = copy / "own"
    own.mkdir()
    (own / "kustomization.yaml").write_text(f"resources: [../base]\ncomponents: [../components/{component}]\n")
    objects = build(own)
    added = [one for one in objects if one not in built("base")]
    assert added
    deployments = {one["metadata"]["name"]: one for one in objects if one["kind"] == "Deployment"}
    for one in added:
        if one["apiVersion"] not in FOREIGN:
            kubernetes_validate.validate(one, VERSIONS[0], strict=True)
        if "scaleTargetRef" in one["spec"]:
            target = deployments[one["spec"]["scaleTargetRef"]["name"]]
            assert "replicas" not in target["spec"]
            assert container(target["spec"]["template"])["resources"]["requests"]["cpu"]
        elif one["kind"] == "PodMonitor":
            assert any(
                selected(one["spec"]["selector"], deployment["spec"]["template"]["metadata"]["labels"])
                for deployment in deployments.values()
            )


def changed(text, *, keda, prometheus_operator, shared_volumes):
    """The example's kustomization.yaml, changed as the guide says for a cluster that lacks what is false."""
    if not keda:
        replaced, instead = "  - keda # or ../../components/hpa\n", "  - ../../components/hpa\n"
        assert replaced in text
        assert "write `../../components/hpa` in place of `keda`" in GUIDE
        text = text.replace(replaced, instead)
    removed = [] if prometheus_operator else ["../../components/pod-monitor"]
    removed += [] if shared_volumes else ["../../components/shared-checkpoints"]
    for component in removed:
        assert f"remove `{component}`" in " ".join(GUIDE.split())
        text = text.replace(f"  - {component}\n", "")
    if not shared_volumes:
        text, patches = re.subn(r"  - path: storage-class.yaml\n    target: .*\n", "", text)
        assert patches == 1
    return text


@pytest.mark.parametrize("lacking", ["keda", "prometheus_operator", "shared_volumes", "all"])
def test_the_example_is_built_without_what_a_cluster_lacks(copy, lacking):
    kinds = {
        "keda": {"ScaledObject", "TriggerAuthentication"},
        "prometheus_operator": {"PodMonitor"},
        "shared_volumes": set(),
    }
    file = copy / PRODUCTION / "kustomization.yaml"
    has = {name: lacking not in {name, "all"} for name in kinds}
    file.write_text(changed(file.read_text(), **has))
    objects = build(file.parent)
    built_kinds = {one["kind"] for one in objects}
    for name, its in kinds.items():
        assert its <= built_kinds if has[name] else its.isdisjoint(built_kinds)
    claims = {one["metadata"]["name"] for one in objects if one["kind"] == "PersistentVolumeClaim"}
    assert ("monitor-checkpoints" in claims) is has["shared_volumes"]
    assert ("HorizontalPodAutoscaler" in built_kinds) is not has["keda"]
    for one in objects:
        if one["apiVersion"] not in FOREIGN:
            kubernetes_validate.validate(one, VERSIONS[0], strict=True)


def test_prometheus_scrapes_every_process_and_one_for_the_installation():
    labels = {name: pod["metadata"]["labels"] for name, pod in pods("overlays/production").items()}
    scraped = {}
    for one in of_kind("overlays/production", "PodMonitor"):
        (endpoint,) = one["spec"]["podMetricsEndpoints"]
        taken = {name for name, its in labels.items() if selected(one["spec"]["selector"], its)}
        assert {port["name"] for name in taken for port in container(pods("overlays/production")[name])["ports"]} == {
            endpoint["port"]
        }
        scraped[endpoint["path"]] = (taken, endpoint["relabelings"][0]["replacement"])
    assert scraped == {
        PROCESS: ({"monitor-scheduler", "monitor-consumer"}, "monitor"),
        INSTALLATION: ({"monitor-scheduler"}, "monitor-installation"),
    }


def test_the_dashboard_reads_the_checkpoints_that_the_scheduler_writes(tmp_path):
    seen = {}
    for name in ("scheduler", "dashboard"):
        pod = pods(PRODUCTION)[f"monitor-{name}"]
        file = Auditing(settings_of(PRODUCTION, pod, tmp_path), engine=dict).witness_file
        mounts = [one for one in container(pod)["volumeMounts"] if file.is_relative_to(one["mountPath"])]
        mount = max(mounts, key=lambda one: len(one["mountPath"]))
        (volume,) = (one for one in pod["spec"]["volumes"] if one["name"] == mount["name"])
        claim = volume["persistentVolumeClaim"]["claimName"]
        seen[name] = (claim, file.relative_to(mount["mountPath"]), mount.get("readOnly", False))
    assert seen["scheduler"] == (*seen["dashboard"][:2], False)
    assert seen["dashboard"][2]  # who takes over the pages cannot rewrite them
    claim = named(PRODUCTION, "PersistentVolumeClaim")[seen["dashboard"][0]]
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]


def test_scaling_asks_for_the_lag_of_the_group_and_topic_that_are_read(tmp_path):
    (scaled,) = of_kind("overlays/production", "ScaledObject")
    (trigger,) = scaled["spec"]["triggers"]
    kafka = settings_of("overlays/production", pods("overlays/production")["monitor-consumer"], tmp_path).kafka
    told = trigger["metadata"]
    assert told["bootstrapServers"] == ",".join(kafka.bootstrap_servers)
    assert (told["consumerGroup"], told["topic"]) == (kafka.group_id, *kafka.topics)
    assert told["sasl"] == kafka.sasl_mechanism.lower().replace("-", "_").replace("scram_sha_", "scram_sha")
    (login,) = of_kind("overlays/production", "TriggerAuthentication")
    assert trigger["authenticationRef"]["name"] == login["metadata"]["name"]
    keys = {parameter["key"] for parameter in login["spec"]["secretTargetRef"]}
    assert keys <= SECRET_KEYS
