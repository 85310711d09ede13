from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from monitor.alert.answers import BINS, AnswerBatch
from monitor.alert.methods.method import WrongParameter
from monitor.alert.methods.shift import MOST_TOPICS, TELLING, Shift
from monitor.alert.methods.watch import OVER_AFTER, USUAL_AFTER, Watch, begun
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import Count, Counts, Outcome
from tests.factories.alert.counts import LABELS, START, through_json

SCORE = Signal(kind=SignalKind.RANKS, name="score")
METHOD = Shift()


def batch(bins, *, at=None, topic="", seed=0):
    """Answers one by one; `at` is when they came."""
    n = len(bins)
    return AnswerBatch(
        bins=np.array(bins, dtype=np.int64),
        units=np.arange(n),
        weights=np.ones(n),
        chances=np.random.default_rng(seed).random(n),
        topics=(topic,) * n if isinstance(topic, str) else tuple(topic),
        at=np.full(n, (at or START).timestamp()),
    )


class Looks:
    """A rule that looks again and again; its memory goes through JSON in between."""

    def __init__(self, method=METHOD):
        self.method, self.memory = method, None

    def look(self, minutes, answers):
        now = START + timedelta(minutes=minutes)
        counts = Counts(labels=LABELS, counts=(Count(total=0 if answers is None else len(answers)),), answers=answers)
        seen, memory = self.method.observe(counts, signal=SCORE, bound=0.1, memory=self.memory, now=now)
        self.memory = through_json(memory)
        return seen

    @property
    def watch(self):
        return Watch.from_json(self.memory)


def usual(n, seed):
    return np.random.default_rng(seed).integers(0, 200, n)


def worse(n, seed):
    return np.random.default_rng(seed).integers(150, BINS, n)


@pytest.fixture
def firing():
    """After 2,000 usual answers, worse ones came at minute 100."""
    looks = Looks()
    looks.look(0, batch(usual(2_000, 1)))
    assert looks.look(99, batch(usual(100, 2))).outcome is Outcome.NORMAL
    looks.seen = looks.look(100, batch(worse(80, 3), at=START + timedelta(minutes=100)))
    return looks


def test_few_answers_say_nothing_and_are_said_to():
    seen = Looks().look(0, batch(usual(100, 1)))
    assert (seen.outcome, seen.detail) == (
        Outcome.UNSURE,
        f"only 100 earlier answers to compare with; a change shows from about {TELLING} on",
    )


def test_usual_answers_are_normal():
    seen = Looks().look(0, batch(usual(2_000, 1)))
    assert (seen.outcome, seen.detail) == (Outcome.NORMAL, "2,000 earlier answers to compare with")


def test_worse_answers_fire_and_the_message_says_since_when_and_how_sure(firing):
    seen = firing.seen
    assert seen.outcome is Outcome.BREACHING
    assert seen.value > 0.3 > seen.bound == 0.1
    assert seen.lower < seen.value < seen.upper
    assert (
        "since about 2026-03-02 01:40 UTC than the 2,100 answers before; chance alone would show this at most once"
        in seen.detail
    )


def test_better_answers_never_fire():
    looks = Looks()
    looks.look(0, batch(worse(2_000, 1)))
    assert looks.look(100, batch(usual(2_000, 2))).outcome is Outcome.NORMAL


def test_it_resolves_once_answers_are_usual_again_and_starts_anew(firing):
    assert firing.look(110, batch(usual(30, 4))).outcome is Outcome.BREACHING
    assert firing.look(200, batch(usual(2_000, 5))).outcome is Outcome.NORMAL
    watch = firing.watch
    assert watch.leader is None
    assert np.isneginf(watch.log_wealth).all()
    assert watch.units == 2_000 + 100 + 80 + 30 + 2_000


def test_a_level_that_stays_fires_for_a_week_and_is_the_past_then(firing):
    every = 12 * 60
    week = USUAL_AFTER // timedelta(minutes=every)
    outcomes = [firing.look(100 + i * every, batch(worse(2_000, 10 + i))).outcome for i in range(1, week + 3)]
    assert outcomes == [Outcome.BREACHING] * (week - 1) + [Outcome.NORMAL] * 3
    assert firing.watch.units == 2_180 + 2_000 * (week + 2)
    assert not firing.watch.waiting


def test_what_comes_while_it_fires_hides_nothing(firing):
    for i in range(1, 8):
        assert firing.look(100 + i * 60, batch(worse(2_000, i))).outcome is Outcome.BREACHING
    watch = firing.watch
    since = watch.change.units[watch.leader]
    assert f"than the {16_180 - since:,.0f} answers before" in firing.look(600, None).detail
    assert (watch.units, sum(history.sum() for history in watch.waiting.values())) == (2_180, 14_000)


def test_a_day_without_answers_ends_the_change(firing):
    later = 100 + OVER_AFTER / timedelta(minutes=1)
    assert firing.look(later, batch(usual(5, 1))).outcome is Outcome.NORMAL
    assert firing.watch.units == 2_185


def test_without_answers_nothing_is_decided(firing):
    assert firing.look(130, None).outcome is Outcome.BREACHING
    assert firing.look(170, None).outcome is Outcome.NO_DATA


def test_looks_without_answers_change_nothing():
    looks = Looks()
    looks.look(0, batch(usual(1_000, 1)))
    before = looks.memory
    looks.look(30, None)
    assert looks.memory == before


