"""Events of growing size through decoding, redaction, the whole pipeline and into rows: time per kB stays flat."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from random import Random
from typing import Any

import pytest

from monitor.assess.classify.profile import load_profile
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.pipeline import Pipeline
from monitor.core.text.personal_data import PersonalData
from monitor.ingest.decode import Decoder, TopicDecoder
from monitor.privacy.redaction.redactor import redactor
from monitor.store.interaction.rows import assessment_row, interaction_row
from tests.factories.answers import a_message
from tests.factories.assess.interactions import NOON
from tests.rig.assess.shapes import SHAPES, parts, reworded
from tests.rig.assess.timing import seconds

SIZES = (16_000, 64_000)  # characters
FLAT = 4.0  # times the time per kB, from the quickest size to the slowest
SOON = 0.002  # seconds per kB that need no comparison: 2 s for a text of a million characters
EVENT = {
    "id": "1",
    "question": "What does parking cost per hour?",
    "answer": "Parking costs two euros per hour. The museum opens at ten.",
    "retrieved_documents": ["Parking costs two euros per hour. The museum opens at nine."],
}


FIELDS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "question": lambda text: {"question": text},
    "answer": lambda text: {"answer": text},
    "a document": lambda text: {"retrieved_documents": [text]},
    "many documents": lambda text: {"retrieved_documents": parts(text, 200)},
    "answer and document": lambda text: {"answer": text, "retrieved_documents": [text]},
    "question and documents": lambda text: {"question": text, "retrieved_documents": parts(text, 200)},
    "answer and documents": lambda text: {"answer": text, "retrieved_documents": parts(text, 200)},
    "a paraphrase": lambda text: {"supporting_documents": [reworded(text)], "retrieved_documents": [text]},
    "many pieces": lambda text: {
        "supporting_documents": [reworded(part) for part in parts(text, 150)],
        "retrieved_documents": parts(text, 200),
    },
    "reference": lambda text: {"reference_answer": text},
    "tags": lambda text: {"tags": {str(n): part[:1_000] for n, part in enumerate(parts(text, 1_000)[:64])}},
    "metadata": lambda text: {"retrieved_documents": [{"text": "a", "metadata": {"m": parts(text, 100)[:900]}}]},
    "unknown fields": lambda text: {"more": {"and": parts(text, 1)[:900]}, "most": text},
}


@pytest.fixture(scope="module")
def through() -> Callable[[bytes], None]:
    """Takes an event all the way, without a database."""
    embedder = HashEmbedder()
    pipeline = Pipeline(
        completer=ExtractiveCompleter(),
        encoder=embedder,
        embedder=embedder,
        profile=load_profile("hash", "hash/64", "hash/64"),
    )
    decoder = TopicDecoder(Decoder(), {}, redactor(set(PersonalData), ["DE", "US"]))

    def all_the_way(event: bytes) -> None:
        interactions, dead, _ = decoder.decode_batch([a_message(event)])
        assert not dead
        for assessment in pipeline.assess(interactions):
            interaction_row(assessment.interaction, NOON)
            assessment_row(assessment)

    return all_the_way


def seconds_per_kilobyte(through: Callable[[bytes], None], event: bytes) -> float:
    return seconds(partial(through, event)) / len(event) * 1_000


@pytest.mark.parametrize("field", list(FIELDS))
def test_time_per_kilobyte_is_flat(field, through):
    chance = Random(f"sizes of {field}")
    slow = {}
    for shape in chance.sample(sorted(SHAPES), 4):
        least = inf
        for _ in range(3):  # others compute too
            events = [json.dumps({**EVENT, **FIELDS[field](SHAPES[shape](size))}).encode() for size in SIZES]
            spent = [max(seconds_per_kilobyte(through, event), SOON) for event in events]
            least = min(least, spent[-1] / min(spent))
            if least <= FLAT:
                break
        if least > FLAT:
            slow[shape] = least
    assert slow == {}
