"""What makes an answer from texts: the model that is configured, or a scripted reader."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.study.language_model import CachedAnswers, ask_all
from benchmarks.study.questions import Question
from monitor.app.wiring.application import utc_now
from monitor.app.wiring.models import chat_model
from monitor.assess.llm.endpoint import DEFAULT_BASE_URL
from monitor.assess.llm.exchange import Purpose, Spend
from monitor.core.settings.load import Settings
from monitor.core.text.sentences import sentences
from monitor.simulate.fakes.flow import MemoryBudget

K1, B = 1.5, 0.75  # BM25's usual constants (Robertson and Zaragoza, 2009)
SCRIPTED = "scripted: the sentences nearest to the question by BM25; no language model"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A question with the texts that its answer is to be made from; `sentences` is how many the reference takes."""

    id: str
    question: str
    texts: tuple[str, ...]
    sentences: int


class Reader(Protocol):
    """Answers questions from texts."""

    @property
    def name(self) -> str:
        """What the table says of who answers."""

    def answers(self, contexts: Sequence[Context]) -> list[str | None]:
        """An answer to each question, in order; empty without texts, None if the model gives none."""

    def spent(self) -> Mapping[str, int]:
        """Calls and tokens so far, as the server counts them."""


class ScriptedReader:
    """Copies the sentences that are nearest to the question, in their order; it understands nothing.

    So it never declines, is not led astray by what a sentence says, and has no limit on its attention: it shows
    whether the sentence that answers is still there after filtering, and whether noise outranks it, and no more.
    """

    name = SCRIPTED

    def answers(self, contexts: Sequence[Context]) -> list[str | None]:
        return [_nearest(context) for context in contexts]

    def spent(self) -> Mapping[str, int]:
        return {}


class ModelReader:
    """The model of `MONITOR_LLM__…`, by the study's prompt; answers are cached in `folder`."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        """Raises WrongSettings if the settings name no model or no key."""
        self._budget = MemoryBudget()
        self._chat = chat_model(settings, Purpose.SIDECAR, self._budget, utc_now)
        self._cached = CachedAnswers(self._chat, folder, server=settings.llm.base_url or DEFAULT_BASE_URL)
        self._concurrency = settings.sidecar.concurrency
        self.name = self._chat.model

    def answers(self, contexts: Sequence[Context]) -> list[str | None]:
        asked = [
            Question(id=c.id, text=c.question, documents=c.texts, answerable=True, group=c.id)
            for c in contexts
            if c.texts
        ]
        given = iter(ask_all(asked, self._cached, concurrency=self._concurrency))
        found = [next(given) if context.texts else "" for context in contexts]
        return [one if one is None or isinstance(one, str) else one.answer for one in found]

    def spent(self) -> Mapping[str, int]:
        spend = self._budget.counted.get(Purpose.SIDECAR, Spend())
        return {"calls": spend.calls, "input_tokens": spend.input_tokens, "output_tokens": spend.output_tokens}

    def close(self) -> None:
        self._chat.close()


def _nearest(context: Context) -> str:
    candidates = [sentence for text in context.texts for sentence in sentences(text)]
    scores = bm25(context.question, candidates)
    best = sorted(range(len(candidates)), key=lambda place: -scores[place])[: context.sentences]
    return " ".join(candidates[place] for place in sorted(best))


def bm25(question: str, texts: Sequence[str]) -> list[float]:
    """Okapi BM25 of each text, with these texts as the collection; 0 where no word is shared."""
    held = [Counter(_words(text)) for text in texts]
    mean = sum(sum(counts.values()) for counts in held) / max(len(held), 1) or 1.0
    seen_in = Counter(word for counts in held for word in counts)
    found = []
    for counts in held:
        norm = K1 * (1 - B + B * sum(counts.values()) / mean)
        found.append(
            math.fsum(
                math.log1p((len(held) - seen_in[word] + 0.5) / (seen_in[word] + 0.5))
                * counts[word]
                * (K1 + 1)
                / (counts[word] + norm)
                for word in {*_words(question)}
                if word in counts
            )
        )
    return found


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
