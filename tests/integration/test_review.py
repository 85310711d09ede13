"""Human labels on a real server: a random sample that is one, offers, labels that stay on record, and the commands."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from contextlib import closing
from datetime import timedelta
from math import sqrt

import pytest
import typer
from typer.testing import CliRunner

from monitor.app.review import MAX_NOTE_CHARS, agreement_report, export, label, named, offers
from monitor.app.wiring.application import Application
from monitor.cli.app import app as command_line
from monitor.cli.review import commands as cli_review
from monitor.core.errors import WrongSettings
from monitor.core.model import Probabilities, Verdict
from monitor.core.settings.load import load_settings
from monitor.review.draw import Offer, draw
from monitor.review.label import Drawn, Label
from monitor.store.database import connect
from monitor.store.interaction.writer import Writer
from monitor.store.review import labels as review_store
from monitor.store.review.labels import Reviews
from tests.factories.answers import NOON, a_batch, an_assessment, an_interaction, at, clock

G, R, S = Verdict.GROUNDED, Verdict.REFUSAL, Verdict.SELF_GENERATED
WEEK = timedelta(days=7)
JUDGED = """
    INSERT INTO judgement (app, id, metric, model, prompt_hash, occurred_at, mode, score, parts, calls, input_tokens,
        output_tokens, judged_at)
    VALUES ('support-bot', %s, %s, %s, '', %s, 'combined', %s, '{}', 1, 1, 1, %s)
