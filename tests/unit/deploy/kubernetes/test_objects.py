"""The objects of deploy/kubernetes beside the schemas of Kubernetes, and how they name each other."""

from __future__ import annotations

import kubernetes_validate
import pytest

from tests.rig.deploy.dockerfile import PINNED
from tests.rig.deploy.kubernetes import (
    BUILDS,
    FOREIGN,
    VERSIONS,
    WHOLE,
    built,
    container,
    named,
    of_kind,
    pods,
    selected,
)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("folder", BUILDS)
def test_every_object_has_the_form_that_kubernetes_asks_for(folder, version):
    checked = [one for one in built(folder) if one["apiVersion"] not in FOREIGN]
    assert checked
    for one in checked:
        kubernetes_validate.validate(one, version, strict=True)


def test_there_is_one_scheduler_and_its_volume_is_given_over():
    (scheduler,) = (
        one for one in of_kind("base", "Deployment") if container(one["spec"]["template"])["args"] == ["run"]
    )
    assert scheduler["spec"]["replicas"] == 1
    assert scheduler["spec"]["strategy"] == {"type": "Recreate"}
    volumes = scheduler["spec"]["template"]["spec"]["volumes"]
    claims = [one["persistentVolumeClaim"]["claimName"] for one in volumes if "persistentVolumeClaim" in one]
    assert claims == list(named("base", "PersistentVolumeClaim"))


@pytest.mark.parametrize("folder", WHOLE)
def test_the_dashboard_which_keeps_its_work_in_memory_has_one_pod(folder):
    dashboards = [
        one for one in of_kind(folder, "Deployment") if container(one["spec"]["template"])["args"] == ["serve"]
    ]
    assert [one["spec"]["replicas"] for one in dashboards] == [1]
    scaled = of_kind(folder, "HorizontalPodAutoscaler", "ScaledObject")
    assert all(one["spec"]["scaleTargetRef"]["name"] != dashboards[0]["metadata"]["name"] for one in scaled)


@pytest.mark.parametrize("folder", WHOLE)
def test_no_budget_blocks_the_drain_of_a_node(folder):
    single = {one["metadata"]["name"] for one in of_kind(folder, "Deployment") if one["spec"].get("replicas") == 1}
    budgets = set(named(folder, "PodDisruptionBudget"))
    assert (single, budgets) == ({"monitor-scheduler", "monitor-dashboard"}, {"monitor-consumer"})


@pytest.mark.parametrize("folder", BUILDS)
def test_selectors_take_the_pods_that_they_are_for_and_no_others(folder):
    for deployment in of_kind(folder, "Deployment"):
        taken = [
            name
            for name, pod in pods(folder).items()
            if selected(deployment["spec"]["selector"], pod["metadata"]["labels"])
        ]
        assert taken == [deployment["metadata"]["name"]]
        for spread in deployment["spec"]["template"]["spec"].get("topologySpreadConstraints", ()):
            assert selected(spread["labelSelector"], deployment["spec"]["template"]["metadata"]["labels"])
    for budget in of_kind(folder, "PodDisruptionBudget"):
        selector = budget["spec"]["selector"]
        taken = [name for name, pod in pods(folder).items() if selected(selector, pod["metadata"]["labels"])]
        assert taken == [budget["metadata"]["name"]]


@pytest.mark.parametrize("folder", WHOLE)
def test_a_service_and_its_ingress_lead_to_ports_that_exist(folder):
    services = named(folder, "Service")
    for service in services.values():
        ports = [
            {port["name"] for port in container(pod)["ports"]}
            for pod in pods(folder).values()
            if service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
        ]
        assert ports == [{port["targetPort"] for port in service["spec"]["ports"]}]
    for ingress in of_kind(folder, "Ingress"):
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                ports = services[backend["name"]]["spec"]["ports"]
                assert backend["port"]["name"] in {port["name"] for port in ports}


def test_the_migration_is_of_the_release_that_follows_it():
    images = {container(pod)["image"] for folder in BUILDS[1::2] for pod in pods(folder).values()}
    assert len(images) == 1
    assert not PINNED.fullmatch(*images)  # an example, which the reader replaces
    spaces = {one["metadata"]["namespace"] for folder in BUILDS[1::2] for one in built(folder)}
    assert spaces == {"monitor"}
