"""Concludes which part of the chatbot broke, from where bad answers rose, their documents and their questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain.answer import AnswerRow
from monitor.alert.explain.cause import BadKind, Broken, Cause, KindCount, Told, suspects_of
from monitor.alert.explain.dimensions import DOCUMENT, Dimension, Rows
from monitor.alert.explain.familiarity import Familiarity, fit_of
from monitor.alert.explain.finding import FEWEST_DIAGNOSED, Diagnoses, DiagnosisCount, Value
from monitor.alert.explain.keywords import LONGEST_QUESTION
from monitor.alert.explain.rise import Place, is_bad, place_of_rise
from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.proportions import Share, greater
from monitor.core.model import Reason, Verdict

MISSED = 0.2  # of the answers retrieved a document before, which hardly any does now: then it is named
_HARDLY = 0.25  # of its share before
PART = 0.2  # of the rise: a kind of bad answers with less does not show it
_CLEAR = 0.001  # chance that a document is retrieved so much less often
_SHIFTED = 0.01  # chance that so many more bad answers have a diagnosis
# Of the rise, what lacks a relevant chunk: with nearly all the retriever shows it, with less than half the generator.
# Between the two it may be either: what takes a relevant chunk for an irrelevant one, diagnoses some answers wrongly.
_NEARLY_ALL, _HALF = 0.9, 0.5
_GENERATOR = tuple(each for each in Diagnosis if each.of_generator)

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """The cause, and the answers of the window that show it, as indexes; none if nothing stands out."""

    cause: Cause
    shown_by: tuple[int, ...] = ()


def conclude(
    window: Sequence[AnswerRow],
    baseline: Sequence[AnswerRow],
    dimensions: Iterable[Dimension],
    embed: Callable[[Sequence[str]], Vectors | None],
) -> Concluded:
    """The cause of the rise of bad answers. `embed` gives no vectors where there is no embedder.

    The rows are in random order, the same every time. Only the tests of `place_of_rise` decide whether there is a cause
    at all. Where its documents and questions do not tell which part broke, several are suspected.
    """
    place, looked_at = place_of_rise(window, baseline, dimensions)
    if place is None:
        return Concluded(cause=Cause(suspects=(), looked_at=looked_at))
    bad = [at for at in place.rows.tolist() if is_bad(window[at])]
    earlier = [baseline[at] for at in place.before.tolist()]
    shown = [window[at] for at in bad]
    fit = fit_of(shown, baseline)
    unlike = _unlike(shown, baseline, [] if place.new else earlier, embed)
    diagnoses = diagnoses_of([window[at] for at in place.rows.tolist()], earlier, is_bad)
    missed = _missed(diagnoses)
    poor = fit.poor if missed is Told.OPEN else missed
    suspects = suspects_of(poor, unlike)
    kind = kind_of if missed is Told.OPEN else kind_by_diagnosis
    kinds = Counter(map(kind, shown)), Counter(kind(row) for row in earlier if is_bad(row))
    cause = Cause(
        suspects=suspects,
        looked_at=looked_at,
        where=place.where,
        new=place.new and place.where is not None,
        answers=len(place.rows),
        bad=len(bad),
        before_answers=len(earlier),
        before_bad=kinds[1].total(),
        rise=place.rise,
        p=min(place.p * looked_at, 1.0),
        kinds=tuple(KindCount(kind=each, now=kinds[0][each], before=kinds[1][each]) for each in BadKind),
        diagnoses=diagnoses,
        missed=missed,
        poor=poor,
        fit=fit.mean,
        qrd=_median(shown),
        qrd_before=_median(earlier),
        unlike=unlike,
        missing=_missing(window, earlier, place.rows) if Broken.RETRIEVER in suspects and not place.new else None,
    )
    risen = _risen(place, *kinds, len(earlier))
    shown_by = sorted((at for at in bad if kind(window[at]) in risen), key=lambda at: window[at].occurred_at)
    # the window begins before the rise does
    return Concluded(cause=cause, shown_by=tuple(shown_by[len(shown_by) // 2 :]))


def kind_of(row: AnswerRow) -> BadKind:
    """The kind of a bad answer, by its reasons."""
    if Reason.NO_DOCUMENTS in row.reasons:
        return BadKind.NO_DOCUMENTS
    if Reason.RETRIEVAL_OFF_QUESTION in row.reasons or Reason.SUPPORT_OFF_QUESTION in row.reasons:
        return BadKind.OFF_QUESTION
    return BadKind.REFUSED if row.verdict == Verdict.REFUSAL else BadKind.INVENTED


def kind_by_diagnosis(row: AnswerRow) -> BadKind:
    """The kind of a bad answer: by its diagnosis if that names a part, else by its reasons."""
    by_reasons = kind_of(row)
    if by_reasons is BadKind.NO_DOCUMENTS:
        return by_reasons
    if row.diagnosis == Diagnosis.RETRIEVAL_MISSED:
        return BadKind.OFF_QUESTION
    return kind_of(replace(row, reasons=())) if row.diagnosis in _GENERATOR else by_reasons


def diagnoses_of(
    window: Iterable[AnswerRow], baseline: Iterable[AnswerRow], counted: Callable[[AnswerRow], bool]
) -> Diagnoses:
    """The diagnosed answers of both sides, with how many of those that are `counted` have each diagnosis."""
    sides = [[row for row in rows if row.diagnosis is not None] for rows in (window, baseline)]
    now, before = (Counter(str(row.diagnosis) for row in side if counted(row)) for side in sides)
    counts = [DiagnosisCount(diagnosis=each, now=now[each], before=before[each]) for each in sorted(now | before)]
    return Diagnoses(answers=len(sides[0]), before_answers=len(sides[1]), counts=tuple(counts))


def _missed(bad: Diagnoses) -> Told:
    """Whether bad answers without a relevant chunk make up the rise; no: those with one.

    They have to be a clearly larger part of the bad answers than before, or a smaller one: which part of them lacks a
    relevant chunk when nothing is broken differs from bot to bot.
    """
    now, before = bad.shares_of_counted(Diagnosis.RETRIEVAL_MISSED)
    if min(now.total, before.total) < FEWEST_DIAGNOSED:
        return Told.OPEN
    expected = bad.answers / bad.before_answers
    part = (now.matching - expected * before.matching) / max(now.total - expected * before.total, 1.0)
    if greater(now, before) <= _SHIFTED and part >= _NEARLY_ALL:
        return Told.YES
    others = Share(matching=now.total - now.matching, total=now.total)
    others_before = Share(matching=before.total - before.matching, total=before.total)
    return Told.NO if greater(others, others_before) <= _SHIFTED and part <= _HALF else Told.OPEN


def _risen(place: Place, now: Counter[BadKind], before: Counter[BadKind], answers_before: int) -> set[BadKind]:
    """The kinds that make up the rise, each with `PART` of it or more; it is at least one."""
    rises = {kind: count - before[kind] * len(place.rows) / max(answers_before, 1) for kind, count in now.items()}
    least = min(PART * place.rise, max(rises.values()))
    return {kind for kind, rise in rises.items() if rise >= least}


def _unlike(
    bad: Sequence[AnswerRow],
    baseline: Sequence[AnswerRow],
    alike: Sequence[AnswerRow],
    embed: Callable[[Sequence[str]], Vectors | None],
) -> Told:
    good = [[row for row in rows if not is_bad(row)] for rows in (baseline, alike)]
    familiarity = Familiarity(*(_questions(rows) for rows in (bad, *good)))
    return familiarity.told(embed(familiarity.texts) if familiarity.texts else None)


def _questions(rows: Iterable[AnswerRow]) -> list[str]:
    return [text for row in rows if (text := (row.question or "").strip()[:LONGEST_QUESTION])]


def _median(rows: Iterable[AnswerRow]) -> float | None:
    values = [row.qrd for row in rows if row.qrd is not None]
    return float(np.median(values)) if values else None


def _missing(window: Sequence[AnswerRow], earlier: Sequence[AnswerRow], rows: Rows) -> Value | None:
    """The document that was retrieved most often before and is hardly retrieved now."""
    now, before = (
        Counter(document for row in side for document in {*row.documents} if document)
        for side in ([window[at] for at in rows.tolist()], earlier)
    )
    for document, count in sorted(before.items(), key=lambda each: (-each[1], each[0])):
        was, is_now = Share(matching=count, total=len(earlier)), Share(matching=now[document], total=len(rows))
        if was.rate < MISSED:
            return None
        if is_now.rate <= _HARDLY * was.rate and greater(was, is_now) <= _CLEAR:
            return Value(dimension=DOCUMENT, value=document)
    return None
