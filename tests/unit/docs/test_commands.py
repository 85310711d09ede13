"""Every command line of ours in README.md and docs/ is one that the program takes, and every setting exists.

They are parsed here, not run: that needs no services, and holds for those too that wait for a person or a cluster.
"""

from __future__ import annotations

import re

import pytest
import typer

from monitor.cli.app import app as command_line
from monitor.cli.lazy_group import imported
from monitor.core.settings.load import Settings
from tests.rig.docs.pages import PAGES, Block, Command, commands, shell_blocks
from tests.unit.docs.test_links import shown

ROOT_COMMAND = imported(command_line)
# A command in the middle of a sentence: `monitor probe run support`.
INLINE = re.compile(r"`monitor (?P<words>[^`\n]+)`")
NAME = re.compile(r"(?<![\w…])MONITOR_\w+(?P<open>…)?")
# Names that a page gives as mistakes, and those that the tests and the chatbot's side read.
NO_SETTINGS = {"MONITOR_CONFIG", "MONITOR_PORT", "MONITOR_PROBS", "MONITOR_PROBE__MODL", "MONITOR_DATA_DIR"}
OTHERS = ("MONITOR_CLIENT_", "MONITOR_TEST_", "MONITOR_REQUIRE_SERVICES")


def parse(words):
    """Raises an error of typer's where the program would end with exit code 2 before it does anything."""
    context, command, rest = None, ROOT_COMMAND, list(words)
    while True:
        context = command.make_context(command.name or "monitor", rest, parent=context)
        rest = [*context._protected_args, *context.args]
        if not hasattr(command, "commands") or not rest:
            return
        _, command, rest = command.resolve_command(context, rest)


def problem(words):
    try:
        parse(words)
    except typer.Exit:  # --help and --version are done by then
        return None
    except typer.TyperException as error:
        return f"monitor {' '.join(words)}: {getattr(error, 'message', error) or type(error).__name__}"
    return None


def names(model, prefix="MONITOR_"):
    for name, known in model.model_fields.items():
        yield f"{prefix}{name}".upper()
        if hasattr(known.annotation, "model_fields"):
            yield from names(known.annotation, f"{prefix}{name}__")


KNOWN = set(names(Settings))


def is_known(name, cut):
    """Whether a name is a setting, or with `…` begins like some."""
    if name in NO_SETTINGS or name.startswith(OTHERS):
        return True
    return any(known.startswith(name) for known in KNOWN) if cut else {name, name.removesuffix("_FILE")} & KNOWN


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_command_of_a_page_is_taken(page):
    given = [
        words
        for block in shell_blocks(page)
        for command in commands(block)
        if (words := command.of_monitor) is not None
    ]
    assert [wrong for words in given if (wrong := problem(words))] == []


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_command_within_a_sentence_exists(page):
    """Its name and its options; arguments may be left out there."""
    for match in INLINE.finditer(page.read_text(encoding="utf-8")):
        command = ROOT_COMMAND
        for word in match["words"].split():
            if hasattr(command, "commands") and not word.startswith("-"):
                assert word in {*command.commands, "COMMAND"} or command.invoke_without_command, match[0]
                command = command.commands.get(word, command)
        options = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        assert set(re.findall(r"(?<!\S)--[\w-]+", match["words"])) <= {*options, "--help", "--version", "--verbose"}, (
            match[0]
        )


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_setting_that_a_page_names_exists(page):
    found = {(match[0].removesuffix("…"), match["open"]) for match in NAME.finditer(page.read_text(encoding="utf-8"))}
    assert (
        sorted(name for name, cut in found if not is_known(name.removesuffix("__"), cut or name.endswith("__"))) == []
    )


def test_the_parser_finds_what_is_wrong():
    assert problem(["replay", "answers.jsonl"]) is None
    assert "--nothing" in problem(["replay", "answers.jsonl", "--nothing"])
    assert problem(["replay"]) is not None
    assert problem(["alerts", "nothing"]) is not None
    assert not is_known("MONITOR_KAFKA__TOPIC", cut=None)


def test_a_block_is_taken_apart_as_a_shell_does():
    text = """export A=1 B='two words'
A=3 monitor alerts silence app=shop severity!=critical --for 2h   # a comment
monitor alerts silences; monitor audit seal && monitor deadletters show 17 --raw > message.json
curl -d '
  {"a": 1}' | monitor replay -
docker compose exec -T monitor monitor audit verify
docker compose run --rm monitor audit recover
"""
    found = list(commands(Block(page="page", line=1, language="sh", text=text)))
    assert found[0].exported == {"A": "1", "B": "two words"}
    assert found[1] == Command(
        words=("monitor", "alerts", "silence", "app=shop", "severity!=critical", "--for", "2h"), environment={"A": "3"}
    )
    assert [command.of_monitor for command in found[2:]] == [
        ("alerts", "silences"),
        ("audit", "seal"),
        ("deadletters", "show", "17", "--raw"),
        None,
        ("replay", "-"),
        ("audit", "verify"),
        ("audit", "recover"),
    ]
    assert found[4].output == "message.json"
