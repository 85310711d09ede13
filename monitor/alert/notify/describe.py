"""Describes an alert beyond its figures: its cause, what changed, examples of bad answers, the course of the signal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeAlias

from monitor.alert.explain.answer import AnswerRow
from monitor.alert.explain.explain import Embed, explain
from monitor.alert.explain.explanation import Explanation
from monitor.alert.explain.finding import ExampleAnswer
from monitor.alert.notification import MAX_EXAMPLES, Course, Description, Example, NotifiedAlert, Point
from monitor.alert.ports import SignalReader
from monitor.alert.probed import run_of_detail
from monitor.alert.rule import Rule
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import MINUTE, Span, measured

BASELINE = timedelta(days=7)  # the time before the window that it is compared with
LONGEST_WINDOW = timedelta(hours=6)
SHORTEST_COURSE, POINTS = timedelta(hours=1), 90

AnswerLink: TypeAlias = Callable[[str, str], str | None]  # takes app and id


class AnswerReader(Protocol):
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


class ExplanationStore(Protocol):
    """Stores explanations; may raise `Retriable`."""

    def save(self, alert: NotifiedAlert, explanation: Explanation, now: datetime) -> None:
        """Stores the explanation of the alert's episode in place of an older one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Describer:
    """Describes alerts of `rules`. With `embed` None, questions are not clustered."""

    rules: Sequence[Rule]
    signals: SignalReader
    answers: AnswerReader
    explanations: ExplanationStore
    embed: Embed | None
    link: AnswerLink
    trace_link: AnswerLink = lambda *_: None  # may raise `Retriable`
    run_link: Callable[[int], str | None] = lambda _: None

    def __call__(self, alert: NotifiedAlert, now: datetime) -> Description:
        """Describes the alert at `now`; parts that do not apply to its signal or state are left out.

        Raises:
            Retriable: the store is out of reach.
        """
        rule = next((rule for rule in self.rules if rule.name == alert.rule), None)
        if rule is None or rule.signal.is_momentary:
            run = run_of_detail(alert.detail) if rule is not None and rule.signal.is_of_probe else None
            return Description(run_url=None if run is None else self.run_link(run))
        course = course_of(self.signals, alert, now, signal=rule.signal, selector=rule.selector, by=rule.by)
        shown = rule.signal.shown_by
        if shown is None or alert.status != "firing":
            return Description(course=course)
        window, baseline = spans(alert, now)
        rows = self.answers.read(rule.selector, _alert_labels(rule.by, alert), shown, window, baseline)
        explanation = explain(*rows, signal=shown, embed=self.embed)
        self.explanations.save(alert, explanation, now)
        return Description(
            cause=tuple(explanation.conclusion()),
            changes=tuple(explanation.sentences()),
            examples=tuple(self._example(shown) for shown in explanation.telling[:MAX_EXAMPLES]),
            course=course,
        )

    def _example(self, shown: ExampleAnswer) -> Example:
        return Example(
            id=shown.id,
            question=shown.question,
            answer=shown.answer,
            verdict=shown.verdict,
            reasons=shown.reasons,
            url=self.link(shown.app, shown.id),
            trace_url=self.trace_link(shown.app, shown.id),
        )


def course_of(
    signals: SignalReader,
    alert: NotifiedAlert,
    now: datetime,
    *,
    signal: Signal,
    selector: Mapping[str, tuple[str, ...]],
    by: Sequence[str],
) -> Course | None:
    """The signal from a while before an alert began to breach up to `now`; None if it is not counted over time.

    `signal`, `selector` and `by` are those of the rule that raised the alert.

    Raises:
        Retriable: the store is out of reach.
    """
    if signal.is_momentary or signal.kind in (SignalKind.NO_DATA, SignalKind.RANKS):
        return None
    end = _floor(now) + MINUTE
    start = _floor(alert.breaching_since) - max(3 * alert.window, SHORTEST_COURSE)
    step = max(-(-(end - start) // POINTS // MINUTE), 1) * MINUTE
    starts = [end - step * back for back in range(-(-(end - start) // step), 0, -1)]
    pieces = [Span(start=at, end=at + step) for at in starts]
    counted = {**selector, **{label: (value,) for label, value in _alert_labels(by, alert).items()}}
    found = signals.counts(signal, counted, (), pieces)
    points = tuple(
        Point(at=piece.start, value=measured(signal, count), total=count.total)
        for piece, count in zip(pieces, found[0].counts, strict=True)
    )
    return Course(points=points, bound=alert.bound, unit=alert.unit, name=alert.signal, started_at=alert.fired_at)


def _alert_labels(by: Sequence[str], alert: NotifiedAlert) -> dict[str, str]:
    """The labels that select the alert's answers among those that the rule watches."""
    return {label: alert.labels[label] for label in by if label in alert.labels}


def spans(alert: NotifiedAlert, now: datetime) -> tuple[Span, Span]:
    """The span of the episode with the window that began it, and the span of the week before."""
    end = _floor(now) + MINUTE
    start = max(_floor(alert.breaching_since) - alert.window, end - LONGEST_WINDOW)
    return Span(start=start, end=end), Span(start=start - BASELINE, end=start)


def _floor(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(second=0, microsecond=0)
