"""A model of few rules that judges, composes and asks on: it reads the data of each request, as a real one would.

Give `conversing` to the scripted server as its `answer`. It is told by the form asked for which role it plays.
"""

from __future__ import annotations

import re
from typing import Any

from tests.servers.llm.chat import ChatRequest

FOLLOW_UPS = ("Can you be more specific?", "What exactly applies here?", "Is there anything to add?", "Anything else?")
UNSURE = "do not know"
_BLOCK = re.compile(r"<([\w-]+) ([0-9a-f]+)>\n(.*?)\n</\1 \2>", re.DOTALL)
_LINE = re.compile(r"^([QA])\d+: (.*(?:\n    .*)*)", re.MULTILINE)
_WORD = re.compile(r"\w+")


def conversing(request: ChatRequest) -> dict[str, Any]:
    """The answer in the form asked for."""
    blocks = {name: text for name, _, text in _BLOCK.findall(request.user)}
    fields = (request.schema or {}).get("properties", {})
    if "score" in fields:
        return {"feedback": f"Beside {blocks['reference']}", "score": score(blocks["answer"], blocks["reference"])}
    if "next_question" in fields:
        asked = sum(mark == "Q" for mark, _ in _LINE.findall(blocks["conversation"]))
        return {
            "ask": asked <= len(FOLLOW_UPS),
            "next_question": [*FOLLOW_UPS, ""][min(asked, len(FOLLOW_UPS) + 1) - 1],
        }
    if "sample" in blocks:
        return {"answer": blocks["answer"].split("\n")[-1]}
    return {"answer": composed([text for mark, text in _LINE.findall(blocks["conversation"]) if mark == "A"])}


def score(answer: str, reference: str) -> int:
    """5 for all words of the reference and no other figure, 3 for most of its words, 0 for not knowing, else 1."""
    if UNSURE in answer:
        return 0
    said, wanted = set(_WORD.findall(answer.lower())), set(_WORD.findall(reference.lower()))
    figures = {word for word in said if word.isdigit()}
    if wanted <= said and figures <= wanted:
        return 5
    return 3 if 2 * len(wanted & said) > len(wanted) else 1


def composed(answers: list[str]) -> str:
    """What the chatbot said, each thing once and without what it does not know."""
    known = [answer for answer in dict.fromkeys(answers) if UNSURE not in answer]
    return "\n".join(known or answers[-1:])
