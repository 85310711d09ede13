"""Labels on a real server: they stay on record, and the newest of each person counts."""

from __future__ import annotations

import pytest

from monitor.app.review.labels import MAX_NOTE_CHARS, label, named
from monitor.core.errors import WrongSettings
from monitor.review.label import Label
from tests.factories.answers import NOON, a_batch, an_assessment, an_interaction, at
from tests.rig.store.reviewing import G, R, S, said, write


def test_a_label_is_stored_with_what_stood_then(writer, application, rows):
    write(writer, an_assessment(id="1", verdict=S, rule_verdict=R))
    assert said(application, "1", G, note="it does say so").stored == 1
    rows("UPDATE assessment SET verdict = 'refusal', p_grounded = 0")
    assert rows("""
        SELECT app, interaction_id, occurred_at, label, labelled_by, labelled_at, note, verdict, rule_verdict,
            profile_hash, p_grounded, p_refusal, p_self_generated FROM review
    """) == [
        (
            "support-bot",
            "1",
            NOON,
            "grounded",
            "ann",
            NOON,
            "it does say so",
            "self_generated",
            "refusal",
            "0123456789abcdef",
            0.125,
            0.125,
            0.75,
        )
    ]


def test_a_correction_is_a_new_row_and_the_newest_of_each_person_counts(writer, application, reviews, rows):
    write(writer, an_assessment(id="1"))
    for verdict, by in ((G, "ann"), (R, "bob"), (S, "ann")):
        said(application, "1", verdict, by=by)
    assert rows("SELECT label FROM review ORDER BY id") == [("grounded",), ("refusal",), ("self_generated",)]
    assert {(one.by, one.label) for one in reviews.opinions()} == {("ann", S), ("bob", R)}


def test_the_same_once_more_is_no_new_row(writer, application, rows):
    write(writer, an_assessment(id="1"))
    assert [said(application, "1", verdict).stored for verdict in (G, G, S, G, G)] == [1, 0, 1, 1, 0]
    assert said(application, "1", G, note="because").stored == 1
    assert rows("SELECT count(*) FROM review") == [(4,)]


def test_a_file_that_corrects_itself_is_stored_in_its_order(writer, application, reviews):
    write(writer, an_assessment(id="1"))
    wishes = [named("support-bot/1", verdict, by="ann", note=None) for verdict in (G, S, S, R)]
    done = label(application.reviews, wishes, now=application.now())
    assert (done.stored, done.unchanged) == (3, 1)
    assert [one.label for one in reviews.opinions()] == [R]


def test_what_is_unknown_or_unassessed_is_named_and_nothing_is_stored(writer, application, rows):
    writer.write(a_batch(an_assessment(id="1"), pending=(an_interaction(id="2"),), received=2))
    wishes = [named(f"support-bot/{n}", G, by="ann", note=None) for n in (1, 2, 3)]
    with pytest.raises(WrongSettings) as error:
        label(application.reviews, wishes, now=application.now())
    assert "support-bot/2: is stored but not assessed yet" in str(error.value)
    assert "support-bot/3: no such interaction" in str(error.value)
    assert rows("SELECT count(*) FROM review") == [(0,)]


def test_a_note_is_never_cut(writer, application, rows):
    write(writer, an_assessment(id="1"))
    with pytest.raises(WrongSettings, match="the note has over"):
        said(application, "1", G, note="x" * (MAX_NOTE_CHARS + 1))
    said(application, "1", G, note="\0" + "x" * (MAX_NOTE_CHARS - 1))
    assert rows("SELECT note FROM review") == [("\ufffd" + "x" * (MAX_NOTE_CHARS - 1),)]


def test_slashes_in_a_name_are_understood_unless_two_are_called_so(writer, application, rows):
    write(writer, an_assessment(app="a", id="b/c"), an_assessment(app="x/y", id="z"))
    label(
        application.reviews, [named(name, G, by="ann", note=None) for name in ("a/b/c", "x/y/z")], now=application.now()
    )
    assert rows("SELECT app, interaction_id FROM review ORDER BY 1") == [("a", "b/c"), ("x/y", "z")]
    write(writer, an_assessment(app="a/b", id="c"))
    with pytest.raises(WrongSettings, match="is ambiguous"):
        label(application.reviews, [named("a/b/c", G, by="ann", note=None)], now=application.now())


def test_opinions_are_of_the_app_and_of_the_time(writer, application, reviews):
    write(writer, an_assessment(id="1"), an_assessment(id="2", occurred_at=at(-60)), an_assessment(id="3", app="shop"))
    label(
        application.reviews,
        [named(n, G, by="ann", note=None) for n in ("support-bot/1", "support-bot/2", "shop/3")],
        now=application.now(),
    )
    assert [one.id for one in reviews.opinions(app="shop")] == ["3"]
    assert [one.id for one in reviews.opinions(app="support-bot", since=NOON)] == ["1"]


def test_a_label_is_kept_with_an_assessment_that_changed_meanwhile(writer, reviews):
    write(writer, an_assessment(id="1"))
    stood = reviews.standing([("support-bot", "1"), ("support-bot", "2")])
    assert set(stood) == {("support-bot", "1")}
    assert reviews.keep([Label(standing=stood["support-bot", "1"], label=S, by="ann")], NOON) == 1


def test_who_has_labelled_since_some_label_was_the_newest(writer, application, reviews, monkeypatch):
    monkeypatch.setattr("monitor.store.review.labels._AT_ONCE", 1)
    assert reviews.newest_label() == 0
    write(writer, *(an_assessment(id=str(n)) for n in range(4)))
    said(application, "0", G)
    said(application, "1", G)
    newest = reviews.newest_label()
    assert reviews.labelled_since(newest) == {("support-bot", "1"): {"ann"}}  # perhaps stored a moment later
    for by in ("ann", "bob"):
        said(application, "2", G, by=by)
    said(application, "1", R, by="bob")
    assert reviews.labelled_since(newest) == {
        ("support-bot", "1"): {"ann", "bob"},
        ("support-bot", "2"): {"ann", "bob"},
    }
