"""A long batch is encoded and scored in groups: nothing of that shows in the result."""

from __future__ import annotations

from collections import Counter

import pytest

from monitor.assess.classify.profile import load_profile
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.detect.detection import Detection
from monitor.assess.embed.cache import CachedEmbedder, CachedTokenEncoder
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.pipeline import AT_A_TIME, Pipeline
from monitor.core.errors import Retriable
from tests.factories.assess.interactions import interaction

DOCUMENTS = ["Parking costs two euros per hour. Bicycles are free.", "The museum opens at ten. Dogs stay outside."]


def asked(count):
    return [
        interaction(f"What does parking space {n} cost?", f"Space {n} costs two euros per hour.", DOCUMENTS, id=str(n))
        for n in range(count)
    ]


class Counting(HashEmbedder):
    """Counts how often each text is encoded, and fails where it is told to."""

    def __init__(self):
        super().__init__()
        self.passes, self.calls, self.failures = Counter(), 0, {}

    def encode(self, texts):
        self.calls += 1
        if error := self.failures.pop(self.calls, None):
            raise error
        self.passes.update(texts)
        return super().encode(texts)


def pipeline(encoder=None, **given):
    model = encoder or Counting()
    embedder = CachedEmbedder(model, 2**24)
    return Pipeline(
        completer=ExtractiveCompleter(),
        encoder=CachedTokenEncoder(model, 2**24, embedder=embedder),
        embedder=embedder,
        profile=load_profile("hash", "hash/64", "hash/64"),
        **given,
    )


@pytest.mark.parametrize("size", [1, 3, 10, 64])
def test_the_assessments_do_not_depend_on_the_groups(size):
    batch = asked(10)
    assert pipeline(at_a_time=size).assess(batch) == pipeline(at_a_time=10).assess(batch)


def test_the_order_is_kept_over_many_groups():
    batch = asked(2 * AT_A_TIME + 1)
    assert [a.interaction for a in pipeline().assess(batch)] == batch


def test_twice_as_many_answers_take_twice_as_many_passes_and_documents_are_encoded_once():
    once, twice = Counting(), Counting()
    pipeline(once, at_a_time=4).assess(asked(8))
    pipeline(twice, at_a_time=4).assess(asked(16))
    assert set(twice.passes.values()) == {1}
    of_documents = len(DOCUMENTS)
    assert twice.passes.total() - of_documents == 2 * (once.passes.total() - of_documents)


def test_a_provider_that_fails_in_a_later_group_fails_the_batch_and_the_next_try_encodes_only_the_rest():
    model = Counting()
    model.failures = {2: Retriable("away")}
    flow = pipeline(model, at_a_time=4)
    with pytest.raises(Retriable, match="away"):
        flow.assess(asked(8))
    assert [a.interaction.id for a in flow.assess(asked(8))] == [str(n) for n in range(8)]
    assert set(model.passes.values()) == {1}


class Failing:
    """A detector that fails on its second call."""

    model = "failing"

    def __init__(self):
        self.calls = 0

    def detect(self, claims):
        self.calls += 1
        if self.calls == 2:
            raise Retriable("no memory")
        return [Detection(score=0.5, spans=())] * len(claims)


def test_a_failure_in_a_later_group_ends_the_work_and_the_next_try_encodes_only_the_rest():
    model = Counting()
    flow = pipeline(model, at_a_time=4, detector=Failing())
    with pytest.raises(Retriable, match="no memory"):
        flow.assess(asked(16))
    assert model.calls == 2  # no other group was begun
    assert len(flow.assess(asked(16))) == 16
    assert set(model.passes.values()) == {1}
