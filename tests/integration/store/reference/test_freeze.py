"""References frozen on a real server: of which answers, in which versions, and sealed so that a change is found."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.app.reference import later_scores, listed
from monitor.app.review.labels import label, named
from monitor.audit.canonical import canonical
from monitor.core.errors import WrongSettings
from monitor.store.audit.checks.cross import acts_against_rows
from monitor.store.reference.references import ReferenceStore
from monitor.store.review.labels import Reviews
from tests.factories.answers import NOON, an_assessment
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.references import WEEK, froze, scored, usual, write
from tests.rig.store.reviewing import G, S


def sources(done):
    return [(one.model, one.topic, one.version, len(one.scores)) for one in done.frozen]


def test_a_reference_holds_the_ascending_scores_of_the_live_answers_of_the_period(writer, engine):
    late = [scored(0.5, id=f"late-{n}", answer=f"late {n}", occurred_at=NOON) for n in range(9)]
    write(writer, *usual(500), *late, *usual(9, app="other"))
    (one,) = froze(engine).frozen
    assert one.scores == tuple(n / 500 for n in range(500))
    assert (one.app, one.answers, one.drawn, one.frozen_by) == ("support-bot", 500, 500, "ann")
    assert (one.profile_hash, one.embedding_model) == ("0123456789abcdef", "hash/64")
    assert ReferenceStore(engine).read([one.hash]) == {one.hash: one}
    content = json.loads(json.dumps(one.content()))
    assert one.sha256 == hashlib.sha256(canonical(content)).hexdigest()
    assert one.sha256.startswith(one.hash)


def test_too_few_answers_are_refused_with_their_number_and_what_was_left_out(writer, engine, rows):
    write(writer, *usual(499), scored(0.9, id="again", answer="0 days.", occurred_at=WEEK.since))
    with pytest.raises(WrongSettings, match=r"needs 500 answers, and support-bot from .* has 499 \(1 repeated word"):
        froze(engine)
    with pytest.raises(WrongSettings, match="no answers of nobody from"):
        froze(engine, replace(WEEK, app="nobody"))
    assert rows("SELECT count(*) FROM reference") == [(0,)]


def test_answers_labelled_self_generated_are_left_out_and_repeated_ones_count_once(writer, engine):
    repeated = [scored(0.99, id=f"r-{n}", answer="Same.", occurred_at=WEEK.since) for n in range(300)]
    under_another = usual(5, first=900, profile_hash="ff", question="other?")
    newest = scored(0.0, id="newest", answer="new", occurred_at=NOON - timedelta(days=1))  # its profile counts
    write(writer, *usual(505), *repeated, *under_another, newest)
    for name, verdict in (("u-504", S), ("u-503", S), ("u-503", G)):  # the newest label of a person counts
        wish = named(f"support-bot/{name}", verdict, by="ann", note=None)
        assert label(Reviews(engine), [wish], now=NOON).stored == 1
    (one,) = froze(engine).frozen
    assert (one.labelled, one.repeated, one.other_profile) == (1, 299, 5)
    assert len(one.scores) == 504 + 1 + 1
    assert one.scores[-1] == pytest.approx(503 / 505, abs=1e-6)
    assert one.scores.count(0.99) == 1


def test_each_model_has_its_own_and_each_topic_with_enough_answers(writer, engine):
    billing = {"tags": {"topic": "billing"}}
    write(
        writer,
        *usual(500, model="large", **billing),
        *usual(20, first=600, model="large", tags={"topic": "rare"}, question="rare?"),
        *usual(30, first=700, model="small"),
    )
    done = froze(engine)
    assert sources(done) == [("large", "", 1, 520), ("large", "billing", 1, 500)]
    assert done.too_few == {"small": 30}
    with pytest.raises(WrongSettings, match=r"by the model small from .* has 30"):
        froze(engine, replace(WEEK, model="small"))
    again = froze(engine, replace(WEEK, model="large"))
    assert sources(again) == [("large", "", 2, 520), ("large", "billing", 2, 500)]


def test_a_newer_version_replaces_the_older_one_with_all_its_topics(writer, engine):
    write(writer, *usual(500, tags={"topic": "billing"}))
    store = ReferenceStore(engine)
    first = froze(engine)
    assert store.hashes() == {one.hash for one in first.frozen}
    write(writer, *usual(600, first=600, occurred_at=NOON + timedelta(1)))
    second = froze(engine, replace(WEEK, since=NOON, until=NOON + timedelta(days=2)))
    assert sources(second) == [("", "", 2, 600)]
    assert store.hashes() == {second.frozen[0].hash}
    assert len(store.every("support-bot")) == 3
    assert store.newest_profile("support-bot") == ("0123456789abcdef", "hash/64")
    assert store.newest_profile("nobody") is None


def test_an_erased_answer_keeps_its_place(writer, engine, rows):
    write(writer, *usual(500))
    rows("UPDATE interaction SET question = '', answer = '', marks = '{erased}' WHERE id IN ('u-1', 'u-2', 'u-3')")
    (one,) = froze(engine).frozen
    assert (one.repeated, len(one.scores)) == (0, 500)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE reference SET scores[500] = 0.5", "was changed: sha256"),
        ("UPDATE reference SET version = 7", "was changed: sha256, version"),
        ("DELETE FROM reference", "is not stored any more"),
    ],
)
def test_a_changed_reference_is_found_and_not_used(writer, engine, rows, change, problem):
    write(writer, *usual(500))
    (one,) = froze(engine).frozen

    def findings():
        with engine.connect() as connection:
            found = [finding.sentence for finding in acts_against_rows(connection, QUEUE_KEY)]
        return [sentence for sentence in found if sentence.startswith("the reference")]

    assert findings() == []
    rows(change)
    (sentence,) = (sentence for sentence in findings() if one.hash in sentence)
    assert problem in sentence
    assert ReferenceStore(engine).read([one.hash]) == {}


def test_the_rank_is_stored_and_sealed_with_the_assessment(writer, rows):
    write(writer, replace(an_assessment(id="with"), rank=20 / 1002, reference="aa"), an_assessment(id="without"))
    assert rows("SELECT id, rank, reference FROM assessment ORDER BY id") == [
        ("with", pytest.approx(20 / 1002, abs=1e-6), "aa"),
        ("without", None, None),
    ]
    bodies = dict(rows("SELECT subject, records FROM audit_queue WHERE kind = 'interaction'"))
    sealed = {id_: json.loads(text.splitlines()[1]) for id_, text in bodies.items()}
    assert (sealed["with"]["rank"], sealed["with"]["reference"]) == (0.01996008, "aa")
    assert not {"rank", "reference"} & sealed["without"].keys()


def test_the_state_of_each_reference_is_listed(writer, engine, rows):
    write(writer, *usual(500, model="large"), *usual(500, first=500, model="small"))
    store = ReferenceStore(engine)
    froze(engine)
    froze(engine, replace(WEEK, model="small"))

    def states(**profile):
        found = listed(store, "support-bot", **profile)
        return {(one.frozen.model, one.frozen.version): one.state.value for one in found}

    assert states() == {("large", 1): "in force", ("small", 2): "in force", ("small", 1): "replaced"}
    assert set(states(profile=("ff", "hash/64")).values()) == {"other profile", "replaced"}
    write(writer, scored(0.1, id="newest", occurred_at=NOON, embedding_model="other/3"))
    assert states()["large", 1] == "other profile"
    rows("UPDATE reference SET scores[9] = 0.5 WHERE model = 'large'")
    assert states()["large", 1] == "changed"


def test_a_later_period_is_compared_with_a_reference(writer, engine):
    write(writer, *usual(500, tags={"topic": "billing"}))
    later = replace(WEEK, since=NOON, until=NOON + timedelta(days=1))
    write(writer, *usual(600, first=600, occurred_at=NOON, tags={"topic": "billing"}), *usual(9, app="other"))
    store = ReferenceStore(engine)
    whole, billing = froze(engine).frozen
    assert len(later_scores(store, whole, later).scores) == len(later_scores(store, billing, later).scores) == 600
    with pytest.raises(WrongSettings, match=r"a comparison needs 500 answers, and .* there are 0 under"):
        later_scores(store, replace(whole, topic="other"), later)
