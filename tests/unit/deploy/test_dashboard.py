"""The dashboard is what its script makes, and Grafana can lay it out."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.rig.installation import ROOT
from tools.grafana_dashboard import dashboard

FOLDER = ROOT / "deploy" / "grafana"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboards" / "monitor.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
VARIABLES = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
BUILT_IN = {"__rate_interval", "__all"}
# By https://grafana.com/docs/grafana/latest/visualizations/panels-visualizations/; units by Grafana's own list
KINDS = {"row", "timeseries", "stat", "heatmap", "table"}
UNITS = {"short", "none", "s", "bytes", "percentunit", "cps"}


def loaded(file: str) -> Any:
    return YAML(typ="safe").load((FOLDER / "provisioning" / file).read_text())


def cells(panel: dict[str, Any]) -> set[tuple[int, int]]:
    at = panel["gridPos"]
    return {(at["x"] + column, at["y"] + line) for column in range(at["w"]) for line in range(at["h"])}


def test_it_is_what_the_script_makes():
    assert dashboard() == DASHBOARD, "run: python tools/grafana_dashboard.py"


def test_ids_are_unique_and_panels_do_not_overlap():
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in DASHBOARD["panels"]:
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
    for one, other in combinations(DASHBOARD["panels"], 2):
        assert not cells(one) & cells(other), f"{one['title']} and {other['title']}"


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_each_panel_says_what_it_shows_in_which_unit(panel):
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["type"] in KINDS
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    assert panel["targets"]
    assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    assert [target["datasource"] for target in panel["targets"]] == [panel["datasource"]] * len(panel["targets"])


def test_titles_are_unique():
    titles = [panel["title"] for panel in DASHBOARD["panels"]]
    assert len(set(titles)) == len(titles)


def test_every_variable_is_used_and_known():
    text = json.dumps(DASHBOARD["panels"])
    used = set(re.findall(r"\$\{?(\w+)", text))
    assert used == VARIABLES | (BUILT_IN & used)
    assert {panel["datasource"]["uid"] for panel in PANELS} == {"${datasource}"}


def test_every_query_is_of_the_chosen_installations_and_adds_up_no_figure_of_one():
    """Two installations may have the same sources, rules and receivers."""
    for panel in PANELS:
        for target in panel["targets"]:
            metrics = re.findall(r"\b(?:monitor|process|python)_\w+(\{[^}]*\})?", target["expr"])
            assert metrics
            assert all('installation=~"$installation"' in selector for selector in metrics)
            by = re.findall(r"\bmax by \(([^)]*)\)", target["expr"])
            assert all({"installation", "instance"} & set(labels.split(", ")) for labels in by)


def test_rates_are_taken_over_what_grafana_finds_right_for_the_scrape_interval():
    for panel in PANELS:
        for target in panel["targets"]:
            assert set(re.findall(r"\[([^\]]+)\]", target["expr"])) <= {"$__rate_interval"}


def test_it_is_provisioned_from_where_compose_mounts_it():
    (provider,) = loaded("dashboards/monitor.yaml")["providers"]
    assert provider["options"]["path"] == "/var/lib/grafana/dashboards"
    (source,) = loaded("datasources/prometheus.yaml")["datasources"]
    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
    scrape = YAML(typ="safe").load((ROOT / "deploy" / "prometheus" / "prometheus.yaml").read_text())
    assert source["jsonData"]["timeInterval"] == scrape["global"]["scrape_interval"]
