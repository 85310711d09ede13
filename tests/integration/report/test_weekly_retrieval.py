"""Questions and documents of a weekly report: follow-ups, documents without an id, and what was erased."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from monitor.core.diagnosis import Chunk, ChunkDiagnosis, Diagnosis
from monitor.core.evidence import Borrowed, Evidence, StandaloneQuestion
from monitor.core.model import Document, Verdict
from monitor.core.text.content_id import content_id
from monitor.report.weekly.content import content
from monitor.store.privacy.erasure import Erasure, ErasureTarget
from monitor.store.report.reports import Reports, blank_reported
from monitor.store.report.weekly import WeeklyFacts
from tests.factories.answers import SOME_EVIDENCE, a_batch, an_assessment
from tests.factories.report.weekly_traffic import WEEK
from tests.rig.store.weekly_textbook import MONDAY_SIX

APP = "shop"  # in place of the traffic of the others here
NAMELESS = "Parcels are sent within\ntwo days. Write to ann@example.com."


@pytest.fixture
def database(databases, migrated_template):
    """An empty one."""
    with databases.lent(migrated_template) as url:
        yield url


def missed(number, **over):
    known = {
        "id": f"q-{number}",
        "app": APP,
        "occurred_at": WEEK.start + timedelta(hours=number),
        "verdict": Verdict.REFUSAL,
        "evidence": Evidence(features={}),
        "retrieved_documents": (Document(id="kb-1", text="About"),),
        "diagnosis": ChunkDiagnosis(diagnosis=Diagnosis.RETRIEVAL_MISSED, threshold=0.5),
    }
    return an_assessment(**{**known, **over})


def facts(engine, embed=None):
    return WeeklyFacts(engine, embed).facts(APP, WEEK)


def test_a_follow_up_is_read_with_the_words_it_borrows(writer, engine):
    first = missed(1, question="Do you sell red kettles?", conversation_id="c-1")
    standalone = StandaloneQuestion(
        text="red kettles where to buy those?",
        cue_start=13,
        cue_end=18,
        borrowed=(Borrowed(id="q-1", start=12, end=23),),
    )
    follow_up = missed(2, question="where to buy those?", conversation_id="c-1", standalone=standalone)
    writer.write(a_batch(first, follow_up, missed(3, question="where to buy those?")))
    found = {group.typical.id: group.typical for group in facts(engine).lacking.groups}
    assert (found["q-2"].text, found["q-2"].shown) == ("red kettles where to buy those?", "where to buy those?")
    assert (found["q-2"].follow_up, found["q-3"].follow_up) == (True, False)
    assert found["q-3"].text == "where to buy those?"


def test_the_same_question_counts_once_with_all_its_answers(writer, engine):
    wordings = ["Can I pay by invoice?", "can i  pay\nby INVOICE?", " Can I pay by invoice? "]
    verdicts = [Verdict.REFUSAL, Verdict.SELF_GENERATED, Verdict.GROUNDED]
    answers = [missed(n, question=wordings[n % 3], verdict=verdicts[n % 3]) for n in range(6)]
    healthy = ChunkDiagnosis(diagnosis=Diagnosis.HEALTHY, threshold=0.5)
    writer.write(a_batch(*answers, missed(8, question=wordings[0], diagnosis=healthy), missed(9, diagnosis=None)))
    known = facts(engine).lacking
    (group,) = known.groups
    assert (known.answers, known.of, known.missed, known.questions) == (7, 8, 6, 1)
    assert (group.questions, group.missed, group.refusals, group.self_generated) == (1, 6, 2, 2)
    assert (group.typical.id, group.typical.answers) == ("q-5", 7)


def test_only_the_questions_asked_most_often_leave_the_database(writer, engine, monkeypatch):
    monkeypatch.setattr("monitor.store.report.questions._QUESTIONS", 3)
    writer.write(a_batch(*(missed(n, question=f"Question {min(n, 7)}?") for n in range(12))))
    known = facts(engine).lacking
    assert (known.questions, known.read, len(known.groups)) == (8, 3, 3)
    assert known.groups[0].typical.shown == "Question 7?"


def test_a_document_without_an_id_is_named_by_its_first_words(writer, engine):
    document = Document(id=content_id(NAMELESS), text=NAMELESS)
    writer.write(a_batch(*(missed(n, retrieved_documents=(document,)) for n in range(25))))
    (idle,) = content(facts(engine))["documents"]["supporting_nothing"]["documents"]
    assert idle == {
        "document": document.id,
        "id": "q-24",
        "first_words": "Parcels are sent within two days. Write to [e-mail].",
        "retrieved": 25,
    }


@pytest.mark.parametrize("used", [True, False])
def test_an_answer_rests_on_the_documents_of_the_chunks_it_uses(writer, engine, used):
    chunk = Chunk(document=1, start=0, end=5, relevance=0.9, bm25=0.9, semantic=0.9, rank=1, used=used)
    healthy = ChunkDiagnosis(diagnosis=Diagnosis.HEALTHY, threshold=0.5, chunks=(chunk,))
    documents = (Document(id="kb-1", text="About"), Document(id="kb-2", text="More"))
    rows = [missed(n, retrieved_documents=documents, diagnosis=healthy) for n in range(20)]
    writer.write(a_batch(*rows))
    supported = {document.id: document.supported for document in facts(engine).read.documents}
    assert supported == {"kb-1": 0, "kb-2": 20 * used}


def test_the_same_id_in_another_app_is_another_document(writer, engine):
    own = [missed(n) for n in range(20)]
    others = [missed(n, id=f"o-{n}", app="bank", evidence=SOME_EVIDENCE) for n in range(20)]
    writer.write(a_batch(*own, *others))
    (document,) = facts(engine).read.documents
    assert (document.id, document.answers, document.compared, document.supported) == ("kb-1", 20, 20, 0)


def test_what_was_erased_is_not_quoted(writer, engine):
    document = Document(id=content_id(NAMELESS), text=NAMELESS)
    asked = [missed(n, question=f"Question {n // 2}?", retrieved_documents=(document,)) for n in range(24)]
    writer.write(a_batch(*asked))
    reports = Reports(engine)
    found = reports.keep(content(facts(engine)), app=APP, start=WEEK.start, end=WEEK.end, now=MONDAY_SIX)
    quoted = found["lacking"]["groups"][0]["id"]
    last = found["documents"]["supporting_nothing"]["documents"][0]["id"]
    with engine.begin() as connection:
        assert blank_reported(connection, APP, {quoted, last}) == 1
        assert blank_reported(connection, APP, {quoted, last}) == 0
    left = reports.get(APP, WEEK.start)
    assert left.intact
    assert left.content["lacking"]["groups"][0] == {**found["lacking"]["groups"][0], "question": ""}
    assert left.content["lacking"]["groups"][1] == found["lacking"]["groups"][1]
    assert left.content["documents"]["supporting_nothing"]["documents"][0]["first_words"] == ""

    erasure = Erasure(engine)
    target = ErasureTarget(app=APP, ids=(quoted, last))
    erasure.erase(APP, erasure.find(target), by="eve", reason_given=False, now=MONDAY_SIX)
    kept = reports.keep(found, app=APP, start=WEEK.start, end=WEEK.end, now=MONDAY_SIX)
    assert kept == left.content
    later = content(facts(engine))
    assert quoted not in [group["id"] for group in later["lacking"]["groups"]]
    assert later["lacking"]["answers_read"] == 24 - len({quoted, last})


def test_rows_of_an_earlier_release_have_no_diagnosis_and_no_questions(writer, engine):
    writer.write(a_batch(*(missed(n, diagnosis=None) for n in range(4))))
    with engine.begin() as connection:
        connection.execute(text("UPDATE assessment SET evidence = '{}'"))
    found = content(facts(engine))
    assert (found["diagnoses"], found["lacking"]) == (None, None)
    assert found["documents"]["answers_read"] == 4