"""


@pytest.fixture
def reviews(engine):
    return Reviews(engine)


@pytest.fixture
def application(database, monkeypatch):
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_EMBEDDING__PROVIDER", "hash")
    with Application(load_settings(), now=clock) as application:
        yield application


def write(writer, *assessments):
    writer.write(a_batch(*assessments))


def many(number, **over):
    return [an_assessment(id=str(n), **over) for n in range(number)]


def candidates(reviews, **over):
    return reviews.candidates(NOON - WEEK, NOON, **over)


def ids(found):
    return [candidate.id for candidate in found]


def said(application, name, verdict, by="ann", **over):
    return label(application, [named(f"support-bot/{name}", verdict, by=by, note=over.get("note"))])


# --- candidates ---


def test_the_order_of_chance_is_the_same_for_every_process_and_whatever_came_first(
    writer, reviews, new_database, migrated_template
):
    write(writer, *many(50))
    url = new_database(migrated_template)
    with closing(Writer(url, clock)) as other:
        write(other, *reversed(many(50, verdict=S)))
    elsewhere = connect(url)
    assert ids(candidates(reviews)) == ids(candidates(Reviews(elsewhere)))
    elsewhere.dispose()
    assert sorted(ids(candidates(reviews)), key=int) == [str(n) for n in range(50)]
    assert ids(candidates(reviews)) != sorted(ids(candidates(reviews)))


def test_a_beginning_of_it_is_a_simple_random_sample(writer, reviews):
    """Of verdicts, hours and apps that have each a share of their own; four standard errors either way."""
    number, sample = 1_500, 300
    write(writer, *(
        an_assessment(
            id=f"q-{n:04}", app="small" if n % 10 == 0 else "large", verdict=S if n % 4 == 0 else G,
            occurred_at=NOON - timedelta(minutes=n * (n % 3)),
        )
        for n in range(number)
    ))  # fmt: skip
    taken = candidates(reviews)[:sample]
    middle = NOON - timedelta(minutes=500)
    for share, counted in (
        (0.25, sum(c.verdict is S for c in taken)),
        (0.1, sum(c.app == "small" for c in taken)),
        (sum(n * (n % 3) > 500 for n in range(number)) / number, sum(c.occurred_at < middle for c in taken)),
    ):
        assert counted / sample == pytest.approx(share, abs=4 * sqrt(share * (1 - share) / sample))


def test_candidates_are_of_the_span_and_of_the_app(writer, reviews):
    write(
        writer,
        an_assessment(id="old", occurred_at=NOON - WEEK - timedelta(seconds=1)),
        an_assessment(id="first", occurred_at=NOON - WEEK),
        an_assessment(id="last", occurred_at=NOON),
        an_assessment(id="later", occurred_at=at(1)),
        an_assessment(id="other", app="shop"),
    )
    assert sorted(ids(candidates(reviews))) == ["first", "last", "other"]
    assert ids(candidates(reviews, app="shop")) == ["other"]


def test_what_is_not_assessed_yet_is_no_candidate(writer, reviews):
    writer.write(a_batch(an_assessment(id="1"), pending=(an_interaction(id="2"),), received=2))
    assert ids(candidates(reviews)) == ["1"]


def test_the_live_verdict_counts_and_no_rescore(writer, reviews, rows):
    write(writer, an_assessment(verdict=S, rule_verdict=R))
    rows("""
        INSERT INTO assessment SELECT app, id, 'rescore', occurred_at, profile_name, embedding_model, 'grounded',
            rule_verdict, reasons, refusal_kind, refusal_correct, p_grounded, p_refusal, p_self_generated,
            uncalibrated, sdq, sdrd, sda, qrd, qa, features, support, false, revised_at, earlier FROM assessment
    """)
    (candidate,) = candidates(reviews)
    assert (candidate.verdict, candidate.rule_verdict) == (S, R)
    assert candidate.probabilities == Probabilities(grounded=0.125, refusal=0.125, self_generated=0.75)
    assert (candidate.faithfulness, candidate.people, candidate.drawn) == (None, frozenset(), None)


def test_the_newest_faithfulness_counts(writer, reviews, rows):
    write(writer, an_assessment(id="1"))
    rows(JUDGED, "1", "faithfulness", "old", NOON, 0.25, at(1))
    rows(JUDGED, "1", "faithfulness", "new", NOON, 0.75, at(2))
    rows(JUDGED, "1", "answer_relevance", "new", NOON, 0.5, at(3))
    assert candidates(reviews)[0].faithfulness == 0.75


def test_so_many_labels_leave_enough_that_are_open(writer, reviews, application, monkeypatch):
    monkeypatch.setattr(review_store, "CANDIDATES", 5)
    write(writer, *many(20))
    in_order = ids(candidates(reviews))
    assert len(in_order) == 5
    for id_ in in_order[:4]:
        said(application, id_, G)
    assert len([c for c in candidates(reviews) if not c.people]) == 5
    assert sorted(ids(candidates(reviews, labelled_only=True))) == sorted(in_order[:4])


# --- offers ---


def test_what_was_drawn_is_remembered_with_the_label(writer, application, rows):
    write(writer, *many(8))
    for offer in offered(application, 2):
        application.reviews.keep_offer(offer, to="ann", now=at(1))
        said(application, offer.candidate.id, G)
    assert Counter(drawn for (drawn,) in rows("SELECT drawn FROM review")) == {"margin": 1, "random": 1}
    assert rows("SELECT DISTINCT offered_to, offered_at, occurred_at FROM review_offer") == [("ann", at(1), NOON)]


def offered(application, count, **over):
    known = {"app": None, "span": WEEK, "by": "ann", "random_only": False, "second_opinion": False}
    return offers(application, count=count, **{**known, **over})


def test_what_nobody_was_offered_is_a_chosen_one(writer, application, rows):
    write(writer, an_assessment(id="1"))
    said(application, "1", G)
    assert rows("SELECT drawn FROM review") == [("chosen",)]


def test_an_offer_is_remembered_once_for_each_reason(writer, reviews, rows):
    write(writer, an_assessment(id="1"))
    (candidate,) = candidates(reviews)
    for reason, minute in ((Drawn.MARGIN, 1), (Drawn.RANDOM, 2), (Drawn.MARGIN, 3)):
        reviews.keep_offer(Offer(candidate=candidate, drawn=reason), to="ann", now=at(minute))
    assert rows("SELECT drawn, offered_at FROM review_offer ORDER BY 2") == [("margin", at(1)), ("random", at(2))]
    assert reviews.standing([("support-bot", "1")])["support-bot", "1"].drawn is Drawn.RANDOM


def test_those_labelled_before_join_the_random_sample_when_the_draw_meets_them(writer, application, reviews, rows):
    write(writer, *many(9))
    first = candidates(reviews)[0]
    reviews.keep_offer(Offer(candidate=first, drawn=Drawn.MARGIN), to="ann", now=NOON)
    said(application, first.id, S)
    assert [opinion.drawn for opinion in reviews.opinions()] == [Drawn.MARGIN]
    (offer,) = draw(candidates(reviews), 1, random_only=True)
    reviews.keep_offer(offer, to="ann", now=at(1))
    assert [opinion.drawn for opinion in reviews.opinions()] == [Drawn.RANDOM]
    assert rows("SELECT drawn FROM review") == [("margin",)]  # as it was known then


def test_a_second_opinion_is_asked_of_others(writer, application):
    write(writer, *many(4))
    said(application, "1", G, by="ann")
    said(application, "2", G, by="bob")
    assert [o.candidate.id for o in offered(application, 9, by="bob", second_opinion=True)] == ["1"]
    assert {o.candidate.id for o in offered(application, 9, by="bob")} == {"0", "3"}


# --- labels ---


def test_a_label_is_stored_with_what_stood_then(writer, application, rows):
    write(writer, an_assessment(id="1", verdict=S, rule_verdict=R))
    assert said(application, "1", G, note="it does say so").stored == 1
    rows("UPDATE assessment SET verdict = 'refusal', p_grounded = 0")
    assert rows("""
        SELECT app, interaction_id, occurred_at, label, labelled_by, labelled_at, note, verdict, rule_verdict,
            profile_hash, p_grounded, p_refusal, p_self_generated FROM review
    """) == [(
        "support-bot", "1", NOON, "grounded", "ann", NOON, "it does say so", "self_generated", "refusal",
        "0123456789abcdef", 0.125, 0.125, 0.75,
    )]  # fmt: skip


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
    done = label(application, wishes)
    assert (done.stored, done.unchanged) == (3, 1)
    assert [one.label for one in reviews.opinions()] == [R]


def test_what_is_unknown_or_unassessed_is_named_and_nothing_is_stored(writer, application, rows):
    writer.write(a_batch(an_assessment(id="1"), pending=(an_interaction(id="2"),), received=2))
    wishes = [named(f"support-bot/{n}", G, by="ann", note=None) for n in (1, 2, 3)]
    with pytest.raises(WrongSettings) as error:
        label(application, wishes)
    assert "support-bot/2: is stored and not assessed yet" in str(error.value)
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
    label(application, [named(name, G, by="ann", note=None) for name in ("a/b/c", "x/y/z")])
    assert rows("SELECT app, interaction_id FROM review ORDER BY 1") == [("a", "b/c"), ("x/y", "z")]
    write(writer, an_assessment(app="a/b", id="c"))
    with pytest.raises(WrongSettings, match="several are called so"):
        label(application, [named("a/b/c", G, by="ann", note=None)])


def test_opinions_are_of_the_app_and_of_the_time(writer, application, reviews):
    write(writer, an_assessment(id="1"), an_assessment(id="2", occurred_at=at(-60)), an_assessment(id="3", app="shop"))
    label(application, [named(n, G, by="ann", note=None) for n in ("support-bot/1", "support-bot/2", "shop/3")])
    assert [one.id for one in reviews.opinions(app="shop")] == ["3"]
    assert [one.id for one in reviews.opinions(app="support-bot", since=NOON)] == ["1"]


def test_a_label_is_kept_with_an_assessment_that_changed_meanwhile(writer, reviews):
    write(writer, an_assessment(id="1"))
    stood = reviews.standing([("support-bot", "1"), ("support-bot", "2")])
    assert set(stood) == {("support-bot", "1")}
    assert reviews.keep([Label(standing=stood["support-bot", "1"], label=S, by="ann")], NOON) == 1


# --- export and agreement ---


def exported(application, **over):
    out = io.StringIO()
    done = export(application, out, **{"app": None, "span": None, **over})
    return done, [json.loads(line) for line in out.getvalue().splitlines()]


def test_labelled_interactions_are_exported_with_the_label_of_the_majority(writer, application):
    write(writer, *many(3))
    for id_, verdict, by in (("0", G, "ann"), ("1", G, "ann"), ("1", S, "bob"), ("1", S, "cat"), ("0", R, "bob")):
        said(application, id_, verdict, by=by)
    done, lines = exported(application)
    assert (done.labelled, done.disputed, done.gone) == (2, 2, 0)
    assert [(line["id"], line["label"], line["labelled_by"]) for line in lines] == [
        ("0", "refusal", ["bob"]), ("1", "self_generated", ["bob", "cat"]),
    ]  # fmt: skip
    assert lines[0]["group"] == lines[1]["group"]  # the same question


def test_more_labels_than_a_page_are_all_exported(writer, application):
    number = review_store._PAGE + 3
    write(writer, *many(number))
    label(application, [named(f"support-bot/{n}", G, by="ann", note=None) for n in range(number)])
    assert {line["id"] for line in exported(application)[1]} == {str(n) for n in range(number)}


def test_labels_outlive_the_partition_of_their_interaction(writer, application, reviews, rows):
    write(writer, an_assessment(id="old", occurred_at=NOON - timedelta(days=40)), an_assessment(id="new"))
    for id_ in ("old", "new"):
        said(application, id_, G)
    rows("DROP TABLE interaction_2025_10")
    rows("DROP TABLE assessment_2025_10")
    done, lines = exported(application)
    assert (done.labelled, done.gone, [line["id"] for line in lines]) == (2, 1, ["new"])
    assert {one.id for one in reviews.opinions()} == {"old", "new"}
    assert agreement_report(application, app=None, weeks=8).left_out == 2


def test_only_what_was_drawn_at_random_says_how_good_verdicts_are(writer, application):
    write(writer, *many(12))
    found = offered(application, 6)
    for offer in found:
        application.reviews.keep_offer(offer, to="ann", now=NOON)
    for offer in found[:5]:  # the sixth, a random one, stays open
        said(application, offer.candidate.id, S if offer.drawn is Drawn.MARGIN else G)
    said(application, found[1].candidate.id, R, by="bob")
    report = agreement_report(application, app=None, weeks=2)
    assert (report.together.verdict.total, report.together.verdict.agreeing) == (2, 1)
    assert (report.together.unlabelled, report.together.disputed, report.left_out) == (1, 1, 3)
    assert [week.name for week in report.weeks] == ["2025-W47"]
    assert [pair.people for pair in report.pairs] == [("ann", "bob")]
    assert agreement_report(application, app="shop", weeks=2).weeks == []


def test_agreement_is_of_the_last_weeks(writer, application):
    long_ago = NOON - timedelta(weeks=2)
    write(writer, an_assessment(id="1", occurred_at=long_ago))
    (offer,) = offered(application, 1, span=timedelta(days=30), random_only=True)
    application.reviews.keep_offer(offer, to="ann", now=NOON)
    said(application, "1", G)
    assert [week.name for week in agreement_report(application, app=None, weeks=3).weeks] == ["2025-W45"]
    assert agreement_report(application, app=None, weeks=2).weeks == []


# --- by single keys ---


@pytest.fixture
def sitting(application, monkeypatch):  # noqa: ARG001  the command runs under its settings
    """Runs `review next --interactive` with these keys, then the end of the input."""

    def run(*keys, arguments=()):
        pressed = iter(keys)

        def getchar():
            key = next(pressed, None)
            if key is None:
                raise EOFError
            if key == "^C":
                raise KeyboardInterrupt
            return key

        monkeypatch.setattr(typer, "getchar", getchar)
        monkeypatch.setattr(cli_review, "_on_a_terminal", lambda: True)
        return CliRunner().invoke(
            command_line, ["review", "next", "-i", "--since", "52w", "--by", "ann", *arguments], catch_exceptions=False
        )

    return run


def recently(number):
    return many(number, occurred_at=Application(load_settings()).now() - timedelta(hours=1))


def test_each_key_labels_and_the_next_one_comes(writer, sitting, rows):
    write(writer, *recently(6))
    ended = sitting("g", "x", "R", "n", "s", "q", "g")
    assert ended.exit_code == 0
    assert rows("SELECT label, labelled_by FROM review ORDER BY id") == [
        ("grounded", "ann"), ("refusal", "ann"), ("self_generated", "ann"),
    ]  # fmt: skip
    assert rows("SELECT count(DISTINCT interaction_id) FROM review_offer") == [(5,)]  # the sixth was not shown
    assert "3 labelled by ann" in ended.output


@pytest.mark.parametrize("keys", [(), ("^C",), ("q",)], ids=str)
def test_the_end_of_the_input_and_ctrl_c_end_it_well(writer, sitting, rows, keys):
    write(writer, *recently(3))
    ended = sitting(*keys)
    assert (ended.exit_code, rows("SELECT count(*) FROM review")) == (0, [(0,)])
    assert "0 labelled" in ended.output


def test_with_nothing_to_label_it_says_so(sitting):
    assert "nothing to label" in sitting().output


@pytest.mark.usefixtures("application")
def test_without_a_terminal_nobody_is_asked(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("g"))
    with pytest.raises(WrongSettings, match="needs a terminal"):
        CliRunner().invoke(command_line, ["review", "next", "-i", "--by", "ann"], catch_exceptions=False)
