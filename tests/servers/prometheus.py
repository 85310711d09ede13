"""Debian's Prometheus for tests: its checker, and a server of its own that scrapes one target."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError

from ruamel.yaml import YAML

from tests.rig.services import missing
from tests.rig.waiting import until

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "rules.yaml"
CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs: [{{job_name: monitor, static_configs: [{{targets: ["{target}"]}}]}}]
"""


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        missing(f"{name} is needed: apt-get install prometheus")
    return str(found)


def alerts_about_monitor() -> list[dict[str, Any]]:
    """The alerts of the rules that ship, in order, without what the rules record."""
    groups = YAML(typ="safe").load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


def check_metrics(text: bytes) -> str:
    """What `promtool check metrics` says against the metrics of a scrape; nothing where all is well."""
    done = subprocess.run([program("promtool"), "check", "metrics"], input=text, capture_output=True, check=False)
    return done.stderr.decode() + done.stdout.decode() + (f"exit status {done.returncode}" if done.returncode else "")


class Prometheus:
    """A running server."""

    def __init__(self, url: str) -> None:
        self._url = url

    def data(self, path: str, **parameters: str) -> Any:
        """What the HTTP API answers; raises `HTTPError` for a query that is wrong."""
        asked = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self._url}/api/v1/{path}?{asked}", timeout=30) as answer:
            return json.load(answer)["data"]

    def ask(self, query: str) -> dict[tuple[tuple[str, str], ...], float]:
        """Values by labels, of nothing while it is not ready."""
        try:
            found = self.data("query", query=query)["result"]
        except URLError:
            return {}
        ours = {"__name__", "instance", "job"}
        return {
            tuple(sorted((k, v) for k, v in one["metric"].items() if k not in ours)): float(one["value"][1])
            for one in found
        }


@contextmanager
def prometheus(folder: Path, target: str, configured: str = CONFIGURATION) -> Iterator[Prometheus]:
    """Scrapes `target`, a host and port, every second while the block runs, unless `configured` says otherwise."""
    configuration, log = folder / "prometheus.yml", folder / "prometheus.log"
    configuration.write_text(configured.format(target=target))
    arguments = [
        program("prometheus"),
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--web.listen-address=127.0.0.1:0",  # it says in its log which one it got
        "--log.level=info",
    ]
    with log.open("wb") as said, subprocess.Popen(arguments, stdout=said, stderr=said, cwd=folder) as process:
        try:
            yield Prometheus(until("Prometheus listens", lambda: _address(log, process)))
        finally:
            process.kill()


def _address(log: Path, process: subprocess.Popen[bytes]) -> str | None:
    said = log.read_text()
    assert process.poll() is None, said
    for line in said.splitlines():
        if "Listening on" in line and "address=" in line:
            return "http://" + line.partition("address=")[2].split()[0].strip('"')
    return None
