"""Each pod of deploy/kubernetes: its command, settings, secrets, volumes, rights and probes."""

from __future__ import annotations

import pytest

from monitor.app.metrics.health import LIVE, PATIENCE, READY
from monitor.cli.terminal import LAST_RESORT
from tests.rig.deploy.dockerfile import LAST_STAGE, values
from tests.rig.deploy.kubernetes import SECRET_KEYS, WHOLE, container, named, pods, settings_of
from tests.rig.deploy.process import SECRETS, wrong_use


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
    assert settings.rules is None  # an example of a rule would switch off all that ship


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
    assert set(paths.values()) <= SECRET_KEYS
    assert set(paths.values()) <= {*SECRETS, "audit-key"}
    assert all(volume["secret"]["defaultMode"] == 0o440 for volume in pod["spec"]["volumes"] if "secret" in volume)


def test_it_writes_only_where_something_is_mounted(folder_and_pod, tmp_path):
    folder, pod = folder_and_pod
    state = str(settings_of(folder, pod, tmp_path).state_dir)
    writable = {mount["mountPath"] for mount in container(pod)["volumeMounts"] if not mount.get("readOnly")}
    assert {path for path in writable if not path.startswith(f"{state}/")} == {"/tmp", state}  # noqa: S108
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
