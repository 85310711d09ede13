"""The pages of docs/reference/ are what tools/reference_pages.py writes, and leave nothing unsaid."""

from __future__ import annotations

import importlib.util
import re
from functools import cache

import pytest

from monitor.core.settings.load import Settings
from tests.unit.docs.test_links import ROOT

spec = importlib.util.spec_from_file_location("reference_pages", ROOT / "tools" / "reference_pages.py")
reference_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference_pages)
PAGES = ("api.md", "commands.md", "settings.md")
pages = cache(reference_pages.pages)  # to collect the tests needs none of them
ROW = re.compile(r"^\| `(?P<name>[^|]+?)`[^|]* \|.* \| (?P<last>[^|]*) \|$", re.MULTILINE)


def test_all_pages_but_the_list_of_them_come_from_the_script():
    assert {path.name for path in (ROOT / "docs" / "reference").iterdir()} == {*PAGES, "README.md"}
    assert set(pages()) == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_script_writes(name):
    written = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert written == pages()[name], "run: .venv/bin/python tools/reference_pages.py"


@pytest.mark.parametrize("name", ["settings.md", "commands.md"])
def test_every_setting_and_option_says_what_it_does(name):
    rows = ROW.findall(pages()[name])
    assert rows
    assert [what for what, said in rows if not said] == []


def test_every_setting_has_a_row(monkeypatch):
    monkeypatch.setenv("MONITOR_SLACK__BOT_TOKEN", "xoxb-secret")

    def names(model, prefix):
        for name, field in model.model_fields.items():
            nested = hasattr(field.annotation, "model_fields")
            yield from names(field.annotation, f"{prefix}{name}__") if nested else [f"MONITOR_{prefix}{name}".upper()]

    page = reference_pages.settings_page()
    assert {name for name, _ in ROW.findall(page)} == set(names(Settings, ""))
    assert "xoxb-secret" not in page
