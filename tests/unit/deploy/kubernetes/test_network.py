"""What the network policies of deploy/kubernetes let through, beside what each process needs."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.rig.deploy.kubernetes import Object, container, of_kind, selected, settings_of


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
