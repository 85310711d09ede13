"""Hand-written interactions with the shipped profile and the real model: a reader's verdicts and ours.

`verdicts.json` holds the verdict and the reasons that this release gives to each interaction; `record.py` writes the
file. An interaction whose verdict differs from the reader's is in BLIND_SPOTS, with an explanation: a change that fixes
one must take it off the list, and a change that breaks another must explain itself.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest

from monitor.core.model import Reason, Verdict
from tests.rig.assess.golden import RECORD, ROWS, contradicted, golden_interactions, golden_pipeline, recorded

EXPECTED = json.loads(RECORD.read_text(encoding="utf-8"))

SHORT = "an answer of a few words is far from the sentence that carries it"
SUBTLE = "one figure, name, negation or sentence changed leaves the similarity as it is"
BLIND_SPOTS = {
    "golden-038": SHORT,
    "golden-081": "worded as an answer, but so far off the question that the rule takes it for a refusal",
    "golden-082": "an answer that follows its documents away from the question is grounded in them",
    "golden-091": SUBTLE,
    "golden-092": SUBTLE,
    "golden-094": SUBTLE,
}


@pytest.fixture(scope="module")
def pipeline(encoder_cache):
    return golden_pipeline(encoder_cache)


@pytest.fixture(scope="module")
def assessed(pipeline):
    """Every interaction's assessment, by id."""
    return {a.interaction.id: a for a in pipeline.assess(golden_interactions())}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_verdict_and_its_reasons_are_as_recorded(row, assessed):
    assert recorded(assessed[row["id"]]) == EXPECTED[row["id"]]


def test_the_reader_is_contradicted_only_where_the_method_is_known_to_be_blind(assessed):
    assert contradicted(assessed) == set(BLIND_SPOTS)


def test_every_verdict_every_reason_and_five_languages_of_refusals_occur(assessed):
    assert {a.verdict for a in assessed.values()} == set(Verdict)
    assert {reason for a in assessed.values() for reason in a.reasons} == set(Reason)
    languages = Counter(
        row["expect"]["language"]
        for row in ROWS
        if row["expect"]["verdict"] == Verdict.REFUSAL and assessed[row["id"]].verdict is Verdict.REFUSAL
    )
    assert len([language for language, count in languages.items() if count >= 2]) >= 5


def test_an_answer_s_assessment_does_not_depend_on_its_neighbours_in_the_batch(assessed, pipeline):
    for found in list(assessed.values())[::9]:
        (alone,) = pipeline.assess([found.interaction])
        assert recorded(alone) == recorded(found)
        assert alone.metrics.sda == pytest.approx(found.metrics.sda, abs=1e-4)
        assert alone.evidence.features["grounding"] == pytest.approx(found.evidence.features["grounding"], abs=1e-3)
