"""deploy/kubernetes, built by kustomize, beside the schemas of Kubernetes, the program, and what its objects name."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from monitor.alert.rules.file import load_rules
from monitor.app.metrics.health import LIVE, PATIENCE, READY
from monitor.app.metrics.pages import INSTALLATION, PROCESS
from monitor.cli.terminal import LAST_RESORT
from tests.rig.commands import ROOT
from tests.rig.deploy import SECRETS, settings_under, wrong_use
from tests.rig.services import missing
from tests.unit.deploy.test_image import LAST_STAGE, PINNED, values

FOLDER = ROOT / "deploy/kubernetes"
VERSIONS = ("1.30", "1.37")  # the oldest that we claim, and the newest whose schemas are at hand
WHOLE = ("base", "overlays/production")
BUILDS = (*WHOLE, "migrate", "overlays/production/migrate")
WORKLOADS = {"Deployment", "Job"}
FOREIGN = {"keda.sh/v1alpha1", "monitoring.coreos.com/v1"}  # their schemas are not Kubernetes's
GUIDE = (ROOT / "docs/operate/kubernetes.md").read_text(encoding="utf-8")
Object = dict[str, Any]


def kustomize() -> list[str]:
    """What builds: kustomize, or kubectl, which has one inside."""
    if found := shutil.which("kustomize") or shutil.which("kustomize", path=str(Path.home() / "go/bin")):
        return [found, "build"]
    if found := shutil.which("kubectl"):
        return [found, "kustomize"]
    return missing("kustomize is needed: go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1; kubectl has one inside")


@cache
def built(folder: str) -> tuple[Object, ...]:
    ended = subprocess.run([*kustomize(), FOLDER / folder], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return tuple(YAML(typ="safe", pure=True).load_all(ended.stdout))


def of_kind(folder: str, *kinds: str) -> list[Object]:
    return [one for one in built(folder) if one["kind"] in kinds]


def named(folder: str, kind: str) -> dict[str, Object]:
    return {one["metadata"]["name"]: one for one in of_kind(folder, kind)}


def pods(folder: str) -> dict[str, Object]:
    """The templates of pods, by the name of what makes them."""
    return {one["metadata"]["name"]: one["spec"]["template"] for one in of_kind(folder, *WORKLOADS)}


def container(pod: Object) -> Object:
    (only,) = pod["spec"]["containers"]
    return only


def selected(selector: Object, labels: dict[str, str]) -> bool:
    """Whether a label selector takes an object with these labels."""
    assert selector.keys() <= {"matchLabels", "matchExpressions"}
    for expression in selector.get("matchExpressions", ()):
        assert expression["operator"] == "In"
        if labels.get(expression["key"]) not in expression["values"]:
            return False
    return selector.get("matchLabels", {}).items() <= labels.items()


def settings_of(folder: str, pod: Object, tmp_path: Path) -> Any:
    """The settings of a pod's process, with the image's environment under the pod's."""
    image = dict(word.split("=", 1) for word in " ".join(values("ENV", LAST_STAGE)).split())
    own = {variable["name"]: variable["value"] for variable in container(pod).get("env", ())}
    maps = named(folder, "ConfigMap")
    mounted = [maps[volume["configMap"]["name"]] for volume in pod["spec"]["volumes"] if "configMap" in volume]
    toml = mounted[0]["data"]["monitor.toml"] if mounted else ""
    return settings_under(image | own, tmp_path, toml=toml)


EVERY_POD = [(folder, name) for folder in BUILDS for name in ("scheduler", "consumer", "dashboard", "migrate")
             if (name == "migrate") is folder.endswith("migrate")]  # fmt: skip


