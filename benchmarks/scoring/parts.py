"""Times the verdict of one interaction that has its vectors, and each part of it, for `run.py`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from monitor.assess.classify.profile import Profile
from monitor.assess.classify.refusal import Role, read_answer
from monitor.assess.classify.verdict import classify
from monitor.assess.embed.batch import EncodedInteraction
from monitor.assess.score import features
from monitor.assess.score.alignment import Source
from monitor.assess.score.facts import FactIndex
from monitor.assess.score.features import AnswerPart
from monitor.core.model import Interaction, Metrics, Support

Ready = tuple[Interaction, Support, EncodedInteraction, Metrics]


def score(ready: Ready, profile: Profile) -> None:
    """The steps of `Pipeline` for one interaction once it has its vectors."""
    it, support, encoded, metrics = ready
    reading = read_answer(it.answer, it.question)
    judged = [AnswerPart(s.start, s.end, s.role is Role.CONTENT) for s in reading.sentences]
    classify(
        it, support, metrics, reading, features.gather_evidence(it, support, metrics, encoded, judged), profile=profile
    )


class Stopwatch:
    """CPU seconds inside wrapped calls."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            begin = time.process_time()
            try:
                return call(*args, **kwargs)
            finally:
                self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - begin

        return timed


@contextmanager
def watched(watch: Stopwatch) -> Iterator[None]:
    """Measures the parts of `score` during the block."""
    here = sys.modules[__name__]
    places: list[tuple[Any, str, str]] = [
        (features, "overlap", "overlap"),
        (features, "facts", "facts"),
        (features, "not_held", "facts"),
        (features, "contradicts", "contradictions"),
        (FactIndex, "of", "facts"),
        (Source, "of", "alignment"),
        (Source, "align", "alignment"),
        (Source, "support", "alignment"),
        (here, "read_answer", "reading the answer"),
        (here, "classify", "verdict"),
    ]
    before = [vars(owner)[name] for owner, name, _ in places]
    for owner, name, part in places:
        timed = watch.wrap(part, getattr(owner, name))
        setattr(owner, name, staticmethod(timed) if name == "of" else timed)
    try:
        yield
    finally:
        for (owner, name, _), old in zip(places, before, strict=True):
            setattr(owner, name, old)


def cpu_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin
