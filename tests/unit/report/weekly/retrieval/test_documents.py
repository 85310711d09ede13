"""Documents that a report names, and by what name."""

from __future__ import annotations

import pytest

from monitor.report.weekly.facts import Beginning, DocumentUse, ReadAnswers
from monitor.report.weekly.retrieval.documents import documents_json, shown_documents
from monitor.report.weekly.retrieval.sections import named_document


@pytest.mark.parametrize(("made_up", "found"), [(30, 1), (5, 0)])
def test_a_document_is_named_when_its_answers_are_clearly_made_up_more_often(made_up, found):
    read = ReadAnswers(
        answers=300,
        of=300,
        self_generated=30 + made_up,
        documents=(
            DocumentUse(id="d", answers=40, self_generated=made_up, compared=40, supported=1),
            DocumentUse(id="everywhere", answers=300, self_generated=30 + made_up, compared=300, supported=0),
            DocumentUse(id="seldom", answers=19, self_generated=19, compared=19, supported=0),
        ),
    )
    said = documents_json(read)
    assert said["self_generated"]["compared"] == 1
    assert [one["document"] for one in said["self_generated"]["documents"]] == ["d"] * found
    assert [one["document"] for one in said["supporting_nothing"]["documents"]] == ["everywhere"]


NAMELESS = "sha256:0123456789abcdef"
READ = ReadAnswers(
    answers=100,
    of=100,
    self_generated=0,
    documents=(DocumentUse(id=NAMELESS, answers=50, self_generated=0, compared=50, supported=0),),
    beginnings={NAMELESS: Beginning(id="q-7", text="Write to ann@example.com\nfor a refund. " + "x" * 300)},
)


def test_a_document_without_an_id_is_named_by_its_first_words_with_personal_data_masked():
    (said,) = documents_json(READ)["supporting_nothing"]["documents"]
    assert (said["document"], said["id"]) == (NAMELESS, "q-7")
    assert said["first_words"].startswith("Write to [e-mail] for a refund. xx")
    assert len(said["first_words"]) == 80
    assert named_document(said).startswith("“Write to [e-mail] for")


def test_one_whose_answer_is_erased_is_named_by_its_hash_again():
    (said,) = documents_json(READ)["supporting_nothing"]["documents"]
    assert named_document({**said, "first_words": ""}) == NAMELESS


def test_first_words_are_read_of_those_documents_that_are_shown():
    many = tuple(
        DocumentUse(id=f"d-{n:02}", answers=100 - n, self_generated=0, compared=100 - n, supported=n % 2)
        for n in range(40)
    )
    read = ReadAnswers(answers=500, of=500, self_generated=0, documents=many)
    said = documents_json(read)
    assert said["supporting_nothing"]["found"] == 20
    assert [d.id for d in shown_documents(read)] == [d["document"] for d in said["supporting_nothing"]["documents"]]
