from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from monitor.core.model import Verdict
from monitor.simulate.scenarios import RETRIEVAL_OUTAGE, Phase, Scenario
from monitor.simulate.traffic import RETRIEVED, play
from tests.factories.assess.interactions import NOON

MINUTE = timedelta(minutes=1)


def played(scenario=RETRIEVAL_OUTAGE, *, seed=1, start=NOON):
    return list(play(scenario, app="bot", start=start, seed=seed))


def scenario(*phases, step=MINUTE):
    return Scenario(step=step, phases=phases)


def phase(verdict=Verdict.GROUNDED, *, minutes=2.0, per_minute=30.0, **given):
    return Phase(name=verdict, lasts=minutes * MINUTE, per_minute=per_minute, mix={verdict: 1.0}, **given)


@pytest.fixture(scope="module")
def outage():
    return played()


def test_the_same_seed_gives_the_same_interactions(outage):
    assert played() == outage


def test_another_seed_gives_others(outage):
    texts = [[s.interaction.question for _, step in steps for s in step] for steps in (outage, played(seed=2))]
    assert texts[0] != texts[1]


def test_another_start_moves_the_times_only(outage):
    later = played(start=NOON + timedelta(hours=5))
    for (end, step), (later_end, later_step) in zip(outage, later, strict=True):
        assert later_end - end == timedelta(hours=5)
        for one, other in zip(step, later_step, strict=True):
            moved = replace(one.interaction, occurred_at=one.interaction.occurred_at + timedelta(hours=5))
            assert (other.truth, other.interaction) == (one.truth, moved)


def test_two_simulations_at_once_do_not_disturb_each_other(outage):
    left, right = (play(RETRIEVAL_OUTAGE, app="bot", start=NOON, seed=1) for _ in range(2))
    assert [one for pair in zip(left, right, strict=True) for one in pair][::2] == outage


def test_steps_follow_each_other_and_hold_their_interactions_in_order(outage):
    step = RETRIEVAL_OUTAGE.step
    assert [end for end, _ in outage] == [NOON + n * step for n in range(1, RETRIEVAL_OUTAGE.steps + 1)]
    for end, answered in outage:
        times = [s.interaction.occurred_at for s in answered]
        assert times == sorted(times)
        assert all(end - step <= time <= end for time in times)


def test_ids_are_numbered_without_gaps(outage):
    ids = [s.interaction.id for _, step in outage for s in step]
    assert ids == [f"demo-{n:05d}" for n in range(len(ids))]


def test_phases_are_honoured(outage):
    seen = {p.name: Counter() for p in RETRIEVAL_OUTAGE.phases}
    for end, answered in outage:
        name = RETRIEVAL_OUTAGE.phase_at(end - RETRIEVAL_OUTAGE.step - NOON).name
        seen[name].update(s.truth for s in answered)
        broken = name == "retrieval outage"
        for s in answered:
            assert all((d.source == "office-handbook") is broken for d in s.interaction.retrieved_documents)
    for p in RETRIEVAL_OUTAGE.phases:
        total = seen[p.name].total()
        assert total == pytest.approx(p.per_minute * (p.lasts / MINUTE), rel=0.15)
        for verdict in Verdict:
            assert seen[p.name][verdict] / total == pytest.approx(p.mix.get(verdict, 0), abs=0.08)


def test_a_phase_has_the_rate_it_says():
    counts = [len(answered) for _, answered in played(scenario(phase(minutes=40, per_minute=50)))]
    assert all(40 <= count <= 60 for count in counts)
    assert len(set(counts)) > 5
    assert sum(counts) / len(counts) == pytest.approx(50, abs=3)


def test_a_phase_without_traffic_is_silent():
    quiet = scenario(phase(per_minute=0, minutes=2), phase(minutes=1))
    assert [len(answered) > 0 for _, answered in played(quiet)] == [False, False, True]


@pytest.mark.parametrize("verdict", Verdict)
def test_the_truth_is_what_the_mix_says(verdict):
    answered = [s for _, step in played(scenario(phase(verdict))) for s in step]
    assert answered
    assert {s.truth for s in answered} == {verdict}


def test_a_grounded_answer_has_its_passages_retrieved(outage):
    for _, answered in outage[:4]:
        for s in answered:
            ids = [d.id for d in s.interaction.retrieved_documents]
            assert len(set(ids)) == len(ids) <= RETRIEVED
            assert s.interaction.supporting_documents is None
            assert s.interaction.question
            assert s.interaction.answer
            assert "{" not in s.interaction.answer


def test_a_new_phase_begins_with_its_first_step():
    turned = scenario(phase(Verdict.GROUNDED, minutes=1), phase(Verdict.REFUSAL, minutes=1), step=MINUTE / 4)
    truths = [{s.truth for s in answered} for _, answered in played(turned)]
    assert truths == [{Verdict.GROUNDED}] * 4 + [{Verdict.REFUSAL}] * 4


def test_the_last_step_may_reach_past_the_last_phase():
    uneven = scenario(phase(minutes=1.5), step=MINUTE)
    assert (uneven.lasts, uneven.steps) == (1.5 * MINUTE, 2)
    assert len(played(uneven)) == 2
    assert uneven.phase_at(timedelta(hours=9)) is uneven.phases[-1]


def test_phases_meet_without_a_gap():
    edges = [timedelta(), *(p.lasts for p in RETRIEVAL_OUTAGE.phases)]
    at = timedelta()
    for (_, lasts), p in zip(pairwise(edges), RETRIEVAL_OUTAGE.phases, strict=True):
        assert RETRIEVAL_OUTAGE.phase_at(at) is p
        at += lasts
        assert RETRIEVAL_OUTAGE.phase_at(at - timedelta(microseconds=1)) is p


def test_everything_is_of_the_app_that_was_asked_for(outage):
    interactions = [s.interaction for _, step in outage for s in step]
    assert {(it.app, it.environment) for it in interactions} == {("bot", "demo")}
    assert all(it.tags.keys() == {"topic"} for it in interactions)
    assert len({it.model for it in interactions}) == 2
