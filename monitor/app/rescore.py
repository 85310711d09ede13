"""`monitor rescore`: gives stored answers another verdict under a profile, beside the one shown, and puts it in use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING

from monitor.app.pending.hearings import Hearings
from monitor.app.wiring.application import Application
from monitor.app.wiring.conversation import UNHURRIED
from monitor.app.wiring.models import sampling
from monitor.assess.complete.stored import StoredSupport
from monitor.core.retry import Retry
from monitor.store.audit_queue import Act, Kind, record_act
from monitor.store.interaction.rescore import add_assessments
from monitor.store.rescore.answers import AT_ONCE, RescoreAnswers, RescoreKey, RescoreSpan, RescoreTotals
from monitor.store.rescore.use import put_in_use
from monitor.store.review.judged_labels import JudgedLabels

if TYPE_CHECKING:
    from monitor.core.model import Assessment, Interaction, Support

PATIENCE = 300.0  # seconds of waiting for the database before giving up
WARM = 4  # answers assessed before the clock starts: the first ones wait for models to load
SWITCHED = 200  # answers of one transaction that puts verdicts in use

Progress = Callable[[int], None]  # told how many answers are done


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The answers of a span, and the seconds that those without an assessment under the profile will take."""

    totals: RescoreTotals
    seconds: float


def estimate(application: Application, span: RescoreSpan) -> Estimate:
    """Counts the span, and times the assessment of its first answers; stores nothing."""
    answers = RescoreAnswers(application.engine)
    totals = answers.totals(span)
    first = next(_batches(answers, span, AT_ONCE, wanted=None), []) if totals.left else []
    found = answers.texts(first)
    if not found:
        return Estimate(totals=totals, seconds=0.0)
    _assess(application, found[:WARM])
    timed = found[WARM:] or found
    begun = perf_counter()
    _assess(application, timed)
    return Estimate(totals=totals, seconds=(perf_counter() - begun) / len(timed) * totals.left)


def rescore(application: Application, span: RescoreSpan, *, stop: Event, progress: Progress) -> int:
    """Adds an assessment under the configured profile to each answer of the span that has none; returns how many.

    No verdict that is shown changes. Each batch is stored and queued for the audit trail in one transaction; where
    `stop` is set or the process ends, a second call goes on after the last one.

    Raises:
        Interrupted, OutOfReach, Fatal: as `Retry` does; what is stored stays.
    """
    answers, again, added = RescoreAnswers(application.engine), Retry(stop=stop, patience=PATIENCE), 0
    writer = application.store

    def stored(made: Sequence[Assessment]) -> int:
        with writer.transaction() as connection:
            new = add_assessments(connection, made)
            writer.queue_to_seal(connection, Kind.ASSESSMENT, new.rows)
        return len(new.assessments)

    for keys in _batches(answers, span, AT_ONCE, wanted=None):
        if stop.is_set():
            break
        made = _assess(application, again(partial(answers.texts, keys)))
        added += again(partial(stored, made))
        progress(added)
    return added


def use(
    application: Application, span: RescoreSpan, *, by: str, now: datetime, stop: Event, progress: Progress
) -> Counter[str]:
    """Makes the profile's verdicts of the span the ones that are shown and counted, as far as there are any.

    Returns how many verdicts gave way, by the hash of their profile. What was done when `stop` is set stays; a second
    call goes on. Raises as `rescore` does.
    """
    record_act(
        application.engine,
        Act(
            kind=Kind.VERDICTS,
            by=by,
            at=now,
            app=span.app or "",
            subject=span.profile_hash,
            body={"since": span.since.isoformat(), "until": span.until.isoformat()},
        ),
    )
    again, replaced = Retry(stop=stop, patience=PATIENCE), Counter[str]()
    labels, judge = JudgedLabels(application.engine), application.settings.judge
    hearing = Hearings(labels=labels, sampling=sampling(judge), now=application.now)

    def switched(keys: Sequence[RescoreKey]) -> Counter[str]:
        return put_in_use(application.store, keys, span.profile_hash, hearing=hearing(), now=application.now())

    for keys in _batches(RescoreAnswers(application.engine), span, SWITCHED, wanted=False):
        if stop.is_set():
            break
        replaced += again(partial(switched, keys))
        progress(replaced.total())
    return replaced


def _assess(application: Application, found: Sequence[tuple[Interaction, Support]]) -> list[Assessment]:
    supports = StoredSupport(supports={(it.app, it.id): support for it, support in found})
    assessing = application.assessing
    pipeline = assessing.pipeline_of(supports, assessing.conversations(UNHURRIED))
    return assessing.references.rank(pipeline.assess([it for it, _ in found]))


def _batches(
    answers: RescoreAnswers, span: RescoreSpan, size: int, *, wanted: bool | None
) -> Iterator[list[RescoreKey]]:
    """Yields the keys whose `in_use` is as wanted, in order of time, and at most `size` at once."""
    after = None
    while True:
        page, after = answers.keys(span, after)
        found = [key for key in page if key.in_use is wanted]
        yield from (found[first : first + size] for first in range(0, len(found), size))
        if after is None:
            return
