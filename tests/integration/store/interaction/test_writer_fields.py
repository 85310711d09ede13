"""Every field that the writer stores can be read back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.core.message import Position
from monitor.core.model import (
    Metrics,
    Origin,
    Reason,
    Refusal,
    RefusalKind,
    Scores,
    Support,
    Verdict,
)
from monitor.core.text.personal_data import PersonalData
from monitor.privacy.redaction.redactor import redactor
from monitor.store.interaction.assessments import AssessmentQueries
from tests.factories.answers import NOON, a_batch, a_dead_letter, a_message, an_assessment
from tests.factories.stored_interactions import pieces, stored_interactions
from tests.rig.store.writing import FAR, write


def as_json(piece):
    return {"document_id": piece.document_id, "start": piece.start, "end": piece.end, "text": piece.text}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_fields=stored_interactions, support=st.lists(pieces, max_size=3).map(tuple))
def test_every_field_of_an_interaction_comes_back(writer, engine, rows, given_fields, support):
    rows("TRUNCATE interaction_key, interaction, assessment, verdict_minute, rollup_label")
    writer._labels.forget()
    given_fields = {**given_fields, "marks": given_fields["marks"] | FAR}  # any month would make a partition of its own
    written = an_assessment(**given_fields, support=Support(origin=Origin.LOGGED, documents=support))
    assert write(writer, written).assessed == 1
    (row,) = AssessmentQueries(engine).with_assessments("q-1", given_fields["app"])
    usage = given_fields.pop("usage")
    expected = given_fields | {
        "id": "q-1",
        "stored_at": NOON,
        "input_tokens": usage.input if usage else None,
        "output_tokens": usage.output if usage else None,
        "marks": sorted(given_fields["marks"]),
        "retrieved_documents": [
            {"id": d.id, "text": d.text}
            | ({} if d.score is None else {"score": d.score})
            | ({} if d.source is None else {"source": d.source})
            | ({"metadata": d.metadata} if d.metadata else {})
            for d in given_fields["retrieved_documents"]
        ],
        "supporting_documents": None
        if given_fields["supporting_documents"] is None
        else [as_json(p) for p in given_fields["supporting_documents"]],
        "support": {"origin": "logged", "documents": [as_json(p) for p in support]},
    }
    assert {name: row[name] for name in expected} == expected


def test_every_field_of_an_assessment_comes_back(writer, engine):
    joined = Metrics(sdq=0.5, sdrd=-0.25, sda=None, qrd=1.0, qa=0.0)
    maximum = Metrics(sdq=0.75, sdrd=0.1, sda=None, qrd=1.0, qa=0.0)
    written = an_assessment(
        verdict=Verdict.REFUSAL,
        rule_verdict=Verdict.SELF_GENERATED,
        reasons=(Reason.REFUSAL_WORDING, Reason.NO_SUPPORT),
        refusal=Refusal(kind=RefusalKind.PARTIAL, correct=True),
        scores=Scores(joined=joined, maximum=maximum, undefined={"sda": "no_support"}),
        metrics=joined,
        uncalibrated=False,
    )
    write(writer, written)
    (row,) = AssessmentQueries(engine).with_assessments("q-1")
    expected = {
        "profile_hash": "0123456789abcdef",
        "profile_name": "hash",
        "embedding_model": "hash/64",
        "verdict": "refusal",
        "rule_verdict": "self_generated",
        "reasons": ["refusal_wording", "no_support"],
        "refusal_kind": "partial",
        "refusal_correct": True,
        "p_grounded": 0.125,
        "p_refusal": 0.75,
        "p_self_generated": 0.125,
        "uncalibrated": False,
        "sdq": 0.5,
        "sdrd": -0.25,
        "sda": None,
        "qrd": 1.0,
        "qa": 0.0,
        "features": {
            "joined": {"sdq": 0.5, "sdrd": -0.25, "sda": None, "qrd": 1.0, "qa": 0.0},
            "maximum": {"sdq": 0.75, "sdrd": 0.1, "sda": None, "qrd": 1.0, "qa": 0.0},
            "undefined": {"sda": "no_support"},
        },
    }
    assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize("text", ["\ufffd", "a\ufffdb\ufffd", "\\.", "\\N", "\t\r\n\\t", "\x01\x7f\x85", "🙂 日本語"])
def test_odd_text_is_stored_as_it_is(writer, engine, text):
    write(writer, an_assessment(answer=text, question=text, tags={text: text}, model=text, app=text))
    (row,) = AssessmentQueries(engine).with_assessments("q-1", text)
    assert (row["answer"], row["question"], row["tags"], row["model"]) == (text, text, {text: text}, text)


def test_a_dead_letter_is_known_again_however_it_was_redacted_before(writer, rows):
    came = a_dead_letter(b"4111 1111 1111 1111 and a@b.example")
    for kinds in ((PersonalData.CARD,), (PersonalData.CARD, PersonalData.E_MAIL), ()):
        writer.write(a_batch(dead_letters=(redactor(kinds).dead_letter(came),)))
    assert rows("SELECT value FROM dead_letter") == [(b"[card] and a@b.example",)]


def test_every_field_of_a_dead_letter_is_kept(writer, rows):
    message = a_message(
        b"\x00\xff no \\N JSON",
        topic="answers.jsonl",
        offset=2**40,
        size=2**33,
        key=b"\x00key",
        headers=(("ce_id", b"\xff\x00"), ("ce_id", b""), ("x\0y", b"1")),
    )
    letter = a_dead_letter(message=message, path='tags["a\0\ud800"]', problem="is \udfff wrong")
    write(writer, dead_letters=(letter,))
    ((*found, digest),) = rows(
        "SELECT topic, partition, position, received_at, key, header_names, header_values, value, size, path, problem,"
        " encode(digest, 'hex') FROM dead_letter"
    )
    assert found == [
        "answers.jsonl",
        0,
        2**40,
        NOON,
        b"\x00key",
        ["ce_id", "ce_id", "x\ufffdy"],
        [b"\xff\x00", b"", b"1"],
        b"\x00\xff no \\N JSON",
        2**33,
        'tags["a\ufffd\ufffd"]',
        "is \ufffd wrong",
    ]
    assert len(digest) == 64


def test_a_file_whose_name_is_no_text_is_stored(writer, rows):
    """As `replay` reads it; Python has lone surrogates in the place of bytes that are not UTF-8."""
    topic = "log\udcff.jsonl"
    good = an_assessment(position=Position(topic=topic, partition=0, offset=0))
    writer.write(a_batch(good, dead_letters=(a_dead_letter(message=a_message(b"no", topic=topic, offset=1)),)))
    assert rows("SELECT source_topic FROM interaction UNION SELECT topic FROM dead_letter") == [("log\ufffd.jsonl",)]
    assert rows("SELECT source, received, dead FROM ingest_minute") == [("log\ufffd.jsonl", 2, 1)]