@pytest.fixture(params=EVERY_POD, ids=lambda one: "-".join(one).replace("/", "-"))
def folder_and_pod(request):
    folder, name = request.param
    return folder, pods(folder)[f"monitor-{name}"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("folder", BUILDS)
def test_every_object_has_the_form_that_kubernetes_asks_for(folder, version):
    checked = [one for one in built(folder) if one["apiVersion"] not in FOREIGN]
    assert checked
    for one in checked:
        kubernetes_validate.validate(one, version, strict=True)


@pytest.mark.parametrize("component", ["keda", "hpa", "pod-monitor"])
def test_each_component_fits_the_base(component, tmp_path):
    shutil.copytree(FOLDER, tmp_path / "kubernetes")
    own = tmp_path / "kubernetes/own"
    own.mkdir()
    (own / "kustomization.yaml").write_text(f"resources: [../base]\ncomponents: [../components/{component}]\n")
    ended = subprocess.run([*kustomize(), own], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    objects = list(YAML(typ="safe", pure=True).load_all(ended.stdout))
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
        else:
            assert any(
                selected(one["spec"]["selector"], deployment["spec"]["template"]["metadata"]["labels"])
                for deployment in deployments.values()
            )


def test_there_is_one_scheduler_and_its_volume_is_given_over():
    (scheduler,) = (
        one for one in of_kind("base", "Deployment") if container(one["spec"]["template"])["args"] == ["run"]
    )
    assert scheduler["spec"]["replicas"] == 1
    assert scheduler["spec"]["strategy"] == {"type": "Recreate"}
    volumes = scheduler["spec"]["template"]["spec"]["volumes"]
    claims = [one["persistentVolumeClaim"]["claimName"] for one in volumes if "persistentVolumeClaim" in one]
    assert claims == list(named("base", "PersistentVolumeClaim"))


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


def test_the_container_runs_a_command_that_exists(folder_and_pod):
    _, pod = folder_and_pod
    assert "command" not in container(pod)  # the image's entry point
    assert wrong_use(container(pod)["args"]) is None


def test_what_it_is_told_are_settings_and_they_fit_its_ports(folder_and_pod, tmp_path):
    folder, pod = folder_and_pod
    settings = settings_of(folder, pod, tmp_path)
    ports = {port["name"]: port["containerPort"] for port in container(pod).get("ports", ())}
    listens = {"metrics": settings.metrics, "http": settings.web}
    assert all(ports[name] == listens[name].port for name in ports)
    assert all(listens[name].host == "0.0.0.0" for name in ports)
    assert pod["spec"]["enableServiceLinks"] is False  # MONITOR_DASHBOARD_SERVICE_HOST would be no setting
    if settings.rules is not None:
        rules = named(folder, "ConfigMap")
        (text,) = {one["data"]["rules.yaml"] for one in rules.values()}
        (tmp_path / "rules.yaml").write_text(text)
        assert load_rules(tmp_path / settings.rules, receivers=("slack",)).rules


def test_the_secrets_that_it_names_are_mounted_and_the_guide_makes_them(folder_and_pod):
    _, pod = folder_and_pod
    paths = {
        f"{mount['mountPath']}/{item['path']}": item["key"]
        for volume in pod["spec"]["volumes"]
        if "secret" in volume
        for item in volume["secret"]["items"]
        for mount in container(pod)["volumeMounts"]
        if mount["name"] == volume["name"]
    }
    read = {variable["value"] for variable in container(pod)["env"] if variable["name"].endswith("_FILE")}
    assert read == set(paths)
    assert set(paths.values()) <= set(re.findall(r"--from-(?:file|literal)=([\w-]+)", GUIDE))
    assert set(paths.values()) <= {*SECRETS, "audit-key"}
    assert all(volume["secret"]["defaultMode"] == 0o440 for volume in pod["spec"]["volumes"] if "secret" in volume)


def test_it_writes_only_where_something_is_mounted(folder_and_pod, tmp_path):
    folder, pod = folder_and_pod
    writable = {mount["mountPath"] for mount in container(pod)["volumeMounts"] if not mount.get("readOnly")}
    assert writable == {"/tmp", str(settings_of(folder, pod, tmp_path).state_dir)}  # noqa: S108
    assert {mount["name"] for mount in container(pod)["volumeMounts"]} == {
        one["name"] for one in pod["spec"]["volumes"]
    }
    maps = [volume["configMap"]["name"] for volume in pod["spec"]["volumes"] if "configMap" in volume]
    assert set(maps) <= set(named(folder, "ConfigMap"))


def test_it_meets_the_restricted_standard(folder_and_pod):
    _, pod = folder_and_pod
    (user,) = values("USER", LAST_STAGE)
    context = pod["spec"]["securityContext"]
    assert context["runAsNonRoot"] is True
    assert user == f"{context['runAsUser']}:{context['runAsGroup']}"
    assert context["fsGroup"] == context["runAsGroup"]  # the secrets are readable by it
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(pod)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert (
        {"cpu", "memory"} == set(container(pod)["resources"]["requests"]) == set(container(pod)["resources"]["limits"])
    )


@pytest.mark.parametrize("folder", WHOLE)
def test_probes_ask_what_is_there_and_wait_for_the_answer(folder):
    for pod in pods(folder).values():
        one = container(pod)
        (port,) = one["ports"]
        probes = {kind: one[f"{kind}Probe"] for kind in ("startup", "liveness", "readiness")}
        asked = {kind: probe["httpGet"]["path"] for kind, probe in probes.items()}
        assert asked == {"startup": LIVE, "liveness": LIVE, "readiness": READY}
        assert all(probe["httpGet"]["port"] == port["name"] for probe in probes.values())
        assert all(probe["timeoutSeconds"] > PATIENCE for probe in probes.values())
        assert pod["spec"]["terminationGracePeriodSeconds"] > LAST_RESORT


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


def needed(settings: Any, command: str) -> set[int]:
    """The TCP ports that a process with these settings connects to."""
    ports = {urlsplit(settings.database_url.get_secret_value()).port or 5432}
    if command in {"run", "consume"}:
        ports |= {int(server.rpartition(":")[2]) for server in settings.kafka.bootstrap_servers}
    if command == "run" and settings.slack.bot_token is not None:
        ports.add(urlsplit(settings.slack.api_url).port or 443)
    return ports


def rules_for(folder: str, pod: Object, direction: str) -> list[Object]:
    return [
        rule
        for policy in of_kind(folder, "NetworkPolicy")
        if selected(policy["spec"]["podSelector"], pod["metadata"]["labels"])
        for rule in policy["spec"].get(direction, ())
    ]


def test_the_network_lets_through_what_the_settings_need_and_no_other_port(folder_and_pod, tmp_path):
    folder, pod = folder_and_pod
    settings, command = settings_of(folder, pod, tmp_path), container(pod)["args"][0]
    out = {(port["protocol"], port["port"]) for rule in rules_for(folder, pod, "egress") for port in rule["ports"]}
    names = {("UDP", 53), ("TCP", 53)}
    receivers = {("TCP", 443)} if command == "run" else set()  # other receivers than Slack are reached there too
    assert out == {("TCP", port) for port in needed(settings, command)} | names | receivers
    into = {port["port"] for rule in rules_for(folder, pod, "ingress") for port in rule["ports"]}
    assert into == {port["name"] for port in container(pod).get("ports", ())}
    assert all(rule["from"] for rule in rules_for(folder, pod, "ingress"))


def test_whatever_no_rule_names_is_denied(folder_and_pod):
    folder, pod = folder_and_pod
    denied = {
        kind
        for policy in of_kind(folder, "NetworkPolicy")
        if selected(policy["spec"]["podSelector"], pod["metadata"]["labels"])
        for kind in policy["spec"]["policyTypes"]
    }
    assert denied == {"Ingress", "Egress"}


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
    assert keys <= set(re.findall(r"--from-(?:file|literal)=([\w-]+)", GUIDE))


def test_the_migration_is_of_the_release_that_follows_it():
    images = {container(pod)["image"] for folder in BUILDS[1::2] for pod in pods(folder).values()}
    assert len(images) == 1
    assert not PINNED.fullmatch(*images)  # an example, which the reader replaces
    spaces = {one["metadata"]["namespace"] for folder in BUILDS[1::2] for one in built(folder)}
    assert spaces == {"monitor"}
