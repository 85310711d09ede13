from __future__ import annotations

import pytest

from monitor.core.model import Reason
from monitor.web.interaction.view import (
    TextPiece,
    cut_at_marks,
    document_views,
    first_bad,
    masker,
    metrics,
    reasons,
    sentence_views,
    support_views,
)
from tests.factories.assess.explained_rows import ROW

CARD = "4111 1111 1111 1111"


def text_of(found):
    return "".join(piece.text for piece in found)


def test_each_sentence_has_what_carries_it():
    polite, parking, dogs, gate = sentence_views(ROW, clear=False)
    assert (polite.score, polite.passage) == (None, None)
    assert (parking.words, parking.colour, parking.document) == ("supported", "good", 1)
    assert parking.passage == "Parking costs two euros per hour, also at night."
    assert (dogs.words, dogs.colour) == ("contradicted", "bad")
    assert gate.words == "not supported"
    assert gate.facts == ["name “Elm Street”", "number “7”"]
    assert [piece.text for piece in gate.pieces if piece.mark == "fact"] == ["Elm Street", "7"]
    assert text_of(gate.pieces) == "The Elm Street gate opens at 7."


def test_the_first_sentence_that_is_not_carried_is_named():
    found = sentence_views(ROW, clear=False)
    assert first_bad(found) == 2
    assert first_bad(found[:2]) is None


def test_documents_have_their_passages_marked():
    first, second = document_views(ROW, clear=False)
    assert [piece.text for piece in first.pieces if piece.mark] == ["Dogs may not come in."]
    assert first.used
    assert text_of(second.pieces) == ROW["retrieved_documents"][1]["text"]


def test_personal_data_is_masked_unless_clear():
    row = {**ROW, "answer": "Write to ada@example.org. Bye.", "evidence": {"alignment": [], "missing": []}}
    assert text_of(sentence_views(row, clear=False)[0].pieces) == "Write to [e-mail]."
    assert text_of(sentence_views(row, clear=True)[0].pieces) == "Write to ada@example.org."


def test_a_mark_within_a_number_does_not_show_its_halves():
    whole = f"The card {CARD} is blocked."
    start = whole.index("1111")
    assert cut_at_marks(whole, [(start, start + 4, "fact")], masker(clear=False)) == [
        TextPiece(text="The card [card] is blocked.")
    ]
    assert len(cut_at_marks(whole, [(start, start + 4, "fact")], masker(clear=True))) == 3


def test_a_missing_fact_that_is_half_of_a_number_is_hidden():
    answer = f"The card {CARD} is blocked."
    start = answer.index("4111")
    missing = [{"kind": "number", "start": start, "end": start + 9, "text": "4111 1111"}]
    row = {**ROW, "answer": answer, "evidence": {"alignment": [], "missing": missing}}
    (sentence,) = sentence_views(row, clear=False)
    assert text_of(sentence.pieces) == "The card [card] is blocked."
    assert sentence.facts == ["number “•••• ••••”"]
    assert sentence_views(row, clear=True)[0].facts == ["number “4111 1111”"]


def test_a_passage_or_support_that_is_cut_out_of_a_number_is_hidden():
    document = f"Card {CARD} is the blocked one."
    end = document.index(" 1111 1111 is") + 5
    answer = "It is the card that you know of."
    pair = {
        "answer_start": 0,
        "answer_end": len(answer),
        "document": 0,
        "document_id": "d0",
        "start": 0,
        "end": end,
        "score": 0.9,
        "contradicts": False,
    }
    piece = {"document_id": "d0", "start": 0, "end": end, "text": document[:end]}
    row = {
        **ROW,
        "answer": answer,
        "retrieved_documents": [{"id": "d0", "text": document}],
        "evidence": {"alignment": [pair], "missing": []},
        "support": {"origin": "extractive", "documents": [piece]},
    }
    told = [sentence_views(row, clear=False)[0].passage, support_views(row, clear=False)[0][0]]
    told.append(text_of(document_views(row, clear=False)[0].pieces))
    assert not any("4111" in text or "1111" in text for text in told)
    assert "1111" in support_views(row, clear=True)[0][0]


def test_invisible_characters_of_a_text_are_written_out():
    assert masker(clear=True)("left\u202eright") == "left⟨U+202E⟩right"


def test_reasons_are_sentences():
    assert reasons({**ROW, "reasons": [Reason.NO_DOCUMENTS.value], "refusal_kind": "none"}) == ["nothing was retrieved"]
    assert len(reasons({**ROW, "reasons": [], "refusal_kind": "none"})) == 1


@pytest.mark.parametrize("name", ["SDQ", "QA"])
def test_a_metric_without_a_profile_has_no_threshold(name):
    found = {its.name: its for its in metrics(ROW, None)}[name]
    assert found.threshold is None
    assert not found.below


def test_a_text_is_masked_once_as_a_whole_and_once_in_its_parts():
    masked = []

    def conceal(text):
        masked.append(len(text))
        return text

    assert len(cut_at_marks("x" * 100, [(10, 20, "passage")], conceal)) == 3
    assert sum(masked) == 200
    assert cut_at_marks("x" * 100, [], conceal) == [TextPiece(text="x" * 100)]
    assert sum(masked) == 300
