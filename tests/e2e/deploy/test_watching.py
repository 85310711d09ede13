"""A real Prometheus scrapes a real `monitor run` as deploy/prometheus says: every query of ours returns data."""

from __future__ import annotations

import json
import math
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from ruamel.yaml import YAML

from monitor.store.interaction.writer import Writer
from tests.factories.answers import a_batch, an_assessment, clock
from tests.rig.installation import REFUSAL, ROOT, RULES, Installation
from tests.rig.store.keys import QUEUE_KEY, give_key
from tests.rig.waiting import until
from tests.servers.prometheus import RULES as ABOUT_MONITOR
from tests.servers.prometheus import Prometheus, alerts_about_monitor, check_metrics, prometheus

SETTINGS = {
    "EMBEDDING__PROVIDER": "hash",
    "INGEST__BATCH_MS": "20",
    "EVALUATION_INTERVAL": "0.5",
    "AUDIT__EVERY": "0.5",
    "METRICS__PORT": "0",
    "WEBHOOK__URL": "http://127.0.0.1:9/",  # where nobody listens, so that attempts to send fail
}
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy/grafana/dashboards/monitor.json").read_text())
QUERIES = {
    f"{panel['title']} {target['refId']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", ())
}
ALERTS = alerts_about_monitor()
# Series that are there only where something is wrong, or where a part is used; `_faults` makes them.
GIVEN_UP = """
    INSERT INTO notification (receiver, group_key, episode, number, news, made_at, payload, given_up)
    VALUES ('console', 'lost', 'e', 1, 'firing', now(), '{}', true)
"""
IN_THE_INBOX = "UPDATE inbox_end SET next_position = next_position + 1"
EVERY = 4  # looks at the queries between two events: the process that seals gives way to those that read
QUESTIONS = ("How long are snapshots kept?", "Where are snapshots stored?", "Who may delete a snapshot of mine?")
DISCONNECT = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@dataclass(frozen=True)
class Watched:
    """A running monitor, the Prometheus that scrapes it, and the traffic that keeps rates above 0."""

    server: Prometheus
    metrics: str
    log: Path
    database: str

    def query(self, expression: str) -> list[float]:
        """The values of a query, with Grafana's variables filled in, without those that are not a number."""
        filled = (
            expression.replace("$__rate_interval", "15s")
            .replace("$app", ".*")
            .replace("$instance", ".*")
            .replace("$installation", ".*")
        )
        assert "$" not in filled
        values = [float(one["value"][1]) for one in self.server.data("query", query=filled)["result"]]
        return [value for value in values if not math.isnan(value)]

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="module")
def watched(databases: Any, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    give_key(folder / "state")
    log, rules = folder / "answers.jsonl", folder / "rules.yaml"
    rules.write_text(RULES)
    log.touch()
    with databases.lent(migrated_template) as url:
        installation = Installation(folder, STATE_DIR=str(folder / "state"), DATABASE_URL=url, **SETTINGS)
        try:
            running = installation.start("run", log, RULES=str(rules))
            (address,) = until("it serves metrics", lambda: re.findall(r"metrics: http://([\d.:]+)/", running.err))
            with prometheus(folder, address, _configuration(folder)) as server:
                yield Watched(server=server, metrics=f"http://{address}/metrics", log=log, database=url)
        finally:
            installation.close()


def _configuration(folder: Path) -> str:
    """The one that ships, for one process on this machine and with less patience."""
    shipped = YAML(typ="safe").load((ROOT / "deploy/prometheus/prometheus.yaml").read_text())
    shipped["global"] |= {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    about_monitor = folder / "about_monitor.yaml"
    about_monitor.write_text(ABOUT_MONITOR.read_text().replace("    interval: 1m\n", "    interval: 1s\n"))
    shipped["rule_files"] = [str(about_monitor)]
    del shipped["alerting"]
    for job in shipped["scrape_configs"]:
        job.pop("dns_sd_configs", None)
        job["static_configs"] = [{"targets": ["TARGET"]}]
    return json.dumps(shipped).replace("{", "{{").replace("}", "}}").replace("TARGET", "{target}")


@pytest.fixture(scope="module")
def played(watched: Watched) -> Watched:
    """All has happened that a query may ask for, and goes on happening until each of them has returned data."""
    _faults(watched)
    looks, left = count(), dict(QUERIES)

    def all_return_data() -> bool:
        number, rest = divmod(next(looks), EVERY)
        if rest == 0:
            with watched.log.open("a", encoding="utf-8") as file:
                file.write(_event(number) + ("not an event\n" if number % 5 == 0 else ""))
            if number == 10:
                watched.execute(DISCONNECT)  # transactions fail, and are tried again
        for name in [name for name, expression in left.items() if watched.query(expression)]:
            del left[name]
        return not left

    try:
        until("each query returns data", all_return_data)
    except AssertionError:
        raise AssertionError(f"without data: {left}") from None
    return watched


def _event(number: int) -> str:
    answer = "Deleted snapshots are kept for 30 days." if number % 3 == 0 else REFUSAL
    documents = ["Deleted snapshots are kept for 30 days, then they are purged for good."]
    return (
        json.dumps(
            {"id": f"n-{number}", "app": "support-bot", "question": QUESTIONS[number % 3], "answer": answer}
            | {"retrieved_documents": documents}
        )
        + "\n"
    )


def _faults(watched: Watched) -> None:
    writer = Writer(watched.database, clock, queue_key=QUEUE_KEY)
    writer.write(a_batch(pending=(an_assessment(id="set-aside").interaction,)))  # which no worker takes up
    writer.close()
    watched.execute(GIVEN_UP)
    watched.execute(IN_THE_INBOX)


def test_each_query_of_the_dashboard_returns_data(played):
    assert played  # the fixture names those that do not


@pytest.mark.parametrize("variable", DASHBOARD["templating"]["list"][1:], ids=lambda one: one["name"])
def test_each_variable_takes_its_values_from_series_that_are_there(played, variable):
    (series,) = re.findall(r"label_values\((.+), \w+\)", variable["definition"])
    assert played.query(series)


@pytest.mark.parametrize("page", ["", "/process", "/installation"])
def test_promtool_has_nothing_to_say_of_the_pages(played, page):
    with urllib.request.urlopen(played.metrics + page, timeout=30) as answer:
        assert check_metrics(answer.read()) == ""


def test_prometheus_evaluates_each_alert(played):
    groups = until("all are evaluated", lambda: _evaluated(played))
    rules = [rule for group in groups for rule in group["rules"]]
    assert [rule["name"] for rule in rules if rule["type"] == "alerting"] == [rule["alert"] for rule in ALERTS]
    assert [(rule["name"], rule["lastError"]) for rule in rules if rule.get("lastError")] == []


def _evaluated(played: Watched) -> list[dict[str, Any]] | None:
    groups = played.server.data("rules")["groups"]
    return groups if all(rule["health"] == "ok" for group in groups for rule in group["rules"]) else None


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_what_an_alert_looks_at_is_there(played, rule):
    for selector in re.findall(r"(?:\bmonitor[_:][\w:]+|\bup\b)(?:\{[^}]*\})?", rule["expr"]):
        assert played.query(selector), selector


def test_figures_of_two_pages_of_one_process_do_not_add_up_wrongly(played):
    """The job of the processes shows no figure of the installation, and the other none of the process."""
    jobs = {
        name: {one["metric"]["job"] for one in played.server.data("query", query=name)["result"]}
        for name in ("monitor_up", "monitor_answers_total", "monitor_build_info", "monitor_stage_duration_seconds_sum")
    }
    assert jobs == {
        "monitor_up": {"monitor-installation"},
        "monitor_answers_total": {"monitor-installation"},
        "monitor_build_info": {"monitor"},
        "monitor_stage_duration_seconds_sum": {"monitor"},
    }
