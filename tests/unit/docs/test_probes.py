"""The examples of docs/quality/probes.md are what the program reads."""

from __future__ import annotations

import re

import pytest

from monitor.alert.rules.file import load_rules
from monitor.probe.file import parse_probes
from monitor.probe.formats.read import parse_golden
from tests.unit.docs.test_links import ROOT

PAGE = (ROOT / "docs/quality/probes.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^(?P<indent> *)```(?P<kind>\w+)\n(?P<content>.*?)^ *```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (match["kind"], re.sub(f"^{match['indent']}", "", match["content"], flags=re.MULTILINE))
    for match in BLOCK.finditer(PAGE)
]
PROBES = [content for kind, content in BLOCKS if kind == "yaml" and content.startswith("probes:")]


@pytest.mark.parametrize("text", PROBES, ids=["python", "http"])
def test_an_example_of_a_probes_file_is_one(text):
    (probe,) = parse_probes(text, name="probes.yaml").values()
    assert (probe.name, probe.app, probe.golden) == ("support", "support-bot", "refunds")


def test_the_example_of_a_golden_set_is_one():
    (text,) = (content for kind, content in BLOCKS if kind == "json")
    assert [item.id for item in parse_golden(text, name="golden.jsonl")] == ["refund", "opening"]


def test_the_example_of_rules_is_one(tmp_path):
    (text,) = (content for kind, content in BLOCKS if kind == "yaml" and content.startswith("rules:"))
    (tmp_path / "rules.yaml").write_text(text, encoding="utf-8")
    rules = load_rules(tmp_path / "rules.yaml", receivers=()).rules
    assert [(rule.name, rule.method.name) for rule in rules] == [
        ("refunds-wrong", "threshold"),
        ("refunds-worse", "decline"),
    ]
