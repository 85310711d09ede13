"""A bench for each kind of target: a chatbot behind it that a test scripts, and what that chatbot has heard."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import uuid4

from monitor.probe.target import Target
from monitor.probe.targets.form import TargetForm
from tests.servers.chatbot import KEY, Chatbot, Says

Heard = tuple[str, Sequence[Mapping[str, str]], str]  # question, earlier messages, mark

# A chatbot in Python: a module with a function, and a command. Both have their key from the environment.
SCRIPT: Final = """
import json, os, sys, time
from pathlib import Path

HERE = Path(__file__).parent

def answer(question, history, conversation):
    with (HERE / "heard.jsonl").open("a") as heard:
        heard.write(json.dumps([question, history, conversation]) + chr(10))
    script = json.loads((HERE / "script.json").read_text())
    if script == "hangs":
        time.sleep(600)  # longer than any test waits
    if script == "fails":
        print(script, os.environ["CHATBOT_API_KEY"])
        raise LookupError(os.environ["CHATBOT_API_KEY"])
    return script["says"]

if __name__ == "__main__":
    said = answer(**json.load(sys.stdin))
    print(said if isinstance(said, str) else json.dumps(said))
"""


def _place(*keys):
    return f"probes.yaml: {'.'.join(map(str, keys))}"


class TargetBench(Protocol):
    """One kind of target. `says` scripts the next answer: a text, or an object with `answer`."""

    tells_documents: bool
    place: str  # begins so

    def says(self, said: Any) -> None: ...

    def hangs(self) -> None: ...

    def fails(self) -> None:
        """The next answer is a failure that repeats the key."""

    def target(self, *, timeout: float) -> Target: ...

    @property
    def heard(self) -> Sequence[Heard]: ...


class _OverHttp:
    place = "http http://127.0.0.1:"

    def __init__(self, bot: Chatbot, _: Path) -> None:
        self._bot = bot

    def hangs(self) -> None:
        self._bot.script.append(Says(hangs=True))

    def fails(self) -> None:
        self._bot.script.append(Says(status=400, body=f"what? {KEY}"))


class Http(_OverHttp):
    """An HTTP API of the team's own."""

    tells_documents = True

    def says(self, said: Any) -> None:
        self._bot.script.append(Says(body=json.dumps({"answer": said} if isinstance(said, str) else said)))

    def target(self, *, timeout: float) -> Target:
        http = {
            "url": f"{self._bot.url}/ask?token={KEY}",
            "headers": {"Authorization": f"Bearer {KEY}"},
            "body": {"q": "Please: {question}", "before": "{history}", "id": "{conversation}"},
            "answer": "$.answer",
            "documents": "$.documents[*]",
            "version": "$.version",
        }
        return TargetForm.model_validate({"http": http}).target(timeout=timeout, per_second=None, place=_place)

    @property
    def heard(self) -> Sequence[Heard]:
        return [(one.body["q"].removeprefix("Please: "), one.body["before"], one.body["id"]) for one in self._bot.asked]


class Chat(_OverHttp):
    """Chat completions, which tell no documents."""

    tells_documents = False

    def says(self, said: Any) -> None:
        content, version = (said, "v7") if isinstance(said, str) else (said.get("answer"), said.get("version"))
        message = {"role": "assistant", "content": content}
        self._bot.script.append(Says(body=json.dumps({"model": version, "choices": [{"message": message}]})))

    def target(self, *, timeout: float) -> Target:
        chat = {
            "base_url": f"{self._bot.url}/v1/",
            "model": "m",
            "api_key": KEY,
            "system": "Be kind.",
            "extra": {"seed": 1},
        }
        return TargetForm.model_validate({"chat": chat}).target(timeout=timeout, per_second=None, place=_place)

    @property
    def heard(self) -> Sequence[Heard]:
        found = []
        for one in self._bot.asked:
            assert one.path == "/v1/chat/completions"
            assert (one.body["model"], one.body["seed"]) == ("m", 1)
            system, *before, asked = one.body["messages"]
            assert system == {"role": "system", "content": "Be kind."}
            assert asked["role"] == "user"
            found.append((asked["content"], before, one.body["user"]))
        return found


class _InPython:
    tells_documents = True

    def __init__(self, _: Chatbot, folder: Path) -> None:
        self._folder = folder
        self._module = f"chatbot_{uuid4().hex}"  # modules stay loaded, and ids come again
        (folder / f"{self._module}.py").write_text(SCRIPT, encoding="utf-8")

    def _script(self, script: Any) -> None:
        (self._folder / "script.json").write_text(json.dumps(script), encoding="utf-8")

    def says(self, said: Any) -> None:
        self._script({"says": said})

    def hangs(self) -> None:
        self._script("hangs")

    def fails(self) -> None:
        self._script("fails")

    @property
    def heard(self) -> Sequence[Heard]:
        lines = (self._folder / "heard.jsonl").read_text(encoding="utf-8").splitlines()
        return [(question, history, mark) for question, history, mark in map(json.loads, lines)]


class Function(_InPython):
    """A function of a module; the folder has to be on the path."""

    place = "python chatbot_"

    def target(self, *, timeout: float) -> Target:
        return TargetForm(python=f"{self._module}:answer").target(timeout=timeout, per_second=None, place=_place)


class Command(_InPython):
    place = f"command {sys.executable}"

    def target(self, *, timeout: float) -> Target:
        command = [sys.executable, "-S", str(self._folder / f"{self._module}.py")]
        return TargetForm(command=command).target(timeout=timeout, per_second=None, place=_place)


BENCHES: Final[Mapping[str, type[Http | Chat | Function | Command]]] = {
    "http": Http,
    "chat": Chat,
    "python": Function,
    "command": Command,
}
