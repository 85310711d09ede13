"""What the pages show as JSON, YAML, TOML and INI is that, and what `monitor` reads, its own loaders take."""

from __future__ import annotations

import json
import tomllib
from configparser import ConfigParser

import pytest

from monitor.alert.rules.file import parse_rules
from monitor.app.wiring.prices import parse_prices
from monitor.assess.classify.profile import read_profile
from monitor.core.settings.load import Settings, load_settings
from monitor.core.yaml.marked import parse_yaml
from monitor.probe.file import parse_probes
from tests.rig.docs.pages import PAGES, blocks

RECEIVERS = ("slack", "pagerduty", "email", "teams", "alertmanager", "webhook", "console")
BLOCKS = [block for page in PAGES for block in blocks(page)]


def of(language):
    found = [block for block in BLOCKS if block.language == language]
    assert found
    return pytest.mark.parametrize("block", found, ids=lambda block: block.place)


@of("json")
def test_json(block):
    try:
        json.loads(block.text)
    except json.JSONDecodeError:  # one document a line, or several that go over two
        rest = block.text.strip()
        while rest:
            _, end = json.JSONDecoder().raw_decode(rest)
            rest = rest[end:].lstrip()


@of("toml")
def test_toml(block, tmp_path, monkeypatch):
    """A settings file, a profile, or the metadata of a package."""
    read = tomllib.loads(block.text)
    if read.keys() <= Settings.model_fields.keys():
        monkeypatch.chdir(tmp_path)
        (tmp_path / "monitor.toml").write_text(block.text, encoding="utf-8")
        assert load_settings().model_fields_set >= read.keys()
    elif "embedding_model" in read:
        (tmp_path / "profile.toml").write_text(block.text, encoding="utf-8")
        assert read_profile(str(tmp_path / "profile.toml")).name == read["name"]
    else:
        assert read.keys() == {"build-system", "project"}


@of("yaml")
def test_yaml(block):
    """Rules, probes, prices, the target of a probe; or the file of another program."""
    read = parse_yaml(block.text).value
    if "rules" in read:
        assert parse_rules(block.text, name=block.place, receivers=RECEIVERS).rules
    elif "probes" in read:
        assert parse_probes(block.text, name=block.place)
    elif "models" in read:
        assert parse_prices(block.text, name=block.place)
    elif read.keys() & {"target", "http"}:
        assert parse_probes(_with_target(read), name=block.place)
    elif "escalation" in read:
        rule = {"name": "a", "signal": {"rate": "negative"}, "above": 0.3, **read}
        assert parse_rules(json.dumps({"rules": [rule]}), name=block.place, receivers=RECEIVERS).rules
    else:
        assert read.keys() & {"exporters", "receivers", "scrape_configs", "services"}


def _with_target(read):
    target = read.get("target", read)
    return json.dumps({"probes": [{"name": "a", "app": "a", "golden": "a", "target": target}]})


@of("ini")
def test_ini(block):
    parser = ConfigParser()
    parser.read_string(block.text)
    assert parser.sections()
