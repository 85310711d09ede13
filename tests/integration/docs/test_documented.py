"""The commands of README.md and docs/ do what their pages say: each page's are run in their order.

A page begins with a copy of one stocked installation, and with the files that it names. It has no Kafka and no
containers: what runs in one is only parsed, by tests/unit/docs/test_commands.py.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import httpx2
import pytest

from monitor.core.installed import plugins
from tests.rig.docs.elsewhere import ELSEWHERE, elsewhere, runs
from tests.rig.docs.files import PLACES, install, lay_files
from tests.rig.docs.pages import PAGES, Block, Command, blocks, commands, shell_blocks
from tests.rig.docs.stock import moved, stock
from tests.rig.docs.terminal import Ended, LoadedModel, run
from tests.rig.installation import ROOT
from tests.servers.llm import CHAT_MODEL, KEY, ChatRequest, llm_server, made_up
from tests.servers.llm.conversing import conversing
from tests.servers.slack import CHANNEL, TOKEN, slack_server
from tests.unit.docs.test_links import shown

SEND = ROOT / "docs/start/send.md"
# Settings that a page gives and the stocked installation has, or that name Kafka, which it has not.
INSTALLED = re.compile(
    r"MONITOR_(STATE_DIR|DATABASE_URL|KAFKA__\w+|INGEST__DIALECT|LLM__(BASE_URL|API_KEY(_FILE)?|MODEL))"
)


def own(page: Path) -> Iterator[tuple[Block, Command]]:
    """The commands of a page that run here, not in a container."""
    for block in shell_blocks(page):
        for command in commands(block):
            if command.words[:1] not in {("docker",), ("kubectl",)}:
                yield block, command


@cache
def typed(page: Path) -> tuple[tuple[Block, Command, Mapping[str, str]], ...]:
    """The commands of `monitor` on a page, each with the settings that the page gives it."""
    found, exported = [], {}
    for block, command in own(page):
        exported = exported | command.exported
        if command.of_monitor is not None:
            given = {**exported, **command.environment}
            settings = {name: value for name, value in given.items() if not INSTALLED.fullmatch(name)}
            found.append((block, command, settings))
    return tuple(found)


def run_here(page: Path) -> list[tuple[Block, Command, Mapping[str, str]]]:
    """Those without a test of their own, and not word for word on an earlier page."""
    earlier = [(c.of_monitor, settings) for other in PAGES[: PAGES.index(page)] for _, c, settings in typed(other)]
    return [
        (block, command, settings)
        for block, command, settings in typed(page)
        if elsewhere(command.of_monitor) is None and (command.of_monitor, settings) not in earlier
    ]


def shown_below(block: Block, command: Command) -> str:
    """The output that a page shows right below a command, or below the block that the command ends."""
    after = block.text.splitlines()[command.line - block.line + 1 :]
    if block.language == "console":
        return "\n".join(takewhile(lambda line: not line.startswith("$"), after))
    if any(later.line > command.line for later in commands(block)):
        return ""
    below = block.line + block.text.count("\n") + 3  # behind a fence, an empty line, and another fence
    return next((b.text for b in blocks(ROOT / block.page) if b.line == below and b.language in {"", "text"}), "")


PAGES_RUN = [page for page in PAGES if run_here(page)]


@pytest.fixture(scope="module")
def model():
    """The model, loaded for all commands."""
    loaded = LoadedModel()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("monitor.assess.embed.minilm.MiniLMEmbedder", lambda *_, **__: loaded)
        yield
    loaded.unload()


def answered(request: ChatRequest) -> dict[str, Any]:
    """What the probes' judge says, and for others something in the form that they ask for."""
    try:
        return conversing(request)
    except KeyError:
        return json.loads(made_up(request))


@pytest.fixture(scope="module")
def servers():
    """Settings with a language model and a workspace of Slack."""
    with llm_server(answer=answered) as llm, slack_server() as slack:
        yield {
            "MONITOR_LLM__BASE_URL": llm.base_url,
            "MONITOR_LLM__API_KEY": KEY,
            "MONITOR_LLM__MODEL": CHAT_MODEL,
            "MONITOR_SLACK__BOT_TOKEN": TOKEN,
            "MONITOR_SLACK__CHANNEL": CHANNEL,
            "MONITOR_SLACK__API_URL": slack.url,
            "NO_PROXY": "127.0.0.1",
        }


@pytest.fixture(scope="module")
def stocked(model, servers, new_database, migrated_template, tmp_path_factory):  # noqa: ARG001  the model is for the commands
    """The name of the database, the state directory, what stands for words of the pages, and the time of it all."""
    folder, url, now = tmp_path_factory.mktemp("stock"), new_database(migrated_template), datetime.now(UTC)
    settings = {**servers, "MONITOR_DATABASE_URL": url, "MONITOR_STATE_DIR": str(folder / "state")}

    def command(*words, code=0):
        ended = run(words, settings)
        assert ended.code == code, ended
        return ended.out

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in settings.items():
            patch.setenv(name, value)
        known = stock(command, now)
    return url.rpartition("/")[2].partition("?")[0], folder / "state", known, now


