from __future__ import annotations

import ast
import re
import tomllib

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.core.errors import WrongSettings
from monitor.core.installed.manual import pages
from tests.rig.commands import ROOT

NAMED = re.compile(r"monitor docs ([a-z][\w/{}-]*)")
PATH = re.compile(r"(?<!https://)\bdocs/[\w-]+/[\w-]+\.md")
RUNBOOKS = "docs/on-call/runbooks.md"  # the form of a runbook in a rule, which MONITOR_DOCS_URL makes a link


def shown(*arguments):
    return CliRunner().invoke(app, ["docs", *arguments])


def test_without_a_name_the_pages_are_listed_with_their_titles():
    listed = shown().output
    assert re.search(r"^operate/kafka +Kafka$", listed, re.MULTILINE)
    assert re.search(r"^join +Join a chatbot$", listed, re.MULTILINE)


@pytest.mark.parametrize("name", ["operate/kafka", "operate/kafka.md", "docs/operate/kafka.md"])
def test_a_page_is_shown_as_it_is(name):
    assert shown(name).output == (ROOT / "docs/operate/kafka.md").read_text(encoding="utf-8")


def test_a_section_is_shown_alone():
    runbook = shown("docs/on-call/runbooks.md#negative-rate").output
    assert runbook.startswith("## negative-rate\n")
    assert runbook.count("\n## ") == 0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("kafka", "did you mean operate/kafka?"),
        ("operate/kafak", "did you mean operate/kafka?"),
        ("../pyproject", "`monitor docs` lists them"),
        ("on-call/runbooks#negative", "has no section 'negative'; it has: .*negative-rate"),
    ],
)
def test_a_page_that_is_not_there_is_told_with_those_that_are(name, told):
    error = shown(name).exception
    assert isinstance(error, WrongSettings)
    assert re.search(told, str(error))


def texts():
    """(file, text) of every text that the program may print: no docstring, no comment."""
    for path in sorted((ROOT / "monitor").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = ast.Module | ast.ClassDef | ast.FunctionDef
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield path.relative_to(ROOT), node.value


def test_what_is_printed_names_pages_that_every_installation_has():
    """Who installed the wheel has no folder `docs`, but `monitor docs` shows each page."""
    shipped, named = pages(), 0
    for path, text in texts():
        assert not [found for found in PATH.findall(text) if found != RUNBOOKS], f"{path}: {text}"
        for name in NAMED.findall(text):
            assert name in shipped or name == "quality/", f"{path}: {name}"  # the latter goes on with the model's kind
            named += 1
    assert named > 20


def test_the_wheel_has_every_page():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for path in pages().values():
        assert any(path.is_relative_to(ROOT / place) for place in included), path
