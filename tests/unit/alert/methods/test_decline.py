"""The newest run of a probe against those before it, question by question."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from monitor.alert.methods.decline import Decline, pinned_runs
from monitor.alert.methods.method import WrongParameter
from monitor.alert.methods.threshold import Threshold
from monitor.alert.probed import RUNS, Probed, ProbedRun
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Outcome

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
CORRECTNESS, WSCORE, UNSURE = (Signal(kind=SignalKind.PROBE, name=n) for n in ("correctness", "wscore", "unsure"))


def a_run(number, values, **changes):
    named = {f"q{n}": float(value) for n, value in enumerate(values)}
    given = {"number": number, "ended_at": NOW, "chatbot": "v1", "turns": 1, "items": len(named), "judged": len(named)}
    return ProbedRun(**{**given, "values": named, **changes})


def observe(*runs, method=None, signal=CORRECTNESS, memory=None):
    newest = [*runs[0].values.values()]
    count = Count(total=len(newest), sum=sum(newest), squares=sum(v * v for v in newest))
    probed = Probed(probe="support", app="shop", environment="production", runs=runs)
    counts = Counts(labels={"probe": "support"}, counts=(count,), probed=probed)
    method = method or Decline()
    return method.observe(counts, signal=signal, bound=method.target.value, memory=memory, now=NOW)


def test_the_difference_is_the_mean_over_questions_that_were_asked_before():
    before = [a_run(2, [5, 5, 4] * 5), a_run(1, [5, 3, 4] * 5)]
    now = a_run(3, [4, 3, 4] * 5 + [1] * 5, chatbot="v2")  # five questions are new
    observation, _ = observe(now, *before)
    # 5 -> 4, 4 -> 3 and 4 -> 4: two thirds of a point
    assert observation.outcome is Outcome.BREACHING
    assert observation.value == pytest.approx((11 * 5 + 5) / 20)
    assert observation.bound == pytest.approx(13 / 3 - 0.25)
    assert observation.detail == (
        "run 3 is 0.67 worse over 15 questions than in runs 1 and 2 (v1 -> v2); monitor probe compare 2 3; "
        "fell most: q0 5 -> 4, q1 4 -> 3, q10 4 -> 3"
    )


def test_a_run_that_is_better_or_hardly_worse_is_normal_and_becomes_the_measure():
    earlier = a_run(1, [4] * 20)
    better, memory = observe(a_run(2, [5] * 20), earlier)
    assert better.outcome is Outcome.NORMAL
    assert pinned_runs(memory) == {1, 2}
    hardly, _ = observe(a_run(2, [4] * 16 + [3] * 4), earlier)
    assert (hardly.outcome, hardly.bound) == (Outcome.NORMAL, 3.75)


def test_a_decline_does_not_become_the_usual():
    good, bad = [5, 4] * 10, [4, 3] * 10
    _, memory = observe(a_run(2, good), a_run(1, good))
    runs = [a_run(2, good), a_run(1, good)]
    for number in range(3, 12):
        runs = [a_run(number, bad), *runs[:5], *[run for run in runs[5:] if run.number in pinned_runs(memory)]]
        observation, memory = observe(*runs, memory=memory)
        assert observation.outcome is Outcome.BREACHING
        assert pinned_runs(memory) == {1, 2}
    recovered, memory = observe(a_run(12, good), *runs, memory=memory)
    assert recovered.outcome is Outcome.NORMAL
    assert pinned_runs(memory) == {1, 2, 12}  # none from the decline
    again, _ = observe(a_run(13, bad), a_run(12, good), *runs, memory=memory)
    assert again.outcome is Outcome.BREACHING


def test_the_same_run_is_judged_alike_however_often_it_is_looked_at():
    earlier = [a_run(5, [5] * 20), a_run(4, [5] * 20), a_run(3, [5] * 20), a_run(2, [5] * 20), a_run(1, [1] * 20)]
    newest = a_run(6, [4.5] * 16 + [4] * 4)  # worse than all but the oldest, which makes the mean low
    first, memory = observe(newest, *earlier)
    assert (first.outcome, first.bound) == (Outcome.NORMAL, pytest.approx(4.2 - 0.25))
    for _ in range(3):
        looked, memory = observe(newest, *earlier, memory=memory)
        assert looked == first


def test_a_new_golden_set_is_measured_with_its_own_runs():
    good, bad = [5, 4] * 10, [4, 3] * 10
    runs = [a_run(2, good), a_run(1, good)]
    _, memory = observe(*runs)
    outcomes = []
    for number, values in ((3, good), (4, good), (5, bad)):
        run = a_run(number, values)
        runs = [replace(run, values={f"new {item}": value for item, value in run.values.items()}), *runs]
        observation, memory = observe(*runs, memory=memory)
        outcomes.append(observation.outcome)
    assert outcomes == [Outcome.UNSURE, Outcome.NORMAL, Outcome.BREACHING]


@pytest.mark.parametrize("few", [{"values": {"q0": 1.0}}, {"judged": 2}, {"turns": 3}])
def test_a_run_that_cannot_be_compared_leaves_the_measure_as_it_is(few):
    good, bad = [5, 4] * 10, [4, 3] * 10
    runs = [a_run(3, bad), a_run(2, good), a_run(1, good)]
    _, memory = observe(*runs, signal=WSCORE)
    observation, kept = observe(replace(a_run(4, bad), **few), *runs, signal=WSCORE, memory=memory)
    assert (observation.outcome, kept) == (Outcome.UNSURE, {**memory, "newest": 4})
    assert observe(a_run(5, bad), *runs, signal=WSCORE, memory=kept)[0].outcome is Outcome.BREACHING


def test_a_run_in_which_the_chatbot_hardly_answered_is_no_measure():
    down = replace(a_run(2, [1] * 12), items=50, judged=12)
    observation, memory = observe(a_run(3, [4] * 20), down, a_run(1, [5] * 20))
    assert (observation.outcome, observation.bound) == (Outcome.BREACHING, 4.75)
    assert pinned_runs(memory) == {1}


def test_without_a_run_of_late_there_is_no_data_and_the_measure_is_kept():
    memory = {"measure": [1], "declined": True}
    counts = Counts(labels={"probe": "support"}, counts=(Count(),))
    observation, kept = Decline().observe(counts, signal=CORRECTNESS, bound=0.25, memory=memory, now=NOW)
    assert (observation.outcome, observation.value, kept) == (Outcome.NO_DATA, None, memory)
    assert observation.detail == "no run of the last 2 weeks is done"


def test_without_a_change_few_of_many_runs_in_a_row_fire():
    """Each run is judged with the memory of those before it, as a rule does; the smallest decline asks for nothing."""
    rng = np.random.default_rng(20)
    difficulty = rng.integers(2, 6, size=200)
    runs, memory, fired = [], None, 0
    for number in range(1, 601):
        values = np.clip(difficulty + rng.choice([-1, 0, 1], size=200), 1, 5)
        newest = a_run(number, values)
        observation, memory = observe(newest, *runs, method=Decline(at_least=0.001), memory=memory)
        fired += observation.outcome is Outcome.BREACHING
        wanted = pinned_runs(memory)
        runs = [run for place, run in enumerate([newest, *runs]) if place < RUNS or run.number in wanted]
    assert fired <= 12  # 2 %: the measure itself has its share of luck


def test_more_answers_that_are_not_sure_are_worse():
    method = Decline(at_least=0.05)
    observation, _ = observe(a_run(2, [1] * 8 + [0] * 32), a_run(1, [0] * 40), method=method, signal=UNSURE)
    assert (observation.outcome, observation.bound) == (Outcome.BREACHING, pytest.approx(0.05))
    fewer, _ = observe(a_run(2, [0] * 40), a_run(1, [1] * 40), method=method, signal=UNSURE)
    assert fewer.outcome is Outcome.NORMAL


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        ([a_run(1, [1] * 20)], "is the first one"),
        ([a_run(2, [1] * 5), a_run(1, [5] * 20)], "only 5 questions of run 2 were asked alike before"),
        ([a_run(2, [1] * 20, items=60, judged=20), a_run(1, [5] * 20)], "judged only 20 of 60 questions"),
        ([replace(a_run(2, [1] * 20), values={f"new{n}": 1.0 for n in range(20)}), a_run(1, [5] * 20)], "only 0"),
    ],
)
def test_what_cannot_be_compared_is_unsure_and_says_why(runs, why):
    observation, _ = observe(*runs)
    assert observation.outcome is Outcome.UNSURE
    assert why in observation.detail


def test_wscores_of_conversations_of_another_length_are_not_compared():
    runs = a_run(2, [2] * 20, turns=3), a_run(1, [5] * 20, turns=1)
    assert observe(*runs, signal=WSCORE)[0].outcome is Outcome.UNSURE
    assert observe(*runs)[0].outcome is Outcome.BREACHING


def test_hostile_ids_and_versions_are_told_on_one_line():
    bad = replace(a_run(2, []), values={f"\x1b[31m{n}\nx" + "y" * 500: 1.0 for n in range(20)}, items=20, judged=20)
    good = replace(bad, number=1, values=dict.fromkeys(bad.values, 5.0), chatbot="\x1b[0m\n")
    detail = observe(bad, good)[0].detail
    assert detail.isprintable()
    assert len(detail) < 500


def test_chance_fires_rarely_and_half_a_point_nearly_always():
    """200 questions of different difficulty, judged with a noise of ±1 point in a third of the judgings each."""
    rng = np.random.default_rng(7)

    def scores(shift):
        noise = rng.choice([-1, 0, 1], size=200)
        moved = rng.random(200) < shift
        return np.clip(difficulty + noise - moved, 1, 5)

    fired = {0.0: 0, 0.5: 0}
    for shift in fired:
        for _ in range(100):
            difficulty = rng.integers(2, 6, size=200)
            runs = [a_run(5, scores(shift)), *(a_run(n, scores(0.0)) for n in (4, 3, 2, 1))]
            fired[shift] += observe(*runs, method=Decline(at_least=0.1))[0].outcome is Outcome.BREACHING
    assert fired[0.0] <= 5
    assert fired[0.5] >= 95


def test_the_line_of_a_threshold_is_held_against_the_newest_run():
    sure = Threshold(below=4.0, confident=True, min_samples=10)
    found = observe(a_run(1, [3, 4] * 20), method=sure)[0]
    assert (found.outcome, found.detail) == (Outcome.BREACHING, "run 1 judged 40 of 40 questions")
    assert observe(a_run(1, [3, 4.9] * 10), method=sure)[0].outcome is Outcome.UNSURE
    assert observe(a_run(1, [4.2] * 20), method=sure)[0].outcome is Outcome.NORMAL
    assert observe(a_run(1, [3] * 5), method=sure)[0].outcome is Outcome.UNSURE
    half = observe(a_run(1, [5] * 20, items=50, judged=20), method=sure)[0]
    assert (half.outcome, half.detail) == (Outcome.UNSURE, "run 1 judged only 20 of 50 questions")
    share = Threshold(above=Target(value=0.1), min_samples=10)
    assert observe(a_run(1, [1] * 5 + [0] * 15), method=share, signal=UNSURE)[0].outcome is Outcome.BREACHING


@pytest.mark.parametrize("wrong", [{"at_least": 0}, {"at_least": 6}, {"alpha": 0.9}, {"runs": 0}, {"runs": 6}])
def test_parameters_that_cannot_work_are_refused(wrong):
    with pytest.raises(WrongParameter):
        Decline(**wrong)


def test_it_needs_no_window_and_looks_at_nothing_that_is_counted():
    assert Decline().spans(NOW, lateness=timedelta(), until=None) == ()


def test_runs_that_ended_between_two_looks_are_judged_one_by_one():
    good, bad = [5, 4] * 10, [4, 3] * 10
    first = [a_run(1, good)]
    _, memory = observe(*first)
    since = [a_run(4, bad), a_run(3, bad), a_run(2, good)]
    declined, memory = observe(*since, *first, memory=memory)
    assert declined.outcome is Outcome.BREACHING
    assert declined.detail.startswith("run 4 is 1.00 worse over 20 questions than in runs 1 and 2; ")
    assert pinned_runs(memory) == {1, 2}
    better = [a_run(6, good), a_run(5, good)]
    normal, memory = observe(*better, *since, *first, memory=memory)
    assert normal.outcome is Outcome.NORMAL
    assert pinned_runs(memory) == {1, 2, 5, 6}


@pytest.mark.parametrize(("signal", "line"), [(CORRECTNESS, 0.0), (UNSURE, 1.0)])
def test_without_a_usual_value_there_is_no_line(signal, line):
    first, memory = observe(a_run(1, [1] * 20), signal=signal)
    assert (first.outcome, first.bound) == (Outcome.UNSURE, line)
    down, _ = observe(replace(a_run(2, []), items=20), a_run(1, [1] * 20), signal=CORRECTNESS, memory=memory)
    assert (down.outcome, down.bound) == (Outcome.UNSURE, 0.75)  # the line stays that of the runs before


@pytest.mark.parametrize("wrong", [{"below": 1}, {"below": 9}, {"above": Target(value=4.0)}])
def test_a_line_that_no_score_can_pass_is_refused(wrong):
    with pytest.raises(WrongParameter, match="below"):
        Threshold(**wrong).check(CORRECTNESS)


def test_the_share_without_a_judged_answer_has_a_line_of_its_own_and_no_decline():
    dead = Threshold(above=Target(value=0.1), min_samples=1, confident=True)
    signal = Signal(kind=SignalKind.PROBE, name="unjudged")
    dead.check(signal)
    outcomes = []
    for missing in (0, 2, 3, 10):
        newest = replace(
            a_run(1, []), items=10, judged=10 - missing, error="the judge refuses" if missing > 9 else None
        )
        probed = Probed(probe="support", app="shop", environment="production", runs=(newest,))
        count = Count(total=10, sum=missing, squares=missing)
        counts = Counts(labels={"probe": "support"}, counts=(count,), probed=probed)
        observation, _ = dead.observe(counts, signal=signal, bound=0.1, memory=None, now=NOW)
        outcomes.append((observation.outcome, observation.value))
    assert outcomes == [
        (Outcome.NORMAL, 0.0),
        (Outcome.UNSURE, 0.2),
        (Outcome.BREACHING, 0.3),
        (Outcome.BREACHING, 1.0),
    ]
    assert observation.detail == "run 1 judged only 0 of 10 questions: the judge refuses"
    with pytest.raises(WrongParameter, match=r"^method: decline compares questions"):
        Decline().check(signal)
