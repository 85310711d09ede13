"""End users' thumbs: from events and by the API, kept apart, and gone with the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from monitor.core.model import Feedback, Mark
from monitor.core.text.personal_data import PersonalData
from monitor.core.trace import Collected
from monitor.ingest.decode import Decoder, TopicDecoder
from monitor.privacy.redaction.redactor import redactor
from monitor.store.interaction import feedback as feedback_rows
from monitor.store.interaction.feedback import add_feedback, feedback_on, thumbs
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


def test_an_id_longer_than_any_answers_is_left_alone_beside_an_answer_and_refused_by_itself():
    """No index could hold it, and the batch would fail on every start."""
    for number, kept in ((512, 1), (513, 0)):
        assert len(event(feedback=[{"id": "x" * number, "thumb": "up"}]).feedback) == kept
    alone = {"feedback": [{"id": "a", "thumb": "up"}, {"id": "x" * 513, "thumb": "up"}]}
    _, (letter,), _ = Decoder(app=APP).decode_batch([a_message(json.dumps(alone).encode())])
    assert (letter.path, letter.problem) == ("feedback[1].id", "has 513 characters; the limit is 512")


def test_the_newest_thumb_on_a_stored_answer_counts_once(writer, engine):
    up, down = Feedback(id="q-1", thumb="up"), Feedback(id="q-1", thumb="down")
    tally = writer.write(a_batch(said(1, up), said(2, down)))
    assert tally.assessed == 2
    assert thumbs(engine, APP, *WEEK) == {"up": 0, "down": 1}
    again = writer.write(a_batch(said(1, up)))  # an event that is repeated with a thumb
    assert again.duplicate == 1
    assert thumbs(engine, APP, *WEEK) == {"up": 1, "down": 0}
    writer.write(a_batch(said(3, Feedback(id="nobody", thumb="up"))))
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


def alone(event, **over):
    (read,) = Decoder(app=APP).decode_batch([a_message(json.dumps(event).encode(), **over)]).collected
    return read


def collected(*feedback, at=NOON):
    return Collected(received_at=at, app=APP, feedback=feedback)


def test_feedback_comes_in_an_event_of_its_own():
    event = {
        "feedback": [{"id": "q-1", "thumb": "down", "comment": " Wrong. "}, {"id": 7, "thumb": "up"}],
        "app": "bot",
    }
    read = alone({**event, "occurred_at": "2026-03-01T10:00:00Z"})
    at = datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert read.app == "bot"
    assert read.feedback == (
        Feedback(id="q-1", thumb="down", comment="Wrong.", given_at=at),
        Feedback(id="7", thumb="up", given_at=at),
    )
    (one,) = alone({"feedback": "up", "id": "q-1", "comment": "x" * 5_000}).feedback
    assert (one.id, one.thumb, len(one.comment)) == ("q-1", "up", 4_000)
    wrapped = {"specversion": "1.0", "id": "e", "source": "/bot", "type": "t", "data": event}
    assert alone(wrapped).app == "bot"


def test_feedback_that_would_be_lost_becomes_a_dead_letter():
    for event, path in (
        ({"feedback": [{"id": "q", "thumb": "sideways"}]}, "feedback[0].thumb"),
        ({"feedback": [{"thumb": "up"}]}, "feedback[0].id"),
        ({"feedback": ["up"]}, "feedback[0]"),
        ({"feedback": "great"}, "feedback"),
        ({"feedback": "up"}, "id"),
        ({"feedback": [{"id": "q", "thumb": "up"}] * 101}, "feedback"),
        ({"feedback": "up", "id": "q", "question": "?"}, "retrieved_documents"),
    ):
        (letter,) = Decoder(app=APP).decode_batch([a_message(json.dumps(event).encode())]).dead_letters
        assert letter.path == path


def test_a_comment_is_stored_and_stays_until_the_thumb_changes(writer, engine):
    down, up = Feedback(id="q-1", thumb="down"), Feedback(id="q-1", thumb="up")
    hour = timedelta(hours=1)
    writer.write(replace(a_batch(said(1)), collected=(collected(replace(down, comment="Wrong."), at=NOON - 3 * hour),)))
    assert feedback_on(engine, APP, "q-1")["comment"] == "Wrong."
    writer.write(replace(a_batch(), collected=(collected(down, at=NOON - 2 * hour),)))
    assert feedback_on(engine, APP, "q-1")["comment"] == "Wrong."
    writer.write(replace(a_batch(), collected=(collected(up, at=NOON - hour),)))
    assert feedback_on(engine, APP, "q-1") == {"thumb": "up", "comment": None, "given_at": NOON - hour}
    assert feedback_on(engine, APP, "q-2") is None
    writer.write(replace(a_batch(said(2)), collected=(collected(Feedback(id="q-2", thumb="up", comment="x")),)))
    assert add_feedback(engine, APP, "q-2", "down", NOON + hour, comment="No.")
    assert feedback_on(engine, APP, "q-2")["comment"] == "No."


def test_feedback_that_comes_before_its_answer_waits_for_it(writer, engine, rows):
    writer.write(replace(a_batch(), collected=(collected(Feedback(id="q-1", thumb="down", comment="Wrong.")),)))
    assert rows("SELECT interaction_id FROM early_feedback") == [("q-1",)]
    assert feedback_on(engine, APP, "q-1") is None
    writer.write(a_batch(said(1)))
    assert rows("SELECT interaction_id FROM early_feedback") == []
    assert feedback_on(engine, APP, "q-1")["comment"] == "Wrong."


def test_a_comment_that_waits_stays_until_the_thumb_changes(writer, engine):
    down, minute = Feedback(id="q-1", thumb="down"), timedelta(minutes=1)
    for at, one in (
        (NOON - 3 * minute, replace(down, comment="Wrong.")),
        (NOON - 2 * minute, down),
        (NOON - 3 * minute, replace(down, id="q-2", comment="Wrong.")),
        (NOON - 2 * minute, Feedback(id="q-2", thumb="up")),
    ):
        writer.write(replace(a_batch(), collected=(collected(one, at=at),)))
    writer.write(a_batch(said(1), said(2)))
    assert feedback_on(engine, APP, "q-1") == {"thumb": "down", "comment": "Wrong.", "given_at": NOON - 2 * minute}
    assert feedback_on(engine, APP, "q-2") == {"thumb": "up", "comment": None, "given_at": NOON - 2 * minute}


def test_what_waits_is_bounded_in_time_and_number(writer, rows, monkeypatch, caplog):
    monkeypatch.setattr(feedback_rows, "MOST_EARLY", 2)
    early = tuple(Feedback(id=f"nobody-{n}", thumb="up") for n in range(3))
    writer.write(replace(a_batch(), collected=(collected(*early),)))
    assert rows("SELECT count(*) FROM early_feedback") == [(2,)]
    assert "feedback on 1 answers that are not stored was left out" in caplog.text
    caplog.clear()
    monkeypatch.setattr(feedback_rows, "EARLY_FOR", timedelta(seconds=-1))
    writer.write(replace(a_batch(), collected=(collected(Feedback(id="late", thumb="up")),)))
    assert rows("SELECT interaction_id FROM early_feedback") == [("late",)]
    assert "feedback on 2 answers" in caplog.text


def test_comments_are_redacted_like_all_else():
    decoder = TopicDecoder(Decoder(app=APP), {}, redactor([PersonalData.E_MAIL]))
    alone_, beside = (
        {"feedback": [{"id": "q", "thumb": "up", "comment": "Write to ann@example.com"}]},
        {"id": "a", "question": "?", "answer": "!", "retrieved_documents": []},
    )
    read = decoder.decode_batch(a_message(json.dumps(e).encode()) for e in (alone_, {**beside, **alone_}))
    assert [one.feedback[0].comment for one in (*read.collected, *read.interactions)] == ["Write to [e-mail]"] * 2
    assert Mark.REDACTED in read.interactions[0].marks  # so that its bytes are kept nowhere
