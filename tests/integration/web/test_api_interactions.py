"""Interactions in the JSON API: lists, filters, masking and reading in clear."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from hashlib import sha256
from urllib.parse import quote

import pytest

from monitor.core.assessment_json import assessment_json
from monitor.core.evidence import Borrowed, MissingFact, StandaloneQuestion
from monitor.core.model import Document, Origin, Support, SupportingDocument, Verdict
from tests.factories.answers import SOME_EVIDENCE, a_batch, an_assessment, at
from tests.factories.assess.diagnoses import a_diagnosis
from tests.factories.conversations import FOLLOW_UP, SAID, a_follow_up
from tests.rig.web.api import MASKED, SECRET, got, problem


def test_the_list_is_read_a_page_at_a_time_newest_first(viewer, writer):
    writer.write(a_batch(*(an_assessment(id=f"q-{n}", occurred_at=at(-n)) for n in range(5))))
    page = got(viewer, "interactions", limit=2)
    ids = [its["id"] for its in page["items"]]
    while page["next"]:
        page = got(viewer, "interactions", limit=2, cursor=page["next"])
        ids += [its["id"] for its in page["items"]]
    assert ids == [f"q-{n}" for n in range(5)] or ids == [f"q-{n}" for n in range(1, 5)]


def test_filters_are_those_of_the_page(viewer, writer):
    writer.write(
        a_batch(
            an_assessment(id="good", occurred_at=at(-1)),
            an_assessment(id="bad", occurred_at=at(-2), verdict=Verdict.SELF_GENERATED, model="gpt-x"),
            an_assessment(id="no", occurred_at=at(-3), verdict=Verdict.REFUSAL, app="shop"),
            an_assessment(id="old", occurred_at=at(-60 * 24 * 3)),
        )
    )

    def ids(**parameters):
        return {its["id"] for its in got(viewer, "interactions", **parameters)["items"]}

    assert ids() == {"good", "bad", "no"}
    assert ids(since="2025-11-01T00:00:00Z") == {"good", "bad", "no", "old"}
    assert ids(until="2025-11-21T11:57:30+00:00") == {"no"}
    assert ids(app="shop") == {"no"}
    assert ids(model="gpt-x") == {"bad"}
    assert ids(verdict=["refusal", "self_generated"]) == {"bad", "no"}
    assert ids(reason="answer_off_support") == {"bad"}
    assert ids(metric="sda:0.4..0.6") == {"good", "bad", "no"}
    assert ids(metric="sda:0.6..") == set()
    assert ids(words="snapshots") == {"good", "bad", "no"}


def test_personal_data_is_masked_in_lists_and_files_for_everybody(site, writer):
    writer.write(a_batch(an_assessment(answer=SECRET, question=SECRET, occurred_at=at(-1))))
    client = site.by_token("admin")
    (row,) = got(client, "interactions")["items"]
    assert (row["question"], row["answer"]) == (MASKED, MASKED)
    for form in ("csv", "jsonl"):
        text = client.get("/api/v1/interactions/export", params={"format": form}).text
        assert MASKED in text
        assert "ada@example.org" not in text


def test_an_address_that_the_list_would_cut_in_two_is_masked_all_the_same(viewer, writer):
    answer = "x" * 495 + " ada@example.org"
    writer.write(a_batch(an_assessment(answer=answer, occurred_at=at(-1))))
    assert got(viewer, "interactions")["items"][0]["answer"] == "x" * 495 + " [e-mail]"


def test_what_is_masked_before_it_does_not_bring_half_an_address_into_the_list(viewer, writer):
    answer = f"{'a' * 50}@{'b' * 45}.example " * 9 + "x" * 41 + " ada.lovelace@example.org"
    writer.write(a_batch(an_assessment(answer=answer, occurred_at=at(-1))))
    assert "ada" not in got(viewer, "interactions")["items"][0]["answer"]


def test_what_only_masked_text_holds_leaves_no_trace_in_the_list(viewer, writer):
    its = [an_assessment(id=f"q-{n}", answer=SECRET, occurred_at=at(-n)) for n in range(1, 4)]
    writer.write(a_batch(*its))
    assert got(viewer, "interactions", words="ada@e", limit=1) == {"items": [], "next": None, "reached": None}
    assert got(viewer, "interactions", words="ada@e") == got(viewer, "interactions", words="no-such-word")


def test_a_part_of_a_masked_text_is_masked_as_the_whole_is(viewer, writer):
    document = "Refunds: call +49 30 901820 today."
    cut = SupportingDocument(text=document[14:21], document_id="d-1", start=14, end=21)
    fact = MissingFact(kind="number", start=27, end=33, text="901820")
    it = an_assessment(
        answer="Ask them at a desk, +49 30 901820.",
        retrieved_documents=(Document(id="d-1", text=document, metadata={"id": "ada@example.org"}),),
        supporting_documents=(cut,),
        support=Support(origin=Origin.LOGGED, documents=(cut,)),
        evidence=replace(SOME_EVIDENCE, missing=(fact,)),
        tags={"id": "ada@example.org", "eve@example.org": "x", "topic": "bob@example.org"},
        occurred_at=at(-1),
    )
    writer.write(a_batch(it))
    shown = got(viewer, "interactions/support-bot/q-1")
    assert shown["assessment"]["missing"][0]["text"] == "[phone]"
    assert shown["assessment"]["support"]["documents"][0]["text"] == "[phone]"
    assert shown["supporting_documents"][0]["text"] == "[phone]"
    assert shown["tags"] == {"id": "[e-mail]", "[e-mail]": "x", "topic": "[e-mail]"}
    assert "@example.org" not in json.dumps(shown)
    assert got(viewer, "interactions")["items"][0]["topic"] == "[e-mail]"


def test_ids_of_documents_and_names_of_metadata_are_masked(viewer, auditor, writer):
    mail, other = "ada@example.org", "bob@example.org"
    piece = SupportingDocument(text="Deleted", document_id=mail, start=0, end=7)
    nested = {mail: {other: [{mail: "x"}]}, other: {"id": mail}}
    it = an_assessment(
        retrieved_documents=(Document(id=mail, text="Deleted snapshots.", source=mail, metadata=nested),),
        supporting_documents=(piece,),
        support=Support(origin=Origin.LOGGED, documents=(piece,)),
        evidence=replace(SOME_EVIDENCE, alignment=(replace(SOME_EVIDENCE.alignment[0], document_id=mail),)),
        tags={mail: "x", other: "y"},
        occurred_at=at(-1),
    )
    writer.write(a_batch(it))
    shown = got(viewer, "interactions/support-bot/q-1")
    assert "@example.org" not in json.dumps(shown)
    assert shown["tags"] == {"[e-mail]": "x", "[e-mail] (2)": "y"}
    (document,) = shown["retrieved_documents"]
    assert document["metadata"] == {"[e-mail]": {"[e-mail]": [{"[e-mail]": "x"}]}, "[e-mail] (2)": {"id": "[e-mail]"}}
    assessed = shown["assessment"]
    named = [
        document["id"],
        *(one["document_id"] for one in (*assessed["alignment"], *assessed["support"]["documents"])),
    ]
    assert named == ["[e-mail]"] * 3
    clear = got(auditor, "interactions/support-bot/q-1", clear="true")
    assert clear["retrieved_documents"][0]["metadata"] == nested


def test_one_has_everything_that_is_known_of_it(viewer, writer):
    its = an_assessment(answer=SECRET, model="gpt-x", tags={"topic": "storage"}, conversation_id="c-1")
    writer.write(a_batch(its))
    found = got(viewer, "interactions/support-bot/q-1")
    assert found["answer"] == MASKED
    assert found["clear"] is False
    assert found["retrieved_documents"][0]["id"] == "d-1"
    one = found["assessment"]
    assert one["verdict"] == "grounded"
    assert one["probabilities"] == {"grounded": 0.75, "refusal": 0.125, "self_generated": 0.125}
    assert one["metrics"] == {"sdq": 0.75, "sdrd": 0.875, "sda": 0.5, "qrd": 0.625, "qa": 0.25}
    assert one["support"]["documents"][0] == {
        "document_id": "d-1",
        "start": 0,
        "end": 26,
        "text": "Deleted snapshots are kept",
        "match": None,
        "cut_short": False,
    }
    assert one["alignment"][0]["score"] == 0.875
    assert one["profile"] == {"name": "hash", "hash": "0123456789abcdef"}
    assert found["other_assessments"] == found["judgements"] == found["labels"] == []


def test_the_keys_that_scripts_rely_on_are_there(viewer, writer):
    """As `replay --output` writes them."""
    writer.write(a_batch(an_assessment()))
    found = got(viewer, "interactions/support-bot/q-1")["assessment"]
    written = json.loads(json.dumps(assessment_json(an_assessment())))
    for key, value in written.items():
        assert key in found
        if key not in {"support", "features", "missing", "alignment"}:
            assert found[key] == value, key


def test_the_diagnosis_is_there_with_its_chunks(viewer, writer):
    diagnosed = an_assessment(diagnosis=a_diagnosis("generator_ignored", tau=-1 / 3))
    writer.write(a_batch(diagnosed, an_assessment(id="q-0", occurred_at=at(-1))))
    found = got(viewer, "interactions/support-bot/q-1")["assessment"]
    written = json.loads(json.dumps(assessment_json(diagnosed)))
    assert found["diagnosis"] == "generator_ignored"
    plain = {"used": False, "repeats": None}
    written["retrieval"]["chunks"] = [plain | chunk for chunk in written["retrieval"]["chunks"]]
    assert found["retrieval"] == written["retrieval"]
    without = got(viewer, "interactions/support-bot/q-0")["assessment"]
    assert (without["diagnosis"], without["retrieval"], without["standalone_question"]) == (None, None, None)


def test_lists_are_filtered_by_diagnosis(viewer, writer):
    its = {"q-1": "retrieval_missed", "q-2": "retrieval_noisy", "q-3": "healthy", "q-4": None}
    writer.write(
        a_batch(
            *(
                an_assessment(id=id_, occurred_at=at(-n), diagnosis=None if name is None else a_diagnosis(name))
                for n, (id_, name) in enumerate(its.items(), 1)
            )
        )
    )
    assert {one["id"]: one["diagnosis"] for one in got(viewer, "interactions")["items"]} == its
    for wanted in (["retrieval_missed"], ["retrieval_missed", "healthy"], ["generator_ignored"]):
        found = [one["id"] for one in got(viewer, "interactions", diagnosis=wanted)["items"]]
        assert found == [id_ for id_, name in its.items() if name in wanted]
        lines = viewer.get("/api/v1/interactions/export", params={"diagnosis": wanted}).text.splitlines()
        assert [json.loads(line)["diagnosis"] for line in lines] == [its[id_] for id_ in found]
    assert viewer.get("/api/v1/interactions?diagnosis=unwell").status_code == 422


def test_what_a_masked_question_was_completed_to_cannot_be_guessed(viewer, writer):
    """A guess at what is masked could be tried against its hash."""
    words = Borrowed(id="q-0", start=3, end=9)
    standalone = StandaloneQuestion(text=f"Is {SECRET} right?", cue_start=3, cue_end=5, borrowed=(words,))
    writer.write(a_batch(an_assessment(standalone=standalone)))
    answer = viewer.get("/api/v1/interactions/support-bot/q-1")
    assert answer.json()["assessment"]["standalone_question"]["cue_start"] == 3
    assert sha256(standalone.text.encode()).hexdigest() not in answer.text


def test_in_clear_is_for_who_may_and_is_kept_before(viewer, auditor, writer, looks):
    writer.write(a_batch(an_assessment(answer=SECRET)))
    assert "masked" in problem(viewer.get("/api/v1/interactions/support-bot/q-1?clear=true"), 403)
    assert looks() == []
    found = got(auditor, "interactions/support-bot/q-1", clear="true")
    assert (found["answer"], found["clear"]) == (SECRET, True)
    ((app, subject, by),) = looks()
    assert (app, subject) == ("support-bot", "q-1")
    assert by.startswith("token:auditor")
    got(auditor, "interactions/support-bot/q-1")
    assert len(looks()) == 1


def test_the_record_of_a_look_names_every_text_that_it_shows(operator, auditor, writer, rows):
    writer.write(a_batch(an_assessment(reference_answer=SECRET, trace_id=SECRET)))
    label = {"app": "support-bot", "id": "q-1", "label": "refusal", "note": SECRET}
    assert operator.post("/api/v1/labels", json=label).status_code == 200
    found = got(auditor, "interactions/support-bot/q-1", clear="true")
    assert (found["reference_answer"], found["trace_id"], found["labels"][0]["note"]) == (SECRET, SECRET, SECRET)
    ((fields,),) = rows("SELECT body -> 'fields' FROM audit_queue WHERE kind = 'look'")
    assert {"reference_answer", "trace_id", "labels"} <= set(fields)


def test_nothing_is_shown_in_clear_where_that_cannot_be_kept(auditor, writer, rows):
    writer.write(a_batch(an_assessment(answer=SECRET)))
    rows("ALTER TABLE audit_queue ADD CONSTRAINT full_up CHECK (kind <> 'look')")
    answer = auditor.get("/api/v1/interactions/support-bot/q-1?clear=true")
    assert answer.status_code == 500
    assert "ada@example.org" not in answer.text


@pytest.mark.parametrize(("app", "id_"), [("a/b", "c"), ("a", "b/c"), ("ä b", "../x"), ("a?b", "c#d"), ("a%2Fb", "%")])
def test_every_name_is_found_as_it_was_written(viewer, writer, app, id_):
    writer.write(a_batch(an_assessment(app=app, id=id_)))
    found = viewer.get(f"/api/v1/interactions/{quote(app, safe='')}/{quote(id_, safe='')}")
    assert found.status_code == 200, found.text
    assert (found.json()["app"], found.json()["id"]) == (app, id_)


def test_bare_slashes_belong_to_the_id(viewer, writer):
    writer.write(a_batch(an_assessment(app="a", id="b/c")))
    assert got(viewer, "interactions/a/b/c")["id"] == "b/c"


def test_what_is_not_there_and_what_is_not_assessed_yet_say_so(viewer, writer):
    assert "no such interaction" in problem(viewer.get("/api/v1/interactions/support-bot/none"), 404)
    writer.write(a_batch(pending=(an_assessment(id="later").interaction,)))
    assert "not assessed yet" in problem(viewer.get("/api/v1/interactions/support-bot/later"), 404)


def test_files_are_complete_and_can_be_read(viewer, writer):
    texts = ["=SUM(1)", 'say "no", then\nleave', "plain"]
    writer.write(a_batch(*(an_assessment(id=f"q-{n}", answer=t, occurred_at=at(-n - 1)) for n, t in enumerate(texts))))
    answer = viewer.get("/api/v1/interactions/export?format=csv")
    assert answer.headers["content-type"].startswith("text/csv")
    table = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["answer"] for row in table] == ["'=SUM(1)", *texts[1:]]
    answer = viewer.get("/api/v1/interactions/export")
    assert answer.headers["content-type"].startswith("application/jsonl")
    assert [json.loads(line)["answer"] for line in answer.text.splitlines()] == texts


def test_a_follow_up_says_how_it_was_read_with_the_words_of_other_turns_masked(viewer, auditor, writer):
    writer.write(a_batch(*a_follow_up()))
    hidden = "What does the premium plan of Jane Doe, [e-mail], cost?"
    hashed = sha256(f"{SAID} {FOLLOW_UP}".encode()).hexdigest()
    for found, hash_ in (
        (got(viewer, "interactions/support-bot/q-2"), None),
        (got(auditor, "interactions/support-bot/q-2", clear="true"), hashed),
    ):
        assert (found["question"], found["assessment"]["standalone_question"]) == (
            FOLLOW_UP,
            {
                "sha256": hash_,
                "text": f"{hidden} {FOLLOW_UP}",
                "problem": None,
                "cue_start": 0,
                "cue_end": 3,
                "borrowed": [{"id": "q-1", "start": 0, "end": len(SAID), "text": hidden}],
                "as_asked": {"sdq": 0.25, "qrd": 0.125, "qa": None},
            },
        )
    assert got(viewer, "interactions/support-bot/q-1")["assessment"]["standalone_question"] is None
