"""What a message says of an alert beside its figures: what changed, bad answers, and how the signal went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeAlias

from monitor.alert.explain.answer import AnswerRow
from monitor.alert.explain.explain import Embed, explain
from monitor.alert.explain.explanation import Explanation
from monitor.alert.notification import MAX_EXAMPLES, Course, Description, Example, NotifiedAlert, Point
from monitor.alert.ports import SignalReader
from monitor.alert.rule import Rule
from monitor.alert.signal import SignalKind
from monitor.alert.window import MINUTE, Span

BASELINE = timedelta(days=7)  # before the window
LONGEST_WINDOW = timedelta(hours=6)
SHORTEST_COURSE, POINTS = timedelta(hours=1), 60

AnswerLink: TypeAlias = Callable[[str, str], str | None]  # of app and id


class Changed(Protocol):
    """Reads the answers that an explanation compares; may raise `Retriable`."""

    def read(
        self,
        selector: Mapping[str, tuple[str, ...]],
        labels: Mapping[str, str],
        signal: str,
        window: Span,
        baseline: Span,
    ) -> tuple[list[AnswerRow], list[AnswerRow]]:
        """The assessed answers of window and baseline under `selector` and `labels`, or even samples of them."""


class Kept(Protocol):
    """Where explanations are kept; may raise `Retriable`."""

    def save(self, told: NotifiedAlert, explanation: Explanation, now: datetime) -> None:
        """Keeps what was said of an episode; the newest stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Describer:
    """Describes alerts of `rules`. `embed` None: questions are not clustered."""

    rules: Sequence[Rule]
    counting: SignalReader
    changed: Changed
    kept: Kept
    embed: Embed | None
    link: AnswerLink

    def __call__(self, told: NotifiedAlert, now: datetime) -> Description:
        """What is known of it at `now`; what cannot be read is left out.

        Raises:
            Retriable: the store is out of reach.
        """
        rule = next((rule for rule in self.rules if rule.name == told.rule), None)
        if rule is None or rule.signal.is_momentary:
            return Description()
        course = course_of(self.counting, rule, told, now)
        if rule.signal.kind is not SignalKind.RATE or told.status != "firing":
            return Description(course=course)
        window, baseline = spans(told, now)
        rows = self.changed.read(rule.selector, _whose(rule, told), rule.signal.name, window, baseline)
        explanation = explain(*rows, signal=rule.signal.name, embed=self.embed)
        self.kept.save(told, explanation, now)
        examples = tuple(
            Example(
                id=its.id, question=its.question, answer=its.answer, verdict=its.verdict, reasons=its.reasons,
                url=self.link(its.app, its.id),
            )
            for its in explanation.telling[:MAX_EXAMPLES]
        )  # fmt: skip
        return Description(changes=tuple(explanation.sentences()), examples=examples, course=course)


def course_of(counting: SignalReader, rule: Rule, told: NotifiedAlert, now: datetime) -> Course | None:
    """How the signal of an alert went from a while before it began up to `now`; None where nothing is counted by time.

    Raises:
        Retriable: the store is out of reach.
    """
    if rule.signal.is_momentary or rule.signal.kind is SignalKind.NO_DATA:
        return None
    end = _floor(now) + MINUTE
    start = _floor(told.started_at) - max(3 * told.window, SHORTEST_COURSE)
    step = max(-(-(end - start) // POINTS // MINUTE), 1) * MINUTE
    starts = [end - step * back for back in range(-(-(end - start) // step), 0, -1)]
    pieces = [Span(start=at, end=at + step) for at in starts]
    selector = {**rule.selector, **{label: (value,) for label, value in _whose(rule, told).items()}}
    found = counting.counts(rule.signal, selector, (), pieces)
    points = tuple(
        Point(at=piece.start, value=count.mean, total=count.total)
        for piece, count in zip(pieces, found[0].counts, strict=True)
    )
    return Course(points=points, bound=told.bound, unit=told.unit, name=told.signal)


def _whose(rule: Rule, told: NotifiedAlert) -> dict[str, str]:
    """Which of the answers that the rule looks at are the alert's."""
    return {label: told.labels[label] for label in rule.by if label in told.labels}


def spans(told: NotifiedAlert, now: datetime) -> tuple[Span, Span]:
    """The answers of the episode, with the window that began it, and the week before."""
    end = _floor(now) + MINUTE
    start = max(_floor(told.started_at) - told.window, end - LONGEST_WINDOW)
    return Span(start=start, end=end), Span(start=start - BASELINE, end=start)


def _floor(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(second=0, microsecond=0)