@pytest.fixture
def follow(stocked, servers, databases, tmp_path, monkeypatch):
    """Runs a command of a page as somebody who reads it does; returns what is wrong, if anything."""
    template, state, known, now = stocked
    known = {**known, **PLACES}

    def filled(text):
        for word, real in known.items():
            text = text.replace(word, real)
        return moved(text, now)

    monkeypatch.syspath_prepend(tmp_path)  # the packages and chatbots of the pages
    before = set(sys.modules)
    shutil.copytree(state, tmp_path / "state")
    with databases.lent(template) as url:
        installed = {**servers, "MONITOR_DATABASE_URL": url, "MONITOR_STATE_DIR": str(tmp_path / "state")}

        def follow(block, command, settings):
            words = [name for word in map(filled, command.of_monitor) for name in expanded(word)]
            given = {name: filled(value) for name, value in settings.items()}
            sending, collects = Sending(), words[0] == "collect"
            ended = run(
                words,
                {**given, **installed, **sending.settings},
                typed="y\n",
                interactive="--interactive" in words,
                until=sending.done if collects else None,
            )
            if command.output is not None:
                Path(command.output).write_text(ended.out, encoding="utf-8")
            return problem(ended, shown_below(block, command)) or (sending.problem if collects else None)

        yield follow
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def expanded(word: str) -> list[str]:
    """The files that a shell puts in the place of a pattern."""
    return sorted(map(str, Path().glob(word))) if "*" in word else [word]


def problem(ended: Ended, shown_below: str) -> str | None:
    """What is wrong with a command that ended so, where its page shows this output."""
    said = ended.out + ended.err
    if ended.code != 0 or re.search("^(Traceback|Usage:)", said, re.MULTILINE):
        return f"exit code {ended.code}\n{said}"
    missing = [line for line in shown_below.splitlines() if beginning(line) not in said]
    return f"does not say {missing}\n{said}" if missing else None


def beginning(line: str) -> str:
    """The first word of a line of output, or its first name where it is JSON."""
    return re.split(r"(?<=[\w:])\s", line.removeprefix("…").strip(), maxsplit=1)[0]


class Sending:
    """Sends what a page shows, with its own `curl`, to a collector that starts on a free port."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.settings = {"MONITOR_COLLECT__PORT": str(self._port), "MONITOR_COLLECT__GRPC_PORT": "off"}
        self.problem: str | None = "nothing was sent"

    def done(self) -> bool:
        (curl,) = (command for _, command in own(SEND) if command.words[:1] == ("curl",))
        url, body = curl.words[1].replace("4318", str(self._port)), curl.words[-1]
        try:
            answer = httpx2.post(url, content=body, headers={"Content-Type": "application/json"})
        except httpx2.TransportError:
            return False
        (expected, *_) = (block.text for block in blocks(SEND) if block.language == "json" and "accepted" in block.text)
        self.problem = None if answer.json() == json.loads(expected) else answer.text
        return True


@pytest.mark.parametrize("page", PAGES_RUN, ids=shown)
def test_the_commands_of_a_page_do_what_they_are_for(page, stocked, follow):
    lay_files(page, stocked[-1])
    if "pip install ./acme-monitor" in page.read_text(encoding="utf-8"):
        install(page)
    plugins._points.cache_clear()
    failed = [
        f"{block.page}:{command.line}: {' '.join(command.words)}: {wrong}"
        for block, command, settings in run_here(page)
        if (wrong := follow(block, command, settings)) is not None
    ]
    plugins._points.cache_clear()
    assert not failed, "\n\n".join(failed)


@pytest.mark.parametrize("start", ELSEWHERE)
def test_what_has_a_test_of_its_own_is_on_a_page_and_its_test_runs_it(start):
    assert any(elsewhere(command.of_monitor) == start for page in PAGES for _, command, _ in typed(page))
    assert runs(ELSEWHERE[start], start)


def test_the_output_that_pages_show_is_found_with_its_command():
    found = {
        (block.page, command.of_monitor[0]): shown_below(block, command).split()[:1]
        for page in PAGES_RUN
        for block, command, _ in run_here(page)
        if shown_below(block, command)
    }
    assert found == {("docs/develop/extend.md", "doctor"): ["…"], ("docs/quality/rates.md", "rates"): ["support-bot:"]}
    wrong = problem(Ended(code=0, out="class  flagged\n", err=""), "class  flagged\nrefusal  4.0 %\n")
    assert wrong.startswith("does not say ['refusal  4.0 %']")
    assert problem(Ended(code=0, out="class  flagged\n", err=""), "class  shown\n") is None
    assert problem(Ended(code=0, out="", err="Traceback (most recent call last):\n"), "") is not None
