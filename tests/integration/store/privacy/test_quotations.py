"""What alerts quote of an interaction goes with it, and the rest is still read."""

from __future__ import annotations

import json
from dataclasses import replace

import psycopg
import pytest

from monitor.alert.explain.cause import Broken, Cause
from monitor.alert.explain.explanation import Explanation
from monitor.alert.explain.finding import Cluster, ExampleAnswer, Finding, Kind, Part, Value
from monitor.alert.notification import Notification
from monitor.privacy.masking import redact
from monitor.store.privacy.erasure import Erasure
from tests.factories.alert.notifications import a_notification, an_example
from tests.factories.answers import NOON, a_batch
from tests.rig.store.privacy import APP, SECRET, erase, told

MAIL = "jane.doe@shop.example"
JANE = Value(dimension="tag user", value="jane")
ITS_DOCUMENT = Value(dimension="document", value="d-1")


@pytest.fixture
def erasure(engine):
    return Erasure(engine)


def a_finding(**over):
    figures = {"answers": 10, "matching": 8, "rate": 0.8, "elsewhere": 0.1, "lift": 8.0, "share": 0.5, "owed": 0.4}
    before = {"before_rate": 0.1, "before_elsewhere": 0.1, "before_share": 0.5, "p": 0.001, "q": 0.001}
    return Finding(**{"values": (JANE,), "kind": Kind.WORSE, **figures, **before, **over})


def quoted(question):
    example = redact(question)[:200]
    return Explanation(
        signal="negative",
        answers=10,
        matching=5,
        before_answers=10,
        before_matching=1,
        looked_at=3,
        findings=(a_finding(values=(JANE, Value(dimension="model", value="m-1"), ITS_DOCUMENT)),),
        parts=tuple(Part(dimension=name, new=0, within=0, mix=0) for name in ("model", JANE.dimension, "tag channel")),
        clusters=(Cluster(words=("snapshots", "invoice"), questions=3, share=0.6, before_share=None, example=example),),
        telling=(told_of("q-1", question, SECRET), told_of("q-9", "Why?", "So.")),
        cause=Cause(suspects=(Broken.RETRIEVER,), looked_at=3, missing=ITS_DOCUMENT),
    )


def told_of(id_, question, answer):
    return ExampleAnswer(
        id=id_, app=APP, question=question, answer=answer, verdict="refusal", reasons=(), probability=0.9
    )


def put_explanation(database, said):
    content = {"explanation": json.dumps(said), "episode": "e", "fingerprint": "f", "made_at": NOON}
    put(database, "alert_explanation", content)


def put_notification(database, notification):
    content = {"payload": json.dumps(notification.to_json()), "receiver": "slack", "group_key": "g", "episode": "e"}
    put(database, "notification", content | {"number": 0, "news": "firing", "made_at": NOON})


def put(database, table, row):
    names, marks = ", ".join(row), ", ".join(["%s"] * len(row))
    with psycopg.connect(database) as connection:
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))


def test_what_alerts_quote_goes_and_is_still_read(database, writer, erasure, rows):
    assessment = told("q-1", NOON)
    writer.write(a_batch(assessment))
    said = quoted(assessment.interaction.question)
    put_explanation(database, said.to_json())
    example = an_example(id="q-1", question=SECRET, answer=SECRET)
    shown = {"cause": tuple(said.conclusion()), "changes": tuple(said.sentences())}
    put_notification(database, a_notification(**shown, examples=(example,)))
    erase(erasure)
    ((stored,),) = rows("SELECT explanation FROM alert_explanation")
    left = Explanation.from_json(stored)
    assert [(one.id, one.question, one.answer) for one in left.telling] == [("q-1", "", ""), ("q-9", "Why?", "So.")]
    assert left.clusters[0].example == ""
    assert [value.value for value in left.findings[0].values] == ["(erased)", "m-1", "(erased)"]
    assert replace(left.findings[0], values=()) == replace(said.findings[0], values=())
    assert [part.dimension for part in left.parts] == ["model", "tag (erased)", "tag channel"]
    assert left.clusters[0].words == ("invoice",)
    assert left.cause.missing == replace(ITS_DOCUMENT, value="(erased)")
    assert "jane" not in str(stored)
    ((payload,),) = rows("SELECT payload FROM notification")
    assert SECRET not in json.dumps(payload)
    assert Notification.from_json(payload).examples[0].id == "q-1"
    assert payload["changes"][0].startswith("(erased) = model m-1 (and 1 more that coincide): 80 % ")
    assert payload["changes"][1] == "60 % of the failing questions (erased)"
    assert payload["cause"][-1].startswith("Next: (erased): is it still in the index?")


def test_a_quotation_is_found_by_the_question_alone(database, writer, erasure, rows):
    assessment = told("q-1", NOON)
    writer.write(a_batch(assessment))
    put_explanation(database, quoted(assessment.interaction.question).to_json() | {"telling": []})
    erase(erasure)
    assert SECRET not in str(rows("SELECT explanation FROM alert_explanation"))


@pytest.mark.parametrize("question", ["I am Jane", "Is “Jane” a name that ”Jane Doe” may have in a shop?"])
def test_a_quotation_goes_whole_however_short_and_whatever_signs_it_has(database, writer, erasure, rows, question):
    writer.write(a_batch(told("q-1", NOON, question=question)))
    said = quoted(question)
    put_explanation(database, said.to_json() | {"telling": []})
    put_notification(database, a_notification(changes=tuple(said.sentences())))
    erase(erasure)
    left = str(rows("SELECT explanation FROM alert_explanation") + rows("SELECT payload FROM notification"))
    assert "Jane" not in left
    assert "(erased)" in left


def test_values_and_words_of_an_explanation_go_though_it_shows_other_answers(database, writer, erasure, rows):
    """As the release before stored them, unmasked, and as they are stored now."""
    mail, masked = (Value(dimension="tag mail", value=text) for text in (MAIL, "[e-mail]"))
    said = quoted("Why?")
    findings = [a_finding(values=(value,)) for value in (JANE, mail, masked, replace(JANE, value="joe"))]
    explanation = replace(said, findings=tuple(findings), telling=said.telling[1:])
    writer.write(a_batch(told("q-1", NOON, tags={"user": "jane", "mail": MAIL})))
    put_explanation(database, explanation.to_json())
    erase(erasure)
    ((stored,),) = rows("SELECT explanation FROM alert_explanation")
    left = Explanation.from_json(stored)
    assert [finding.values[0].value for finding in left.findings] == ["(erased)", "(erased)", "(erased)", "joe"]
    assert (left.clusters[0].words, left.telling) == (("invoice",), said.telling[1:])
