"""A generator that answers by script, and interactions without supporting documents."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.complete.sidecar import Explained, Regenerated
from monitor.assess.llm.exchange import Reply, Request, Spend
from monitor.core.model import Interaction
from tests.factories.assess.interactions import interaction

PATIENCE = 20.0  # seconds that a test waits for another thread when something is wrong
DOCUMENTS = ("The museum opens at nine. It closes at six.", "Dogs stay outside.\n\n“Children” get in   for free.")
MUSEUM = interaction("When does the museum open?", "It opens at nine.", DOCUMENTS)
EXTRACTIVE = ExtractiveCompleter()


class Generator:
    """A `LanguageModel` that says what `answer` makes of a question; an exception is raised."""

    model = "generator-1"

    def __init__(self, answer: Callable[[str], Any]) -> None:
        self.answer = answer
        self.asked: list[Request] = []
        self.deadlines: set[float | None] = set()
        self.answered = self.at_work = self.most_at_work = 0
        self.lock = Lock()

    def ask(self, request: Request, *, deadline: float | None = None) -> Reply:
        with self.lock:
            self.asked.append(request)
            self.deadlines.add(deadline)
            self.at_work += 1
            self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            found = self.answer(request.blocks[0].text)
        finally:
            with self.lock:
                self.at_work -= 1
        if isinstance(found, Exception):
            raise found
        value = found if isinstance(found, Regenerated) else Explained(supporting_documents=found)
        with self.lock:
            self.answered += 1
        return Reply(value=value, model=self.model, spend=Spend(calls=1))


def many(number: int, **given: Any) -> list[Interaction]:
    return [interaction(f"Question {n}?", "It opens at nine.", DOCUMENTS, id=f"i-{n}", **given) for n in range(number)]
