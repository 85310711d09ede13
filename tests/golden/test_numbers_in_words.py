"""A figure in words and the same figure in digits say the same, with the shipped profile and the real model."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from monitor.core.message import Message, Position
from monitor.core.model import Verdict
from monitor.ingest.decode import Decoder
from tests.rig.assess.golden import golden_pipeline

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
WORDS_AND_FIGURES = {
    "es": ("¿Cuánto cuesta el plan?", "El plan cuesta trescientos cincuenta euros al año.", "350"),
    "fr": ("Combien coûte la licence ?", "La licence coûte deux cents euros par utilisateur.", "200"),
    "pt": ("Quanto custa o plano?", "O plano custa duzentos euros por utilizador.", "200"),
    "de": ("Was kostet der Tarif?", "Der Tarif kostet zweihundertfünfzig Euro pro Nutzer.", "250"),
    "it": ("Quanto costa il piano?", "Il piano costa duecentocinquanta euro per utente.", "250"),
    "nl": ("Wat kost het plan?", "Het plan kost tweehonderdvijftig euro per gebruiker.", "250"),
}
SPELLED = ("trescientos cincuenta", "deux cents", "duzentos", "zweihundertfünfzig", "duecentocinquanta")
SPELLED += ("tweehonderdvijftig",)


@pytest.fixture(scope="module")
def pipeline(encoder_cache):
    return golden_pipeline(encoder_cache)


def assessed(pipeline, question, document, answer):
    event = {"id": "1", "app": "golden", "question": question, "retrieved_documents": [document], "answer": answer}
    value = json.dumps(event).encode()
    at = Position(topic="golden", partition=0, offset=1)
    interaction = Decoder().decode(Message(value=value, position=at, received_at=NOW, size=len(value)))
    (assessment,) = pipeline.assess([interaction])
    return assessment


@pytest.mark.parametrize("language", WORDS_AND_FIGURES)
def test_a_right_figure_is_grounded_and_a_wrong_one_contradicts(language, pipeline):
    question, in_words, figure = WORDS_AND_FIGURES[language]
    spelled = next(words for words in SPELLED if words in in_words)
    in_figures = in_words.replace(spelled, figure)
    for document, answer in ((in_words, in_figures), (in_figures, in_words)):
        right = assessed(pipeline, question, document, answer)
        assert (right.verdict, right.evidence.missing) == (Verdict.GROUNDED, ())
    wrong = assessed(pipeline, question, in_words, in_words.replace(spelled, "975"))
    assert [fact.text.split()[0] for fact in wrong.evidence.missing] == ["975"]
    assert wrong.evidence.features["contradictions"] == 1
