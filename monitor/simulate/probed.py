"""The support bot under a probe: its golden set, two versions of it, its retriever, and a judge that knows the truth.

The functions are targets of kind `python`. Version `2026-11` got worse: it makes up a third of its answers, and says of
some more that it does not know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any, Final

from typing_extensions import override

from monitor.assess.llm.exchange import Reply, Request, Spend, T
from monitor.assess.ports import LanguageModel

GOLDEN: Final = "quillmere"
BEFORE, AFTER = "2026-10", "2026-11"
_ITEMS = 40
_MADE_UP, _UNKNOWN = 0.33, 0.42  # up to which share of its answers the worse version makes them up, or does not know
_SCORES: Final = {"grounded": 5, "fabricated": 1, "refusal": 0}


def golden_questions() -> list[dict[str, Any]]:
    """Forty questions from all topics: `id`, `topic`, `question`, and its right answers, `grounded`."""
    return _questions()[:: len(_questions()) // _ITEMS][:_ITEMS]


def as_before(question: str, *_: object) -> dict[str, Any]:
    """The answer of version `BEFORE`: right, in other words than the reference where it has some."""
    return {"answer": _asked(question)["grounded"][-1], "version": BEFORE}


def got_worse(question: str, *_: object) -> dict[str, Any]:
    """The answer of version `AFTER`."""
    asked = _asked(question)
    chance = int.from_bytes(sha256(question.encode()).digest()[:4], "big") / 2**32
    answer = asked["grounded"][-1]
    if chance < _MADE_UP:
        answer = asked["fabricated"][0]
    elif chance < _UNKNOWN:
        answer = _refusals()[0].format(subject=asked["topic"])
    return {"answer": answer, "version": AFTER}


def retriever(question: str, *_: object) -> dict[str, Any]:
    """The passages that hold the answer; the reference stands below the question."""
    named = _asked(question.partition("\n")[0])["passages"]
    return {"answer": "", "documents": [f"{p['title']}\n\n{p['text']}" for p in _passages() if p["id"] in named]}


class SimulatedJudge(LanguageModel):
    """Grades the bot's answers by what it knows of them; no language model is behind it."""

    @property
    @override
    def model(self) -> str:
        return "simulated"

    @override
    def ask(self, request: Request[T], *, deadline: float | None = None) -> Reply[T]:
        texts = {block.name: block.text for block in request.blocks}
        asked = _asked(texts["question"])
        kind = "refusal"
        for known in ("grounded", "fabricated"):
            if texts["answer"] in asked[known]:
                kind = known
        said = {
            "grounded": "It says what the reference says.",
            "fabricated": "It names things that the reference does not know.",
            "refusal": "It says that it does not know.",
        }
        value = request.prompt.form.model_validate({"feedback": said[kind], "score": _SCORES[kind]})
        return Reply(value=value, model=self.model, spend=Spend(calls=1))


def _asked(question: str) -> Mapping[str, Any]:
    return next(asked for asked in _questions() if asked["question"] == question)


@cache
def _questions() -> list[dict[str, Any]]:
    return _lines("questions.jsonl")


@cache
def _passages() -> list[dict[str, Any]]:
    return _lines("passages.jsonl")


def _lines(name: str) -> list[dict[str, Any]]:
    text = (resources.files("monitor.simulate") / "knowledge" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _refusals() -> list[str]:
    found: list[str] = json.loads(
        (resources.files("monitor.simulate") / "knowledge" / "refusals.json").read_text(encoding="utf-8")
    )
    return found
