"""The commands of the pages that have tests of their own, and what those tests must be for that to be true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.rig.installation import ROOT

# What goes on until it is told to stop, takes long, or needs Kafka: the beginning of the command, and the test.
ELSEWHERE = {
    "alerts simulate": "tests/e2e/cli/test_rules.py::test_rules_are_played_simulated_weeks",
    "consume": "tests/e2e/cli/test_kafka.py::test_a_span_is_assessed_anew_and_explained_beside_the_live_verdict",
    "demo": "tests/e2e/cli/test_demo.py::"
    "test_the_demo_shows_one_alert_come_and_go_and_another_that_fires_and_leaves_nothing_behind",
    "run": "tests/e2e/cli/test_run.py::test_a_file_is_followed_as_it_grows_and_nothing_is_lost_on_sigterm",
    "serve": "tests/e2e/web/test_serve.py::test_it_serves_this_machine_until_it_is_told_to_stop",
}
_OPTION = re.compile(r"--[\w-]+ \S+ ")  # each that stands before a command takes a value


def elsewhere(words: tuple[str, ...]) -> str | None:
    """The beginning of the command by which ELSEWHERE has it, if it has."""
    line = " ".join(words)
    while match := _OPTION.match(line):
        line = line[match.end() :]
    return next((start for start in ELSEWHERE if f"{line} ".startswith(f"{start} ")), None)


def runs(test: str, command: str) -> bool:
    """Whether there is such a test, and it, or what it uses of its file, runs the command."""
    path, _, name = test.partition("::")
    file = ROOT / path
    source = file.read_text(encoding="utf-8") if file.exists() else ""
    words = r'(?:",\s*"| )'.join(map(re.escape, command.split()))
    return any(re.search(rf'(?:"|monitor ){words}["\s]', text) for text in _texts(source, name))


def _texts(source: str, name: str) -> Iterator[str]:
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    wanted, seen = [name], set()
    while wanted:
        if (found := functions.get(wanted.pop())) is not None and found.name not in seen:
            seen.add(found.name)
            wanted += [argument.arg for argument in found.args.args]
            wanted += [node.id for node in ast.walk(found) if isinstance(node, ast.Name)]
            yield ast.get_source_segment(source, found) or ""