def test_a_shift_of_topics_is_no_change_and_a_change_in_each_topic_is():
    """By day all questions are of an easy topic, by night of a hard one."""
    easy, hard = np.random.default_rng(1).integers(0, 60, 6_000), np.random.default_rng(2).integers(180, BINS, 6_000)
    apart, together = Looks(), Looks()
    for night in range(12):
        some = (hard if night % 2 else easy)[night * 500 : (night + 1) * 500]
        apart_seen = apart.look(night * 60, batch(some, topic="hard" if night % 2 else "easy", seed=night))
        together_seen = together.look(night * 60, batch(some, seed=night))
        if night == 1:
            assert together_seen.outcome is Outcome.BREACHING
        assert apart_seen.outcome is not Outcome.BREACHING


def test_topics_without_end_share_a_history():
    looks = Looks()
    looks.look(0, batch(usual(1_000, 1), topic=[f"topic {i}" for i in range(1_000)]))
    histories = looks.watch.histories
    assert len(histories) == MOST_TOPICS + 1
    assert histories["other"].sum() == 1_000 - MOST_TOPICS


@pytest.mark.parametrize("fires", [False, True])
def test_topics_without_end_take_a_bounded_memory(firing, fires):
    """Each look brings forty topics that were never seen before."""
    looks = firing if fires else Looks()
    for i in range(200):
        some = np.concatenate([worse(40, i), usual(40, i)])
        looks.look(101 + i, batch(some, topic=[""] * 40 + [f"topic {i} {k}" for k in range(40)]))
        watch = looks.watch
        assert (watch.leader is not None) == fires
        assert len({*watch.histories, *watch.waiting}) <= MOST_TOPICS + 1
        assert len(json.dumps(looks.memory)) <= 2 * (MOST_TOPICS + 2) * 8 * BINS * 4 / 3
    assert len(watch.anew().histories) == MOST_TOPICS + 1
    assert watch.anew().units == (2_180 if fires else 0) + 200 * 80
    looks.look(400 + OVER_AFTER / timedelta(minutes=1), batch(usual(100, 1), topic=[f"late {k}" for k in range(100)]))
    assert len(looks.watch.histories) == MOST_TOPICS + 1


def test_a_topic_that_is_new_while_it_fires_is_ranked_among_its_own_answers(firing):
    """Whether they come at once or one by one."""
    first, then = usual(30, 1), worse(5, 2)
    looks = [Looks(), Looks()]
    for look in looks:
        look.memory = firing.memory
        look.look(101, batch(first, topic="new"))
    looks[0].look(102, batch(then, topic="new", seed=3))
    chances = batch(then, seed=3).chances
    for i, bin_ in enumerate(then):
        looks[1].look(102, replace(batch([bin_], topic="new"), chances=chances[i : i + 1]))
    once, one_by_one = (look.watch for look in looks)
    assert one_by_one.fell == pytest.approx(once.fell)
    assert one_by_one.change.worst == pytest.approx(once.change.worst)
    assert one_by_one.waiting["new"] == pytest.approx(once.waiting["new"])


@pytest.mark.parametrize("away", [timedelta(days=-4_000), timedelta(days=4_000)])
def test_a_time_from_far_away_does_not_say_since_when(away):
    looks = Looks()
    looks.look(0, batch(usual(2_000, 1)))
    seen = looks.look(60, batch(worse(200, 2), at=START + away))
    assert "since about 2026-03-0" in seen.detail


def test_a_clock_that_ran_ahead_and_was_set_back_gains_nothing():
    looks = Looks()
    looks.look(60 * 24 * 365, batch(usual(100, 1)))
    looks.look(0, batch(usual(1, 2)))
    assert looks.watch.looked_at == START


def test_a_long_silence_counts_as_an_hour():
    short, long = begun(START), begun(START)
    one = batch([5])
    after = [
        METHOD.look(watch, one, START + wait)
        for watch, wait in ((short, timedelta(hours=1)), (long, timedelta(hours=20)))
    ]
    assert after[0].log_wealth == pytest.approx(after[1].log_wealth)


def test_the_same_answers_in_one_look_or_in_many_find_the_same_change():
    bins = np.concatenate([usual(1_500, 1), worse(60, 2)])
    whole = batch(bins)
    once = METHOD.look(begun(START), whole, START)
    many = replace(begun(START))
    for cut in range(0, len(bins), 100):
        many = METHOD.look(many, whole.part(cut, min(cut + 100, len(bins))), START)
    assert once.leader is not None
    assert many.leader is not None
    assert many.histories[""] == pytest.approx(once.histories[""])


def test_false_alarms_are_as_rare_as_promised():
    """Counted over 200 series of 2,000 minutes without a change, whose rule promises one in a day (1,440 minutes)."""
    rng = np.random.default_rng(6)
    method, alarms = Shift(false_alarm_every=timedelta(days=1)), 0
    for _ in range(200):
        watch = begun(START)
        for hour in range(33):
            before = watch.leader
            some = batch(rng.integers(0, 30, 60), seed=int(rng.integers(1 << 30)))
            watch = method.look(watch, some, START + timedelta(hours=hour))
            alarms += before is None and watch.leader is not None
    assert alarms <= 200 * 33 / 24


def test_a_promise_shorter_than_a_day_is_refused():
    with pytest.raises(WrongParameter, match="1d or longer"):
        Shift(false_alarm_every=timedelta(hours=1))
