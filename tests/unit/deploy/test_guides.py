"""The commands of the guides to Docker, Kubernetes and systemd exist, and so does what they name."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest

from tests.rig.commands import ROOT
from tests.rig.deploy.kubernetes import build
from tests.rig.deploy.process import wrong_use
from tests.unit.deploy.test_compose import OURS, SERVICES

SHELL = re.compile(r"^ *```sh\n(?P<lines>.*?)^ *```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"(?:/opt/[\w.$-]+/bin/|rag-)?monitor")
IN_CONTAINER = {"exec", "run"}


def lines(guide):
    text = (ROOT / f"docs/operate/{guide}.md").read_text(encoding="utf-8")
    for block in SHELL.finditer(text):
        for line in block["lines"].replace("\\\n", " ").splitlines():
            yield from (part.strip() for part in re.split(r" && | \| ", line) if part.strip())


def commands(guide):
    """The words after `monitor` in each line that runs it: here, in a container, or as a container."""
    for line in lines(guide):
        words = [word for word in shlex.split(line, comments=True) if word not in {">", "<"}]
        if words[:2] == ["docker", "compose"]:
            action = next((word for word in words if word in IN_CONTAINER), None)
            if action is None:
                continue
            rest = [word for word in words[words.index(action) + 1 :] if word not in {"-T", "--rm"}]
            assert rest[0] in SERVICES, line
            if action == "run":
                assert rest[0] in OURS, line
                yield rest[1:]
            elif rest[1] == "monitor":
                yield rest[2:]
        elif words[:1] == ["kubectl"]:
            inside = words[words.index("--") + 1 :] if "--" in words else []
            if inside[:1] == ["monitor"]:
                yield inside[1:]
        else:
            at = next((number for number, word in enumerate(words) if PROGRAM.fullmatch(word)), None)
            if at is not None and all("=" in word for word in words[:at]):
                yield words[at + 1 :]


COMMANDS = [(guide, words) for guide in ("docker", "kubernetes", "systemd") for words in commands(guide)]


@pytest.mark.parametrize(("guide", "words"), COMMANDS, ids=lambda value: value if isinstance(value, str) else value[0])
def test_a_command_of_a_guide_exists(guide, words):
    assert wrong_use(words) is None, guide


def test_the_commands_of_every_guide_were_found():
    found = {guide: [words[0] for given, words in COMMANDS if given == guide] for guide, _ in COMMANDS}
    assert {"doctor", "alerts", "explain", "tokens", "audit", "consume"} <= set(found["docker"])
    assert {"doctor", "tokens", "audit"} <= set(found["kubernetes"])
    assert {"doctor", "health", "migrate", "audit", "alerts"} <= set(found["systemd"])


def test_what_the_guide_to_kubernetes_names_is_built(tmp_path):
    shutil.copytree(ROOT / "deploy/kubernetes", tmp_path / "deploy/kubernetes")
    (copying,) = (line for line in lines("kubernetes") if line.startswith("cp "))
    subprocess.run(shlex.split(copying), check=True, cwd=tmp_path)
    folders = set(re.findall(r"apply -k (\S+)", "\n".join(lines("kubernetes"))))
    assert folders == {(ours := shlex.split(copying)[-1]), f"{ours}/migrate"}
    built = [one for folder in sorted(folders) for one in build(tmp_path / folder)]
    objects = {f"{one['kind'].lower()}/{one['metadata']['name']}" for one in built}
    text = "\n".join(lines("kubernetes")).replace("deploy/monitor-", "deployment/monitor-")
    named = set(re.findall(r"(?:deployment|job)/monitor-[a-z]+", text))
    assert named
    assert named <= objects
    assert "--selector app.kubernetes.io/name=rag-monitor" in text
    labels = [one["metadata"]["labels"] for one in built if one["kind"] == "Deployment"]
    assert labels
    assert all(label["app.kubernetes.io/name"] == "rag-monitor" for label in labels)
