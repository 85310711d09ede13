from __future__ import annotations

import numpy as np
import pytest

from benchmarks.study.extractive import GeneratedAnswer
from benchmarks.study.questions import Question
from benchmarks.study.scoring import UNDEFINED, scored
from tests.factories.assess.interactions import TableEmbedder

EMBEDDER = TableEmbedder(
    {
        "Where?": (1, 0, 0),
        "Here. There.": (0, 1, 0),
        "Here.": (1, 1, 0),
        "There.": (0, 0, 1),
        "I do not know.": (0, 0, 1),
        "Elsewhere.": (0, 1, 1),
    }
)
QUESTION = Question(id="1", text="Where?", documents=("Here. There.",), answerable=False, group="g")


def answered(text: str, *support: str, declined: bool = False) -> GeneratedAnswer:
    return GeneratedAnswer(answer=text, support=support, declined=declined)


def test_the_support_that_the_generator_names_is_scored():
    found = scored([QUESTION], [answered("Here.", "Elsewhere.")], EMBEDDER, named=True)

    sdq, sdrd, sda, qrd, qa = found.similarities[0]
    assert (sdq, qrd) == (0, 0)
    assert sdrd == pytest.approx(np.sqrt(0.5), abs=1e-6)
    assert sda == pytest.approx(0.5)
    assert qa == pytest.approx(np.sqrt(0.5), abs=1e-6)


def test_support_is_extracted_where_the_generators_does_not_count():
    found = scored([QUESTION], [answered("Here.", "Elsewhere.")], EMBEDDER, named=False)

    assert found.similarities[0, 2] == 1  # the sentence that the answer is


def test_an_answer_without_support_is_below_every_threshold():
    found = scored([QUESTION], [answered("Here.")], EMBEDDER, named=True)

    assert found.similarities[0, :3].tolist() == [UNDEFINED] * 3
    assert found.below(("sda",), -0.99).tolist() == [True]
    assert found.worst(("qrd", "qa")).tolist() == [0]


def test_what_the_generator_says_and_what_the_monitor_reads_stand_side_by_side():
    answers = [
        answered("I do not know.", "Here.", declined=True),
        answered("Here.", "Here."),
        answered("Here.", "Here.", declined=True),
    ]

    found = scored([QUESTION] * 3, answers, EMBEDDER, named=True)

    assert found.declined.tolist() == [True, False, True]
    assert found.worded.tolist() == [True, False, False]
    assert found.unanswerable.tolist() == [True] * 3
    assert found.groups.tolist() == ["g"] * 3
