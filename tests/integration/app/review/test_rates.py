"""True rates from plans of labels on a real server: drawn, labelled through the queue, sealed, and told."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy import text

from monitor.app.review.rates import make_plan
from monitor.assess.judge.sampling import chance
from monitor.core.errors import WrongSettings
from monitor.core.model import Probabilities
from monitor.review.label import Drawn
from monitor.review.rates.period import Period
from monitor.review.rates.plan import Draw, PlanRequest
from monitor.review.rates.presentation import interval, progress, rates_json, remarks
from monitor.review.rates.strata import sizes
from monitor.store.audit.acts import act_body
from monitor.store.audit.checks.cross import acts_against_rows
from monitor.store.review.rates import known_rates
from tests.factories.answers import NOON, an_assessment
from tests.integration.app.review.test_draw import JUDGED
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.reviewing import G, S, offered, said, write

NUMBER = 600
PERIOD = Period(since=NOON - timedelta(days=7), until=NOON)


def score(n):
    """Of answer n, falling with n; ties in the middle."""
    return 0.5 if 200 <= n < 400 else 0.9 - n / 1_000


def answers(number=NUMBER, **over):
    for n in range(number):
        left = 1 - score(n)
        p = Probabilities(grounded=left * 0.75, refusal=left * 0.25, self_generated=score(n))
        verdict = S if n < 100 else G
        known = {
            "id": f"q-{n:03}",
            "verdict": verdict,
            "probabilities": p,
            "occurred_at": NOON - timedelta(minutes=1 + n),
        }
        yield an_assessment(**{**known, **over})


def a_plan(application, **over):
    wanted = {"labels": 100, "guaranteed": False, "judge_share": 0.0, **over}
    period = wanted.pop("period", PERIOD)
    request = PlanRequest(app="support-bot", since=period.since, until=period.until, **wanted)
    return make_plan(application.plans, request, by="ann", now=application.now())


def known(application, period=None):
    (found,) = known_rates(application.engine, application.overview, "support-bot", period, application.now())
    return found


def by_place(ids, seed):
    """The order of the draw, as anybody would work it out again."""
    return sorted(ids, key=lambda id_: sha256(f"{seed}\nsupport-bot\n{id_}".encode()).digest())


def test_anybody_with_the_frame_and_the_seed_draws_the_same_again(application, writer):
    write(writer, *answers())
    write(
        writer, *answers(3, app="other"), an_assessment(id="earlier", occurred_at=PERIOD.since - timedelta(seconds=1))
    )
    plan = a_plan(application)
    assert (plan.draw, plan.answers, len(plan.items)) == (Draw.STRATA, NUMBER, 100)
    ids = [f"q-{n:03}" for n in range(NUMBER)]
    places = [sha256(f"{plan.seed}\nsupport-bot\n{id_}".encode()).digest() for id_ in ids]
    assert plan.frame == sha256(b"".join(sorted(places))).hexdigest()
    ranked = sorted(ids, key=lambda id_: (-score(int(id_[2:])), id_))
    drawn, first = [], 0
    for part, size in enumerate(sizes(NUMBER)):
        stratum = ranked[first : first + size]
        first += size
        mine = [item.id for item in plan.items if item.part == part]
        assert mine == by_place(stratum, plan.seed)[: len(mine)]
        assert plan.parts[part].lowest == pytest.approx(min(score(int(id_[2:])) for id_ in stratum), abs=1e-6)
        drawn += mine
    assert len(set(drawn)) == 100
    assert not any("plans were drawn" in line for line in remarks(known(application)))
    assert a_plan(application).seed != plan.seed
    assert any(line.startswith("2 plans were drawn for this period") for line in remarks(known(application)))


def test_a_plan_reads_back_as_it_was_made(application, writer):
    write(writer, *answers())
    plan = a_plan(application)
    assert application.plans.newest("support-bot") == plan
    assert application.plans.newest("support-bot", PERIOD.since, PERIOD.until) == plan
    assert application.plans.newest("support-bot", PERIOD.since, NOON - timedelta(minutes=1)) is None
    assert application.plans.newest("other") is None


def test_few_answers_or_a_guarantee_are_drawn_at_random_from_all(application, writer):
    write(writer, *answers(120))
    plan = a_plan(application, labels=500)
    assert (plan.draw, len(plan.items)) == (Draw.RANDOM, 120)
    ids = [f"q-{n:03}" for n in range(120)]
    assert [item.id for item in plan.items] == by_place(ids, plan.seed)
    assert a_plan(application, guaranteed=True).draw is Draw.RANDOM


def test_with_a_judge_labels_are_drawn_by_what_it_says_of_a_random_sample(application, writer, rows):
    write(writer, *answers())
    sampled = [n for n in range(NUMBER) if chance("support-bot", f"q-{n:03}") < 0.75]
    for n in range(NUMBER):  # of the others, which it read for another reason, nothing counts
        if n % 10:
            said_ = 0.2 if n % 3 == 0 else 0.9
            rows(JUDGED, f"q-{n:03}", "faithfulness", "gpt", NOON - timedelta(minutes=1 + n), said_, NOON)
    plan = a_plan(application, judge_share=0.75)
    assert plan.draw is Draw.JUDGE
    assert plan.judged == sum(n % 10 != 0 for n in sampled)
    for item in plan.items:
        part, n = plan.parts[item.part], int(item.id[2:])
        assert n in sampled
        assert part.says == ("nothing" if n % 10 == 0 else "unsupported" if n % 3 == 0 else "supported")
    assert sum(part.size for part in plan.parts) == len(sampled)


def test_the_queue_offers_a_plans_answers_first_and_negative_ones_to_a_second_person(application, writer):
    write(writer, *answers())
    plan = a_plan(application, labels=6)
    first = offered(application, 7)
    assert [offer.candidate.id for offer in first[:6]] == [item.id for item in plan.items]
    assert [offer.drawn for offer in first[:6]] == [Drawn.PLAN] * 6
    assert first[6].drawn is not Drawn.PLAN
    for item in plan.items:
        said(application, item.id, S if item.part == 0 else G)
    assert offered(application, 1)[0].drawn is not Drawn.PLAN
    (second, other) = offered(application, 2, by="bob")
    assert second.candidate.id == next(item.id for item in plan.items if item.part == 0)
    assert other.drawn is not Drawn.PLAN
    assert any("one person alone calls 1 answer negative" in line for line in remarks(known(application)))
    assert offered(application, 1, random_only=True)[0].drawn is Drawn.RANDOM


def test_rates_are_not_known_until_people_have_labelled(application, writer):
    write(writer, *answers())
    before = known(application, PERIOD)
    assert [line["flagged"] for line in rates_json(before)] == pytest.approx([100 / 600, 0, 100 / 600])
    assert {line["estimate"] for line in rates_json(before)} | {line["upper"] for line in rates_json(before)} == {None}
    assert interval(before.rates.get("self_generated")) == "not known yet"
    assert any("monitor review plan --app support-bot --from" in line for line in remarks(before))
    plan = a_plan(application)
    assert rates_json(known(application))[0]["lower"] is None
    for item in plan.items[:40]:
        said(application, item.id, S if int(item.id[2:]) < 50 else G)
    self_generated, refusal, negative = rates_json(known(application))
    assert (self_generated["class"], self_generated["answers"], self_generated["labels"]) == ("self_generated", 600, 40)
    assert (self_generated["method"], self_generated["seed"]) == ("strata", plan.seed)
    assert self_generated["lower"] < self_generated["estimate"] < self_generated["upper"]
    assert (refusal["estimate"], refusal["lower"]) == (0.0, 0.0)
    assert negative["estimate"] == self_generated["estimate"]
    rate = known(application).rates["self_generated"]
    assert progress(plan, rate).startswith("40 of 100 labelled, ")


def test_labels_of_one_period_say_nothing_of_another(application, writer):
    write(writer, *answers())
    a_plan(application)
    shorter = Period(since=PERIOD.since, until=NOON - timedelta(hours=2))
    found = known(application, shorter)
    assert found.plan is None
    assert found.counts.total == NUMBER - 120
    assert any("other periods" in line for line in remarks(found))


def test_answers_that_are_gone_and_those_that_come_later_are_told(application, writer, rows):
    write(writer, *answers())
    plan = a_plan(application, labels=10)
    rows("UPDATE interaction SET marks = ARRAY['erased'] WHERE id = %s", plan.items[0].id)
    write(writer, an_assessment(id="late", occurred_at=NOON - timedelta(hours=1)))
    assert [offer.candidate.id for offer in offered(application, 9)] == [item.id for item in plan.items[1:]]
    lines = list(remarks(known(application)))
    assert any(line.startswith("1 answer of the plan can no longer") for line in lines)
    assert any(line.startswith("1 answer came after the draw") for line in lines)


def test_a_period_has_ended_and_has_answers(application, writer):
    write(writer, *answers(3))
    with pytest.raises(WrongSettings, match="in the future"):
        a_plan(application, period=Period(since=NOON, until=NOON + timedelta(minutes=1)))
    with pytest.raises(WrongSettings, match="no assessed answers of the app 'support-bot'"):
        a_plan(application, period=Period(since=NOON - timedelta(days=30), until=NOON - timedelta(days=29)))
    with pytest.raises(WrongSettings, match="before"):
        Period.of(NOON, NOON)
    with pytest.raises(WrongSettings, match="whole minutes"):
        Period.of(NOON, NOON + timedelta(seconds=61))


def test_an_item_that_somebody_swaps_is_found_by_the_audit(application, writer, rows):
    write(writer, *answers())
    plan = a_plan(application)
    with application.engine.connect() as connection:
        assert list(acts_against_rows(connection, QUEUE_KEY)) == []
    ((records,),) = rows("SELECT records FROM audit_queue WHERE kind = 'plan'")
    body = act_body(records)
    assert (body["seed"], body["answers"], body["draw"]) == (plan.seed, NUMBER, "strata")
    assert body["items"] == [[item.id, item.part] for item in plan.items]
    rows("UPDATE review_plan_item SET interaction_id = 'q-599' WHERE place = 0")
    with application.engine.connect() as connection:
        found = [finding.sentence for finding in acts_against_rows(connection, QUEUE_KEY)]
    assert found == [
        "the plan 1 was changed: items",
        "the item of plan 1 says that q-599 in support-bot occurred at another time than the stored answer",
    ]
    rows("UPDATE review_plan_item SET interaction_id = %s WHERE place = 0", plan.items[0].id)
    rows("DELETE FROM review_plan")
    with application.engine.connect() as connection:
        (finding,) = acts_against_rows(connection, QUEUE_KEY)
    assert "not stored any more" in finding.sentence


def test_counts_of_whole_hours_and_of_the_minutes_around_them_are_all_answers(application, writer):
    write(writer, *answers(300))
    for first, last in ((0, 300), (0, 61), (7, 59), (30, 240), (60, 120), (119, 121)):
        since, until = NOON - timedelta(minutes=last), NOON - timedelta(minutes=first)
        with application.engine.connect() as connection:
            sql = "SELECT count(*) FROM interaction WHERE occurred_at >= :since AND occurred_at < :until"
            number = connection.scalar(text(sql), {"since": since, "until": until})
        assert application.overview.totals(since, until)["support-bot"].total == number
    assert application.overview.totals(NOON, NOON + timedelta(days=1)) == {}


def test_erased_answers_belong_to_the_frame_and_are_not_drawn(application, writer, rows):
    write(writer, *answers(60))
    rows("UPDATE interaction SET marks = ARRAY['erased'] WHERE id < 'q-030'")
    plan = a_plan(application, labels=50)
    assert plan.answers == 60
    assert sorted(item.id for item in plan.items) == [f"q-{n:03}" for n in range(30, 60)]


def test_each_periods_newest_plan_is_offered(application, writer):
    write(writer, *answers(40))
    shorter = Period(since=PERIOD.since, until=NOON - timedelta(minutes=20))
    first, second = a_plan(application, labels=3), a_plan(application, labels=3, period=shorter)
    drawn = {item.id for plan in (first, second) for item in plan.items}
    offers = [offer for offer in offered(application, 6) if offer.drawn is Drawn.PLAN]
    assert {offer.candidate.id for offer in offers} == drawn


def test_without_a_period_every_app_with_a_plan_is_told(application, writer):
    write(writer, *answers(3, occurred_at=NOON - timedelta(days=20)))
    a_plan(application, period=Period(since=NOON - timedelta(days=21), until=NOON - timedelta(days=19)))
    (found,) = known_rates(application.engine, application.overview, None, None, application.now())
    assert (found.app, found.counts.total) == ("support-bot", 3)


def test_a_period_that_goes_on_is_no_reason_to_draw_yet(application, writer):
    write(writer, *answers(3))
    today = Period(since=NOON - timedelta(hours=12), until=NOON + timedelta(hours=12))
    assert any("once the period is over" in line for line in remarks(known(application, today)))
    elsewhere = Period(since=NOON - timedelta(days=90), until=NOON - timedelta(days=89))
    assert list(remarks(known(application, elsewhere))) == ["no answers of this app are stored in this period"]
