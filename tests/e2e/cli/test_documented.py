"""The commands of README.md and docs/ do what the pages say they do: each page's are run in the order of the page.

A page begins with a copy of one stocked database and with the files that the pages name. What a page exports holds for
the rest of its block. tests/unit/docs/test_commands.py looks at those that are not run.
"""

from __future__ import annotations

import re
import shutil
from functools import cache

import pytest

from tests.e2e.conftest import installed
from tests.rig.docs.pages import PAGES, Command, commands, shell_blocks
from tests.rig.docs.stock import lay_files, stock
from tests.unit.docs.test_links import shown

# What is only parsed, by the beginning of the command, and why.
NOT_RUN = {
    r"evaluate jan": "needs the profile of another page: tests/e2e/cli/review/test_evaluate.py",
    r"reference (freeze|show|compare)": "needs 500 answers of a model: tests/e2e/cli/test_reference.py",
    r"demo": "takes a minute: tests/e2e/cli/test_demo.py",
    r"run|serve|collect|consume": "goes on until it is stopped: tests/e2e/cli/test_run.py, tests/e2e/web",
    r"probe (run|agreement)": "needs a chatbot or a language model: tests/e2e/cli/probe",
    r"pending work": "needs a language model: tests/e2e/cli/test_pending.py",
    r"review next .*--interactive": "asks a person: tests/e2e/cli/review",
    r"erase .* (--reason|--tag)|deadletters purge|rescore .*--use": "asks a person: tests/e2e/cli",
    r"audit recover": "asks a person, after a restored backup: tests/e2e/cli/audit/test_audit_recovery.py",
    r"alerts test slack|report weekly --send": "needs a workspace of Slack: tests/e2e/cli/test_alerts.py",
    r"alerts forget": "needs a topic of Kafka: tests/e2e/cli/test_kafka.py",
    r"alerts simulate": "takes minutes: benchmarks/alerts/run.py",
    r"replay --dialect acme": "needs the package of the page: tests/integration/app/test_plugins.py",
    r"tokens revoke oidc:": "needs someone who signed in by OIDC: tests/integration/web/signin",
    r"decode (samples|answers\.csv|records|page-|spans\.pb)": "needs the page's files: tests/unit/docs/test_forms.py",
}
# What ends with 1, as its page says.
LEFT_OVER = {r"deadletters retry 17": "these dead letters are still no interactions"}
# Settings of a page that name something which is not there.
ELSEWHERE = re.compile(
    r"MONITOR_(STATE_DIR|DATABASE_URL|KAFKA|LLM|SIDECAR|JUDGE|LOOKUP|DETECTOR|RERANKER|INGEST|EMBEDDING|PROBES|PROFILE)"
)


def why_not(words: tuple[str, ...]) -> str | None:
    line = re.sub(r"^(--[\w-]+ \S+ )+", "", " ".join(words))  # what stands before the command
    return next((why for start, why in NOT_RUN.items() if re.match(start, line)), None)


def runnable(page):
    """The commands of a page that are run, each with what its block has exported.

    A command that stands word for word on an earlier page is not run again.
    """
    earlier = {words for other in PAGES[: PAGES.index(page)] for _, words, _, _ in every(other)}
    yield from (found for found in every(page) if found[1] not in earlier)


@cache
def every(page):
    return tuple(_every(page))


def _every(page):
    for block in shell_blocks(page):
        exported: dict[str, str] = {}
        for command in commands(block):
            exported |= command.exported
            words = command.of_monitor
            if words is not None and why_not(words) is None and not {"docker", "kubectl"} & set(command.words):
                yield block.place, words, {**exported, **command.environment}, command


def settings_of(environment):
    kept = {name: value for name, value in environment.items() if not ELSEWHERE.match(name)}
    return {name.removeprefix("MONITOR_"): value for name, value in kept.items() if name.startswith("MONITOR_")}


@pytest.fixture(scope="module")
def stocked(encoder_cache, new_database, migrated_template, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stock")
    url = new_database(migrated_template)
    installation = installed(encoder_cache, folder, DATABASE_URL=url)
    stock(installation, url, folder / "state")
    installation.close()
    return url.rpartition("/")[2].partition("?")[0], folder / "state"


@pytest.fixture
def reader(stocked, databases, encoder_cache, tmp_path):
    """Someone who reads a page and types what it says."""
    template, state = stocked
    with databases.lent(template) as url:
        shutil.copytree(state, tmp_path / "state", symlinks=True, dirs_exist_ok=True)
        (tmp_path / "state" / "cache").unlink()
        installation = installed(encoder_cache, tmp_path, DATABASE_URL=url)
        lay_files(tmp_path)
        yield Reader(installation)
        installation.close()


class Reader:
    """Replaces the id of a silence, which is made anew each time."""

    def __init__(self, installation) -> None:
        self.installation = installation

    def follow(self, words: tuple[str, ...], environment: dict[str, str], command: Command) -> str:
        done = self.installation.run(*map(self._known, words), **settings_of(environment))
        if command.output is not None:
            (self.installation.folder / command.output).write_text(done.stdout, encoding="utf-8")
        expected = any(re.match(start, " ".join(words)) for start in LEFT_OVER)
        return "" if done.returncode == expected else f"exit code {done.returncode}\n{done.stdout}{done.stderr}"

    def _known(self, word: str) -> str:
        return self.installation.json("alerts", "silences")[0]["id"] if word == "0f3a…" else word


@pytest.mark.parametrize("page", [page for page in PAGES if any(runnable(page))], ids=shown)
def test_the_commands_of_a_page_do_what_they_are_for(page, reader):
    failed = [
        f"{place}: monitor {' '.join(words)}: {problem}"
        for place, words, environment, command in runnable(page)
        if (problem := reader.follow(words, environment, command))
    ]
    assert failed == []


def test_what_is_not_run_is_still_on_a_page():
    lines = [
        " ".join(words)
        for page in PAGES
        for block in shell_blocks(page)
        for command in commands(block)
        if (words := command.of_monitor) is not None
    ]
    assert [start for start in NOT_RUN if not any(re.match(start, line) for line in lines)] == []
