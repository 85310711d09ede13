"""Writes deploy/grafana/dashboards/monitor.json, Grafana's dashboard of monitor.

    python tools/grafana_dashboard.py

The panels are in grafana_dashboard.yaml beside this script, since a reviewer can read that and not the JSON. The form
is Grafana's classic dashboard JSON of schema version 42, which current releases load from files:
https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

FILE = Path(__file__).parents[1] / "deploy" / "grafana" / "dashboards" / "monitor.json"
PANELS = Path(__file__).with_suffix(".yaml")
COLUMNS, HEIGHT, STAT_HEIGHT = 24, 8, 4
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
CHOSEN = 'installation=~"$installation"'
GREEN, RED = "green", "red"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One panel: its queries are pairs of legend and PromQL."""

    title: str
    says: str
    queries: Sequence[tuple[str, str]]
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 8
    bad_from: float | None = None  # from which value it is shown in red
    stacked: bool = False
    colours: dict[str, str] = field(default_factory=dict)  # by legend
    words: dict[str, tuple[str, str]] = field(default_factory=dict)  # text and colour, by value


def rows() -> list[tuple[str, list[Panel]]]:
    """The panels of each row, in order."""
    return [
        (row["row"], [Panel(**panel) for panel in row["panels"]]) for row in YAML(typ="safe").load(PANELS.read_text())
    ]


def dashboard() -> dict[str, Any]:
    """The whole dashboard, as Grafana loads it."""
    return {
        "title": "monitor",
        "uid": "rag-monitor",
        "description": "Verdicts, alerts, flow and latency of monitor; docs/operate/metrics.md names each metric.",
        "tags": ["monitor", "rag"],
        "schemaVersion": 42,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": list(_variables())},
        "panels": list(_panels()),
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus", "hide": 0}
    for name, label, query in (
        ("installation", "Installation", "label_values(monitor_up, installation)"),
        ("app", "App", f"label_values(monitor_answers_total{{{CHOSEN}}}, app)"),
        ("instance", "Process", f"label_values(monitor_build_info{{{CHOSEN}}}, instance)"),
    ):
        yield {
            "type": "query",
            "name": name,
            "label": label,
            "datasource": SOURCE,
            "definition": query,
            "query": {"query": query, "refId": f"variable-{name}", "qryType": 1},
            "refresh": 2,
            "sort": 1,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"text": "All", "value": ["$__all"]},
            "hide": 0,
        }


def _panels() -> Iterator[dict[str, Any]]:
    number, y = 0, 0
    for title, panels in rows():
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": title,
            "collapsed": False,
            "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1},
            "panels": [],
        }
        x, y, height = 0, y + 1, 0
        for panel in panels:
            number += 1
            if x + panel.width > COLUMNS:
                x, y, height = 0, y + height, 0
            h = STAT_HEIGHT if panel.kind == "stat" and all(each.kind == "stat" for each in panels) else HEIGHT
            yield _panel(panel, number, {"x": x, "y": y, "w": panel.width, "h": h})
            x, height = x + panel.width, max(height, h)
        y += height


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.says,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": _defaults(panel), "overrides": _overrides(panel)},
        "options": OPTIONS[panel.kind],
        "targets": [_target(panel, index, *query) for index, query in enumerate(panel.queries)],
        **({"transformations": [TABLE]} if panel.kind == "table" else {}),
    }


def _target(panel: Panel, index: int, legend: str, query: str) -> dict[str, Any]:
    now = panel.kind in {"stat", "table"}
    return {
        "refId": chr(ord("A") + index),
        "datasource": SOURCE,
        "expr": query,
        "legendFormat": legend or "__auto",
        "instant": now,
        "range": not now,
        "format": {"heatmap": "heatmap", "table": "table"}.get(panel.kind, "time_series"),
    }


def _defaults(panel: Panel) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": GREEN, "value": None}]
    if panel.bad_from is not None:
        steps.append({"color": RED, "value": panel.bad_from})
    known: dict[str, Any] = {"unit": panel.unit, "thresholds": {"mode": "absolute", "steps": steps}}
    if panel.kind == "timeseries":
        marked = "dashed" if panel.bad_from is not None else "off"
        stacking = "normal" if panel.stacked else "none"
        known["min"] = 0
        known["custom"] = {
            "fillOpacity": 30 if panel.stacked else 5,
            "stacking": {"mode": stacking, "group": "A"},
            "thresholdsStyle": {"mode": marked},
        }
    if panel.words:
        shown = {value: {"text": text, "color": colour} for value, (text, colour) in panel.words.items()}
        known["mappings"] = [{"type": "value", "options": shown}]
    return known


def _overrides(panel: Panel) -> list[dict[str, Any]]:
    return [
        {
            "matcher": {"id": "byName", "options": legend},
            "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}],
        }
        for legend, colour in panel.colours.items()
    ]


OPTIONS: dict[str, dict[str, Any]] = {
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "stat": {
        "colorMode": "value",
        "graphMode": "none",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    },
    "heatmap": {
        "calculate": False,
        "cellGap": 1,
        "color": {"mode": "scheme", "scheme": "Oranges", "scale": "exponential", "exponent": 0.5, "steps": 64},
        "filterValues": {"le": 1e-9},
        "legend": {"show": True},
        "tooltip": {"mode": "single", "yHistogram": False},
        "yAxis": {"axisPlacement": "left", "unit": "s"},
    },
    "table": {"showHeader": True, "cellHeight": "sm"},
}
TABLE = {"id": "organize", "options": {"excludeByName": {"Time": True, "Value": True}}}


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(dashboard(), indent=2) + "\n", encoding="utf-8")
