"""Fires when the newest run of a probe is worse than the runs before it, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt
from statistics import fmean, stdev
from typing import ClassVar, NamedTuple, cast

from typing_extensions import override

from monitor.alert.methods.method import Memory, Method, WrongParameter, require_chance, require_least
from monitor.alert.methods.proportion_change import student_tail
from monitor.alert.probed import NOTHING_OF_LATE, RUNS, ProbedRun
from monitor.alert.signal import UNSURE, Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Counts, Observation, Outcome
from monitor.core.model import Json
from monitor.core.text.plain import plain

_NAMED = 3  # questions that fell most
_FEWEST = 2  # values that have a spread
_LONGEST = 60  # characters of an id


class _Fall(NamedTuple):
    """By how much a question is worse than in the runs before, and both values."""

    by: float
    item: str
    before: float
    now: float


class _Judged(NamedTuple):
    """What comes of a run: `bound` is the line, 0 or the whole share as long as no usual value is known."""

    outcome: Outcome
    detail: str
    bound: float
    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Decline(Method):
    """Breaching while the newest run is worse than the mean of up to `runs` runs before it, by `at_least` or more.

    Paired by question: a one-sided t-test of the differences, at `alpha`. From its first breach until a run is
    normal again, no run becomes part of the measure, so that a decline does not become the usual, not even after it.
    With fewer than `min_samples` questions in common, or a chatbot that answered less than half of them, the outcome is
    unsure.
    """

    name: ClassVar[str] = "decline"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.PROBE})

    at_least: float = 0.25
    alpha: float = 0.01
    runs: int = RUNS - 1
    min_samples: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.at_least <= 5:  # noqa: PLR2004  the highest score
            raise WrongParameter("at_least", "must be above 0 and at most 5: 0.25 is a quarter of a point")
        require_chance("alpha", self.alpha)
        require_least("runs", self.runs, 1)
        if self.runs >= RUNS:
            raise WrongParameter("runs", f"must be {RUNS - 1} or less")
        require_least("min_samples", self.min_samples, _FEWEST)

    @property
    @override
    def window(self) -> timedelta:
        """None: a run has the time that it takes."""
        return timedelta()

    @property
    @override
    def target(self) -> Target:
        """The smallest decline that matters; the usual values come from the runs before."""
        return Target(value=self.at_least)

    @property
    @override
    def promise(self) -> str:
        return (
            "the same questions in the runs before: without a change of chatbot or judge, chance alone fires after "
            f"about {self.alpha:g} of the runs"
        )

    @override
    def fires_below(self, signal: Signal) -> bool:
        return signal.name != UNSURE

    @override
    def check(self, signal: Signal) -> None:
        if signal.is_of_questions:
            raise WrongParameter(
                "method", "decline compares questions, and unjudged is a share of the run: use threshold"
            )
        if signal.is_share and self.at_least >= 1:
            raise WrongParameter("at_least", "must be below 1: 0.05 is 5 percentage points")

    @override
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """`value` and its bounds are of the newest run; `bound` is the usual value, less or plus the smallest decline.

        The memory names the newest run, the runs that are the measure, with the newest one unless a decline lasts, and
        whether one does; a run that cannot be compared leaves the measure as it is. A golden set that shares too few
        questions with the measure begins with its own runs.
        """
        (count,) = counts.counts
        if counts.probed is None:
            return _nothing(counts, bound), memory
        newest, *earlier = counts.probed.runs
        # runs that ended since the last look are judged one by one, or those of a decline would become the usual
        for place in reversed([place for place, run in enumerate(earlier) if run.number > _newest(memory, newest)]):
            memory = self._judged(signal, earlier[place], earlier[place + 1 :], bound, memory).memory
        judged = self._judged(signal, newest, earlier, bound, memory)
        observation = Observation(
            labels=counts.labels,
            outcome=judged.outcome,
            value=count.mean,
            samples=count.total,
            lower=0.0 if count.mean is None else count.mean,
            upper=0.0 if count.mean is None else count.mean,
            bound=judged.bound,
            detail=judged.detail,
        )
        return observation, judged.memory

    def _judged(
        self, signal: Signal, newest: ProbedRun, earlier: Sequence[ProbedRun], at_least: float, memory: Memory | None
    ) -> _Judged:
        known = [run for run in earlier if run.says_enough and (signal.name != "wscore" or run.turns == newest.turns)]
        worse = -1 if self.fires_below(signal) else 1
        pinned = pinned_runs(memory)
        measure = [run for run in known if run.number in pinned][: self.runs]
        falls = _falls(newest, measure, worse)
        if len(falls) < self.min_samples:
            measure = known[: self.runs]
            falls = _falls(newest, measure, worse)
        outcome, detail = self._outcome(newest, measure, falls, at_least)
        usual = [fall.before for fall in falls] or [value for run in measure for value in run.values.values()]
        bound = fmean(usual) + worse * at_least if usual else float(signal.is_share)
        if not newest.says_enough or len(falls) < self.min_samples:
            return _Judged(outcome, detail, bound, {**(memory or {}), "newest": newest.number})
        declined = outcome is Outcome.BREACHING or (
            outcome is Outcome.UNSURE and memory is not None and memory.get("declined") is True
        )
        # if only runs that are hardly worse became part of it, a lucky measure would stay, and fire again and again
        kept = measure if declined else [newest, *measure]
        numbers: list[Json] = [run.number for run in kept]
        return _Judged(outcome, detail, bound, {"newest": newest.number, "measure": numbers, "declined": declined})

    def _outcome(
        self, newest: ProbedRun, measure: Sequence[ProbedRun], falls: Sequence[_Fall], at_least: float
    ) -> tuple[Outcome, str]:
        if not newest.says_enough:
            return Outcome.UNSURE, f"{newest.said}: the chatbot, or the judge, did not answer"
        if not measure:
            return Outcome.UNSURE, f"run {newest.number} is the first one: there is none to compare it with"
        if len(falls) < self.min_samples:
            said = f"only {len(falls)} questions of run {newest.number} were asked alike before"
            return Outcome.UNSURE, f"{said}, and {self.min_samples} are needed"
        mean = fmean(fall.by for fall in falls)
        detail = _detail(newest, measure, falls, mean)
        if mean < at_least:
            return Outcome.NORMAL, detail
        spread = stdev(fall.by for fall in falls)
        chance = student_tail(mean / (spread / sqrt(len(falls))), len(falls) - 1) if spread else 0.0
        return (Outcome.BREACHING if chance < self.alpha else Outcome.UNSURE), detail


def pinned_runs(memory: Memory | None) -> frozenset[int]:
    """The numbers of the runs that a memory of this method needs, however old they are."""
    return frozenset(cast("list[int]", memory["measure"])) if memory and "measure" in memory else frozenset()


def _newest(memory: Memory | None, newest: ProbedRun) -> int:
    """The number of the newest run that was judged before; the release before did not keep it."""
    return cast("int", memory["newest"]) if memory and "newest" in memory else newest.number


def _nothing(counts: Counts, bound: float) -> Observation:
    return Observation(
        labels=counts.labels,
        outcome=Outcome.NO_DATA,
        value=None,
        samples=0,
        lower=0.0,
        upper=0.0,
        bound=bound,
        detail=NOTHING_OF_LATE,
    )


def _falls(newest: ProbedRun, measure: Sequence[ProbedRun], worse: int) -> list[_Fall]:
    """The questions that were asked before too, by how much worse they are now, the worst first."""
    before: dict[str, list[float]] = {}
    for run in measure:
        for item, value in run.values.items():
            before.setdefault(item, []).append(value)
    falls = [
        _Fall(worse * (now - usual), item, usual, now)
        for item, now in newest.values.items()
        if item in before
        for usual in (fmean(before[item]),)
    ]
    return sorted(falls, key=lambda fall: (-fall.by, fall.item))


def _detail(newest: ProbedRun, measure: Sequence[ProbedRun], falls: Sequence[_Fall], mean: float) -> str:
    first = measure[0]
    version = f" ({_short(first.chatbot)} -> {_short(newest.chatbot)})" if first.chatbot != newest.chatbot else ""
    said = f"run {newest.number} is {abs(mean):.2f} {'worse' if mean > 0 else 'better'} over {len(falls)} questions"
    fell = [f"{_short(fall.item)} {fall.before:.3g} -> {fall.now:.3g}" for fall in falls[:_NAMED] if fall.by > 0]
    most = f"; fell most: {', '.join(fell)}" if fell else ""
    command = f"monitor probe compare {first.number} {newest.number}"
    return f"{said} than in {_numbers(measure)}{version}; {command}{most}"


def _numbers(runs: Sequence[ProbedRun]) -> str:
    """`run 7`, or `runs 3, 4 and 7`."""
    *most, last = (str(run.number) for run in reversed(runs))
    return f"runs {', '.join(most)} and {last}" if most else f"run {last}"


def _short(text: str) -> str:
    return plain(text[:_LONGEST]) or "unknown"
