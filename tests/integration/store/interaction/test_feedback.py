"""End users' thumbs: from events and by the API, kept apart, and gone with the answer."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import timedelta

from monitor.core.model import Feedback
from monitor.ingest.decode import Decoder
from monitor.store.interaction.feedback import add_feedback, thumbs
from monitor.store.privacy.erasure import Erasure, ErasureTarget
from tests.factories.answers import NOON, a_batch, a_message, an_assessment

APP = "support-bot"
WEEK = (NOON - timedelta(days=7), NOON + timedelta(days=1))


def event(**over):
    known = {"id": "q-2", "question": "How long?", "answer": "30 days.", "retrieved_documents": [], **over}
    (read,), dead, _ = Decoder(app=APP).decode_batch([a_message(json.dumps(known).encode())])
    assert not dead
    return read


def said(number, *feedback, at=NOON):
    made = an_assessment(id=f"q-{number}", occurred_at=at)
    return replace(made, interaction=replace(made.interaction, feedback=feedback))


def test_an_event_carries_thumbs_on_its_own_answer_or_on_earlier_ones():
    assert event(feedback="down").feedback == (Feedback(id="q-2", thumb="down"),)
    earlier = [{"id": "q-0", "thumb": "up"}, {"id": "q-1", "thumb": "down"}]
    assert event(feedback=earlier).feedback == tuple(Feedback(**one) for one in earlier)


def test_a_field_of_that_name_which_somebody_else_uses_is_left_alone():
    for other in (
        None,
        5,
        "great answer!",
        {"thumb": "up"},
        ["up"],
        [{"thumb": "up"}],
        [{"id": 3, "thumb": "up"}],
        True,
    ):
        assert event(feedback=other).feedback == ()
    assert len(event(feedback=[{"id": str(n), "thumb": "up"} for n in range(101)]).feedback) == 100


def test_the_newest_thumb_on_a_stored_answer_counts_once(writer, engine, caplog):
    up, down = Feedback(id="q-1", thumb="up"), Feedback(id="q-1", thumb="down")
    tally = writer.write(a_batch(said(1, up), said(2, down)))
    assert tally.assessed == 2
    assert thumbs(engine, APP, *WEEK) == {"up": 0, "down": 1}
    again = writer.write(a_batch(said(1, up)))  # an event that is repeated with a thumb
    assert again.duplicate == 1
    assert thumbs(engine, APP, *WEEK) == {"up": 1, "down": 0}
    with caplog.at_level(logging.WARNING):
        writer.write(a_batch(said(3, Feedback(id="nobody", thumb="up"))))
    assert "feedback on 1 answers that are not stored" in caplog.text
    assert thumbs(engine, APP, *WEEK) == {"up": 1, "down": 0}


def test_events_that_are_read_again_do_not_replace_a_newer_thumb(writer, engine, rows):
    up, down = Feedback(id="q-1", thumb="up"), Feedback(id="q-1", thumb="down")
    hour = timedelta(hours=1)
    writer.write(a_batch(said(1)))
    assert add_feedback(engine, APP, "q-1", "up", NOON)
    writer.write(a_batch(said(3, up, at=NOON - hour), said(2, down, at=NOON - 2 * hour)))
    assert rows("SELECT thumb, given_at FROM feedback") == [("up", NOON)]
    assert add_feedback(engine, APP, "q-1", "down", NOON + hour)
    assert add_feedback(engine, APP, "q-1", "up", NOON)  # stored, and older: the answer is known
    assert rows("SELECT thumb, given_at FROM feedback") == [("down", NOON + hour)]


def test_a_thumb_from_the_future_is_one_of_now(writer, rows):
    writer.write(a_batch(said(1), said(2, Feedback(id="q-1", thumb="up"), at=NOON + timedelta(days=9_000))))
    ((given_at,),) = rows("SELECT given_at FROM feedback")
    assert given_at < NOON + timedelta(days=2)


def test_in_a_batch_the_thumb_of_the_newest_event_counts(writer, rows):
    up, down = Feedback(id="q-1", thumb="up"), Feedback(id="q-1", thumb="down")
    writer.write(a_batch(said(1, down), said(2, up, at=NOON - timedelta(hours=1))))
    assert rows("SELECT thumb, given_at FROM feedback") == [("down", NOON)]


def test_thumbs_count_until_a_month_after_the_period(writer, engine):
    writer.write(a_batch(said(1), said(2)))
    assert add_feedback(engine, APP, "q-1", "down", WEEK[1] + timedelta(days=29))
    assert add_feedback(engine, APP, "q-2", "down", WEEK[1] + timedelta(days=30))
    assert thumbs(engine, APP, *WEEK) == {"up": 0, "down": 1}


def test_feedback_is_counted_for_the_period_of_the_answer(writer, engine):
    writer.write(a_batch(said(1), said(2)))
    assert add_feedback(engine, APP, "q-1", "down", NOON + timedelta(hours=2))
    assert not add_feedback(engine, APP, "q-9", "down", NOON)
    assert not add_feedback(engine, "other", "q-1", "down", NOON)
    assert thumbs(engine, APP, *WEEK) == {"up": 0, "down": 1}
    assert thumbs(engine, APP, NOON - timedelta(days=7), NOON) == {"up": 0, "down": 0}


def test_it_goes_with_the_answer(writer, engine, rows):
    writer.write(a_batch(said(1, Feedback(id="q-1", thumb="down")), said(2, Feedback(id="q-2", thumb="up"))))
    erasure = Erasure(engine)
    found = erasure.find(ErasureTarget(app=APP, ids=("q-1",)))
    erasure.erase(APP, found, by="ann", reason_given=True, now=NOON)
    assert rows("SELECT interaction_id, thumb FROM feedback") == [("q-2", "up")]
