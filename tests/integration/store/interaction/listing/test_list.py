"""The list of interactions: for any filters its pages hold exactly the rows that match, in order, once."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event

from monitor.assess.reference import ALPHA
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Metrics, Reason, Refusal, RefusalKind, Verdict
from monitor.review.label import Drawn, Label, Standing
from monitor.store.database import TakesTooLong, limited_read
from monitor.store.interaction.filters import Filters, Labelled, MetricRange, PagePosition, RefusalCorrectness
from monitor.store.interaction.listing import list as browse_module
from monitor.store.interaction.listing.list import InteractionList
from monitor.store.review.labels import Reviews
from tests.factories.answers import NOON, PROBABLE, SOME_METRICS, a_batch, an_assessment, an_interaction, at
from tests.factories.assess.diagnoses import a_diagnosis

DAY = timedelta(days=1)
WORDS = ("refund", "Invoice", "über", "100%", "under_score", "warranty")
ALL = Filters(since=NOON - 70 * DAY, until=NOON + DAY)
REASONS = (Reason.MISSING_FACT, Reason.NOT_IN_DOCUMENTS, Reason.CONTRADICTS_DOCUMENTS)


def some_assessments(number, rng):
    """Times over two months, in bursts, several of them the very same moment."""
    moments = [NOON - timedelta(minutes=rng.randrange(60 * 24 * 60)) for _ in range(number // 12)]
    found = []
    for n in range(number):
        verdict = rng.choices(list(Verdict), (8, 2, 2))[0]
        refused = Refusal(kind=RefusalKind.FULL, correct=rng.choice((True, False, None)))
        sdq = rng.choice((None, 0.25, 0.5, 0.75))
        found.append(
            an_assessment(
                id=f"q-{n}",
                app=rng.choice(("support", "support", "shop")),
                occurred_at=rng.choice(moments) + timedelta(seconds=rng.choice((0, 0, 1, 40, 61))),
                environment=rng.choice(("production", "staging")),
                model=rng.choice(("large", "small", None)),
                tags=rng.choice(({}, {"topic": "billing"}, {"topic": "login"})),
                question=" ".join(rng.choices(WORDS, k=2)),
                answer=" ".join(rng.choices(WORDS, k=2)),
                verdict=verdict,
                reasons=tuple(rng.sample(REASONS, 2)) if verdict is Verdict.SELF_GENERATED else (),
                refusal=refused if verdict is Verdict.REFUSAL else Refusal(kind=RefusalKind.NONE),
                metrics=replace(SOME_METRICS, sdq=sdq),
                rank=rng.choice((None, 0.004, 0.1, 0.11, 1.0)),
                diagnosis=rng.choice((None, *map(a_diagnosis, Diagnosis))),
            )
        )
    return found


def matches(a, filters, labels):
    it, wanted = a.interaction, filters.metric
    text = f"{it.question}\n{it.answer}".lower()
    terms = (filters.words or "").lower().split()
    its = labels.get((it.app, it.id))
    said = {Labelled.NO: its is None, Labelled.YES: its is not None, Labelled.WRONG: its not in {None, a.verdict}}
    return all(
        (
            filters.since <= it.occurred_at < filters.until,
            filters.app in {None, it.app},
            filters.environment in {None, it.environment},
            filters.model in {None, it.model},
            filters.topic in {None, it.tags.get("topic")},
            not filters.verdicts or a.verdict in filters.verdicts,
            filters.reason is None or filters.reason in a.reasons,
            not filters.diagnoses or (a.diagnosis is not None and a.diagnosis.diagnosis in filters.diagnoses),
            filters.refusal is None or a.refusal.correct is (filters.refusal is RefusalCorrectness.CORRECT),
            wanted is None
            or (
                a.metrics.sdq is not None
                and (wanted.low is None or a.metrics.sdq >= wanted.low)
                and (wanted.high is None or a.metrics.sdq <= wanted.high)
            ),
            filters.labelled is None or said[filters.labelled],
            not filters.suspicious or (a.verdict is Verdict.SELF_GENERATED if a.rank is None else a.rank <= ALPHA),
            all(
                term not in text if term.startswith("-") else term in text for term in terms if not term.startswith("-")
            ),
            not any(term[1:] in text for term in terms if term.startswith("-")),
        )
    )


def some_filters(rng):
    choices = {
        "app": ("support", "shop", "nobody"),
        "environment": ("staging",),
        "model": ("small",),
        "topic": ("billing",),
        "verdicts": (frozenset({Verdict.REFUSAL}), frozenset({Verdict.REFUSAL, Verdict.SELF_GENERATED})),
        "reason": REASONS,
        "diagnoses": (frozenset({Diagnosis.RETRIEVAL_NOISY}), frozenset(Diagnosis) - {Diagnosis.HEALTHY}),
        "refusal": tuple(RefusalCorrectness),
        "labelled": tuple(Labelled),
        "suspicious": (True,),
        "metric": (MetricRange(metric="sdq", low=0.5), MetricRange(metric="sdq", low=0.25, high=0.5)),
        "words": ("refund", "invoice", "über", "100%", "under_score refund", "refund -invoice", "_", "nothing"),
        "since": (NOON - 10 * DAY,),
        "until": (NOON - 3 * DAY,),
    }
    chosen = rng.sample(sorted(choices), rng.randrange(4))
    return replace(ALL, **{name: rng.choice(choices[name]) for name in chosen})


def keys(rows):
    return [(row.app, row.id) for row in rows]


@pytest.fixture
def stored(writer, engine):
    """Assessments, and the newest labels by app and id."""
    rng = random.Random(8)
    assessments = some_assessments(150, rng)
    writer.write(a_batch(*assessments))
    labels = {}
    reviews = Reviews(engine)
    for a in rng.sample(assessments, 30):
        it = a.interaction
        stood = Standing(
            app=it.app,
            id=it.id,
            occurred_at=it.occurred_at,
            verdict=a.verdict,
            rule_verdict=a.rule_verdict,
            probabilities=PROBABLE[a.verdict],
            profile_hash=a.profile_hash,
            drawn=Drawn.CHOSEN,
        )
        for label in (Verdict.REFUSAL, rng.choice(list(Verdict))):
            reviews.keep([Label(standing=stood, label=label, by="ada")], NOON)
            labels[it.app, it.id] = label
    ordered = sorted(assessments, key=lambda a: (a.interaction.occurred_at, a.interaction.app, a.interaction.id))
    return ordered[::-1], labels


@pytest.mark.parametrize("bounds", [(40_000, 8_000, 300_000), (25, 10, 60)], ids=["at once", "a part at a time"])
def test_the_pages_hold_what_matches(stored, engine, monkeypatch, bounds):
    for name, value in zip(("READ", "LOOKED_UP", "SCANNED"), bounds, strict=True):
        monkeypatch.setattr(browse_module, name, value)
    assessments, labels = stored
    rng, lists, found_some = random.Random(80), InteractionList(engine), 0
    for _ in range(40):
        filters = some_filters(rng)
        expected = [(a.interaction.app, a.interaction.id) for a in assessments if matches(a, filters, labels)]
        found, place, pages = [], None, 0
        while pages == 0 or place is not None:
            page = lists.page(filters, older_than=place, most=20)
            assert len(page.rows) <= 20
            assert page.older != place or place is None, filters
            found += keys(page.rows)
            place, pages = page.older, pages + 1
        assert found == expected, filters
        back, place = [], PagePosition(occurred_at=filters.since)
        while place is not None:
            page = lists.page(filters, newer_than=place, most=20)
            back = keys(page.rows) + back
            place = page.newer
        assert back == expected, filters
        assert keys(lists.every(filters, 30, size=11)) == expected[:30]
        found_some += bool(expected)
    assert found_some > 20


@pytest.mark.usefixtures("stored")
def test_a_page_says_where_its_neighbours_begin(engine):
    lists = InteractionList(engine)
    first = lists.page(ALL, most=5)
    assert first.newer is None
    second = lists.page(ALL, older_than=first.older, most=5)
    assert keys(lists.page(ALL, newer_than=second.newer, most=5).rows) == keys(first.rows)
    assert first.reached is None
    assert keys(first.rows + second.rows) == keys(lists.page(ALL, most=10).rows)


def test_a_row_is_the_live_assessment_with_its_interaction(writer, engine):
    a = an_assessment(verdict=Verdict.SELF_GENERATED, tags={"topic": "billing"}, conversation_id="c-1", model="large")
    writer.write(a_batch(a))
    (row,) = InteractionList(engine).page(ALL).rows
    assert (row.app, row.id, row.occurred_at) == ("support-bot", "q-1", NOON)
    assert (row.topic, row.conversation_id, row.model, row.environment) == ("billing", "c-1", "large", "production")
    assert (row.verdict, row.reasons, row.refusal_kind) == (
        Verdict.SELF_GENERATED,
        (Reason.ANSWER_OFF_SUPPORT,),
        "none",
    )
    assert (row.p_grounded, row.p_refusal, row.p_self_generated) == (0.125, 0.125, 0.75)
    assert Metrics(sdq=row.sdq, sdrd=row.sdrd, sda=row.sda, qrd=row.qrd, qa=row.qa) == SOME_METRICS


def test_what_waits_for_its_assessment_is_not_listed(writer, engine):
    writer.write(a_batch(an_assessment(id="a"), pending=(an_interaction(id="b"),), received=2))
    assert keys(InteractionList(engine).page(ALL).rows) == [("support-bot", "a")]
    assert keys(InteractionList(engine).page(replace(ALL, words="snapshots")).rows) == [("support-bot", "a")]


def test_a_rescore_is_not_listed_beside_the_live_one(writer, engine, rows):
    writer.write(a_batch(an_assessment()))
    rows(
        "CREATE TABLE copied AS SELECT * FROM assessment; UPDATE copied SET profile_hash = 'other', live = false, "
        "verdict = 'refusal'; INSERT INTO assessment SELECT * FROM copied; DROP TABLE copied"
    )
    (row,) = InteractionList(engine).page(ALL).rows
    assert row.verdict is Verdict.GROUNDED
    assert not InteractionList(engine).page(replace(ALL, verdicts=frozenset({Verdict.REFUSAL}))).rows


def test_personal_data_cannot_be_guessed_by_a_search(writer, engine):
    writer.write(
        a_batch(
            an_assessment(id="a", question="write to ada@example.org"), an_assessment(id="b", question="ada was here")
        )
    )
    assert keys(InteractionList(engine).page(replace(ALL, words="ada")).rows) == [("support-bot", "b")]
    assert not InteractionList(engine).page(replace(ALL, words="ada@example")).rows
    assert keys(InteractionList(engine).page(replace(ALL, words="-ada@example.org ada")).rows) == [("support-bot", "b")]


def test_labels_that_the_rollup_gave_up_are_found_still(writer, engine, monkeypatch):
    monkeypatch.setattr(
        "monitor.store.interaction.rollup.MOST_VALUES", {"app": 1, "environment": 1, "model": 1, "topic": 1}
    )
    writer.write(a_batch(*(an_assessment(id=f"q-{n}", app=f"app-{n}", occurred_at=at(-n)) for n in range(3))))
    for n in range(3):
        assert keys(InteractionList(engine).page(replace(ALL, app=f"app-{n}")).rows) == [(f"app-{n}", f"q-{n}")]


@pytest.fixture
def rows_of_minutes(engine):
    """How many rows of `verdict_minute` a page of answers with these filters reads, beside what an index leaves out."""

    def read(plan):
        own = plan["Actual Rows"] * plan["Actual Loops"] if plan.get("Relation Name") == "verdict_minute" else 0
        return own + sum(read(part) for part in plan.get("Plans", ()))

    def count(filters):
        asked = []

        def note(connection, cursor, statement, parameters, context, many):  # noqa: ARG001  SQLAlchemy's
            asked.append((statement, parameters))

        event.listen(engine, "before_cursor_execute", note)
        InteractionList(engine).page(filters)
        event.remove(engine, "before_cursor_execute", note)
        with engine.connect() as connection:
            plans = [
                connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar()
                for statement, parameters in asked
                if "verdict_minute" in statement
            ]
        assert plans
        return sum(read(plan[0]["Plan"]) for plan in plans)

    return count


def test_minutes_of_other_labels_are_not_read_for_a_rare_answer(writer, engine, rows_of_minutes):
    usual = [
        an_assessment(id=f"q-{topic}-{n}", occurred_at=at(-n), tags={"topic": topic})
        for topic in ("backup", "billing", "login", "returns")
        for n in range(1, 61)
    ]
    rare = an_assessment(
        id="rare", occurred_at=at(-30), tags={"topic": "login"}, diagnosis=a_diagnosis(Diagnosis.RETRIEVAL_REDUNDANT)
    )
    writer.write(a_batch(*usual, rare))
    filters = replace(ALL, diagnoses=frozenset({Diagnosis.RETRIEVAL_REDUNDANT}))
    assert keys(InteractionList(engine).page(filters).rows) == [("support-bot", "rare")]
    # one of each minute, and of the one that holds it the four topics, to see how many answers are to be looked through
    assert rows_of_minutes(filters) == 60 + 4


@pytest.mark.usefixtures("stored")
def test_times_at_the_ends_of_all_years_are_taken(engine):
    filters = replace(ALL, since=NOON.replace(year=1), until=NOON.replace(year=9999, month=12, day=31), app="shop")
    assert len(InteractionList(engine).page(filters).rows) > 20


def test_what_takes_too_long_says_what_to_narrow(engine):
    with (
        pytest.raises(TakesTooLong, match="choose fewer"),
        limited_read(engine, "choose fewer", milliseconds=20) as connection,
    ):
        connection.exec_driver_sql("SELECT pg_sleep(60)")  # the time limit ends it


@pytest.mark.usefixtures("stored")
def test_a_count_that_takes_too_long_is_left_out(engine):
    lists = InteractionList(engine)
    with engine.begin() as other:
        other.exec_driver_sql("LOCK TABLE assessment")  # the time limit ends the wait for it
        assert lists.total(ALL) is None


def test_nothing_is_written_by_a_quick_statement(engine):
    with pytest.raises(Exception, match="read-only"), limited_read(engine, "x") as connection:
        connection.exec_driver_sql("DELETE FROM pending")
