"""What was retrieved for one question: its chunks, ranked, and what the answer made of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.chunks import examine as examine_module
from monitor.assess.chunks.diagnose import diagnose
from monitor.assess.chunks.examine import BY, DIGITS, LIMITS, USED, USUAL, Retrieved, examine
from monitor.assess.chunks.relevance import read_question
from monitor.assess.chunks.segment import MOST_CHUNKS
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.threshold import Spread, dynamic_threshold
from monitor.core.assessment_json import diagnosis_of, retrieval_json
from monitor.core.diagnosis import Diagnosis
from monitor.core.evidence import AlignedSentence
from monitor.core.model import Verdict

ENCODER = HashEmbedder()
QUESTION = "What does parking cost per hour?"
USELESS = Spread(mean=0.1, sd=0.05)  # documents of an app that hardly ever answer
PARKING, DOGS, CATS = "Parking costs two euros per hour.", "Dogs stay outside.", "Cats may come in."
texts = st.text(alphabet=st.sampled_from("aab é.\n?文\x00\ud800"), max_size=60)


def examined(question=QUESTION, documents=(DOGS, PARKING, CATS), verdict=Verdict.GROUNDED, alignment=(), **given):
    retrieved = Retrieved(texts=documents, tokens=ENCODER.encode(documents), sentences=ENCODER.sentences(documents))
    of_question = read_question(question, ENCODER.encode([question])[0], ENCODER.sentences([question])[0])
    return examine(of_question, retrieved, verdict, alignment, **{"usual": USUAL, **given})


def aligned(document=0, start=0, end=10, score=1.0):
    return AlignedSentence(
        answer_start=0, answer_end=1, document=document, document_id="d", start=start, end=end, score=score
    )


@given(texts, st.lists(texts, max_size=5), st.sampled_from(Verdict))
def test_ranks_are_a_permutation_and_figures_keep_their_limits(question, documents, verdict):
    found = examined(question, documents, verdict)
    assert sorted(chunk.rank for chunk in found.chunks) == list(range(1, len(found.chunks) + 1))
    assert all(0 <= x <= 1 for c in found.chunks for x in (c.relevance, c.bm25, c.semantic))
    expected = dynamic_threshold([c.relevance for c in found.chunks], USUAL, LIMITS, above=0)
    assert found.threshold == pytest.approx(expected, abs=2 * 0.1**DIGITS)
    assert found.relevance == max((c.relevance for c in found.chunks), default=None)
    assert (found.tau is None) == (len({c.document for c in found.chunks}) < 2)
    assert (found.used_rank, found.examined, found.by) == (None, 1.0, BY)
    stored = diagnosis_of(found.diagnosis, retrieval_json(found))
    assert [stored.kept(chunk) for chunk in stored.chunks] == [found.kept(chunk) for chunk in found.chunks]
    assert diagnose(verdict, stored.chunks, stored.threshold) is found.diagnosis


@pytest.mark.parametrize("documents", [(), ("",), (" \n", "\t")])
def test_documents_without_text_have_no_chunks(documents):
    found = examined(documents=documents, verdict=Verdict.SELF_GENERATED)
    assert (found.diagnosis, found.chunks, found.relevance, found.tau) == (Diagnosis.RETRIEVAL_MISSED, (), None, None)
    assert found.threshold == dynamic_threshold((), USUAL, LIMITS, above=0)


def test_the_chunk_that_answers_is_ranked_first():
    found = examined()
    assert [chunk.rank for chunk in found.chunks].index(1) == 1
    assert found.relevance == found.chunks[1].relevance


def test_the_threshold_takes_in_what_is_usual_in_the_app():
    low, high = (examined(usual=Spread(mean=mean, sd=0.1)).threshold for mean in (0.1, 0.9))
    assert low < high


@pytest.mark.parametrize(
    ("span", "used"),
    [
        ((1, 0, len(PARKING)), [False, True, False]),
        ((1, 3, 5), [False, True, False]),
        ((1, len(PARKING), len(PARKING) + 5), [False, False, False]),
        ((0, 0, 1), [True, False, False]),
    ],
)
def test_a_chunk_is_used_if_a_sentence_of_the_answer_rests_on_a_part_of_it(span, used):
    found = examined(alignment=[aligned(*span)])
    assert [chunk.used for chunk in found.chunks] == used


def test_a_sentence_that_is_unlike_its_passage_uses_nothing():
    found = examined(alignment=[aligned(1, 0, 10, score=np.nextafter(USED, 0)), aligned(2, 0, 5, score=USED)])
    assert [chunk.used for chunk in found.chunks] == [False, False, True]
    assert found.used_rank == 3


def test_the_first_document_that_is_used_is_named_whatever_the_order_of_the_answer():
    assert examined(alignment=[aligned(2), aligned(1)]).used_rank == 2
    assert examined().used_rank is None


@pytest.mark.parametrize(
    ("verdict", "alignment", "diagnosis"),
    [
        (Verdict.REFUSAL, [], Diagnosis.GENERATOR_IGNORED),
        (Verdict.SELF_GENERATED, [], Diagnosis.GENERATOR_IGNORED),
        (Verdict.SELF_GENERATED, [aligned()], Diagnosis.GENERATOR_INVENTED),
    ],
)
def test_the_diagnosis_follows_from_the_verdict_and_the_chunks(verdict, alignment, diagnosis):
    assert examined(PARKING, (PARKING,), verdict, alignment).diagnosis is diagnosis
    assert examined(PARKING, (), verdict).diagnosis is Diagnosis.RETRIEVAL_MISSED


def test_the_best_chunk_is_lost_between_others_unless_it_is_used_or_not_even_relevant(monkeypatch):
    assert not examined(documents=(DOGS, PARKING, CATS), usual=USELESS).lost_in_the_middle  # of so short a text
    monkeypatch.setattr(examine_module, "LONG", 10)
    assert examined(documents=(DOGS, PARKING, CATS), usual=USELESS).lost_in_the_middle
    assert not examined(documents=(DOGS, PARKING, CATS), usual=USELESS, alignment=[aligned(1)]).lost_in_the_middle
    assert not examined("Why?", documents=(DOGS, PARKING, CATS), usual=USELESS).lost_in_the_middle
    assert not examined(documents=(PARKING, DOGS, CATS), usual=USELESS).lost_in_the_middle
    assert not examined(documents=(DOGS, CATS, PARKING), usual=USELESS).lost_in_the_middle


@pytest.mark.parametrize("documents", [(PARKING,), (PARKING, "Ow."), ("Ow.", PARKING)])
def test_a_chunk_at_either_end_is_not_lost_in_the_middle_however_long_it_is(documents):
    assert not examined(documents=documents).lost_in_the_middle


class Scripted:
    """A reranker that prefers long texts, or has no scores."""

    model = "long first"

    def __init__(self, has_scores):
        self.has_scores = has_scores

    def rank(self, _question, texts):
        return [len(text) / 1000 for text in texts] if self.has_scores else None


def test_a_reranker_is_named_with_the_order_that_it_gives():
    found = examined(documents=("Ow.", DOGS, PARKING), reranker=Scripted(True))
    assert [chunk.rank for chunk in found.chunks] == [3, 2, 1]
    assert (found.tau, found.by) == (-1, f"{BY}, reranked by long first")


def test_a_reranker_without_scores_is_not_named():
    assert examined(reranker=Scripted(False)) == examined()
    assert examined(documents=(), reranker=Scripted(True)).by == BY


def test_of_too_many_chunks_a_part_is_examined_and_what_is_used_beyond_is_known():
    documents = [f"Stone {chr(97 + n % 26)}{chr(97 + n // 26)}." for n in range(2 * MOST_CHUNKS)]
    found = examined(documents=[*documents, PARKING], alignment=[aligned(2 * MOST_CHUNKS - 1)])
    assert len(found.chunks) == MOST_CHUNKS
    assert found.chunks[-1].document == 2 * MOST_CHUNKS
    assert 0.4 < found.examined < 0.6
    assert found.used_rank == 2 * MOST_CHUNKS


def test_the_same_is_found_again():
    assert examined(alignment=[aligned(1)]) == examined(alignment=[aligned(1)])
