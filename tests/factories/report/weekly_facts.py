"""Facts of a made-up week; a test names only what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from monitor.core.batch import Tally
from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Verdict
from monitor.probe.compare import compare
from monitor.probe.figures import figures
from monitor.probe.result import ItemState, Scored
from monitor.report.findings.lacking import AskedQuestion, QuestionGroup
from monitor.report.weekly.facts import (
    Arrivals,
    Beginning,
    Behind,
    Coverage,
    Diagnosed,
    DocumentUse,
    Episode,
    Example,
    Facts,
    JudgedMetric,
    Lacking,
    ProfileUse,
    ReadAnswers,
    Refusals,
    TwoWeeks,
    Usage,
    WeekSilence,
)
from monitor.report.weekly.probes.week import ProbeWeek
from monitor.report.weekly.week import Week
from tests.factories.probe.runs import run

WEEK = Week(monday=date(2026, 11, 9))
NO_COVERAGE = Coverage(
    pending=0, arrivals=(), problems=(), ledger=Tally(), read_once=(), partitions=0, unbalanced=0, behind=()
)


def no_facts(**over: Any) -> Facts:
    """An app that answered nothing in the week."""
    known: dict[str, Any] = {
        "app": "support-bot",
        "week": WEEK,
        "days": {},
        "groups": {"environment": {}, "model": {}, "topic": {}},
        "prompt_versions": {},
        "read": ReadAnswers(answers=0, of=0, self_generated=0, documents=()),
        "refusals": Refusals(),
        "refusals_before": Refusals(),
        "partial_refusals": 0,
        "verdicts": {},
        "profiles": (),
        "worst": (),
        "over_refusals": (),
        "watched": 7,
        "episodes": (),
        "silences": (),
        "judged": (),
        "judged_before": (),
        "judged_answers": 0,
        "usage": (),
        "coverage": NO_COVERAGE,
        "opinions": (),
        "unlabelled": 0,
    }
    return Facts(**{**known, **over})


def facts_named(name: str, **over: Any) -> Facts:
    """Something of everything, with `name` wherever a text comes from outside."""
    both = TwoWeeks(
        this=Verdicts(grounded=10, refusal=10, self_generated=40),
        before=Verdicts(grounded=50, refusal=5, self_generated=5),
    )
    at = WEEK.start + timedelta(hours=5)
    example = Example(
        id=name,
        occurred_at=at,
        verdict=Verdict.SELF_GENERATED,
        reasons=("not_in_documents",),
        p_grounded=0.125,
        p_refusal=0.5,
        model=name,
        topic=name,
        question=name,
        answer=name,
    )
    silence = WeekSilence(matchers=(name,), starts_at=at, ends_at=WEEK.end + timedelta(1), by=name, comment=name)
    judged = JudgedMetric(
        metric="faithfulness", model=name, judged=4, scored=3, worth=3, sum=1.5, squares=1.0, cost=1.5
    )
    known: dict[str, Any] = {
        "app": name,
        "days": {WEEK.monday: both.this, WEEK.before.monday: both.before},
        "groups": {"environment": {name: both}, "model": {name: both}, "topic": {name: both}},
        "prompt_versions": {name: both},
        "read": ReadAnswers(
            answers=120,
            of=240,
            self_generated=40,
            documents=(
                DocumentUse(id=name, answers=60, self_generated=40, compared=60, supported=0),
                DocumentUse(id="sha256:fedcba9876543210", answers=20, self_generated=0, compared=20, supported=0),
            ),
            beginnings={"sha256:fedcba9876543210": Beginning(id=name, text=name)},
        ),
        "diagnosed": Diagnosed(
            this={Diagnosis.RETRIEVAL_MISSED: 30, Diagnosis.GENERATOR_INVENTED: 6, Diagnosis.HEALTHY: 14},
            before={Diagnosis.RETRIEVAL_MISSED: 3, Diagnosis.HEALTHY: 57},
            days=5,
            days_before=6,
        ),
        "lacking": Lacking(
            answers=50, of=60, missed=30, questions=12, read=11, groups=(a_group(name), a_group("rare", missed=2))
        ),
        "probes": (a_probe_week(name),),
        "refusals": Refusals(correct=4, over=3, unknown=3),
        "refusals_before": Refusals(correct=5),
        "partial_refusals": 2,
        "verdicts": {(Verdict.GROUNDED, Verdict.REFUSAL): 10, (Verdict.REFUSAL, Verdict.REFUSAL): 50},
        "profiles": (ProfileUse(name=name, hash="ab12", embedding_model=name, uncalibrated=True, answers=60),),
        "worst": (example,),
        "over_refusals": (example,),
        "episodes": (
            Episode(
                episode="e",
                rule=name,
                severity="critical",
                labels={"topic": name},
                fired_at=at,
                acknowledged_at=at + timedelta(minutes=4),
                acknowledged_by=name,
                resolved_at=None,
            ),
        ),
        "silences": (silence,),
        "judged": (judged,),
        "judged_answers": 4,
        "usage": (Usage(purpose="judge", model=name, calls=3, input_tokens=5, output_tokens=7, cost=1.5),),
        "coverage": Coverage(
            pending=3,
            arrivals=(Arrivals(source=name, received=70, dead=2),),
            problems=((name, 2),),
            ledger=Tally(received=70, assessed=60),
            read_once=(Arrivals(source=name, received=4, dead=1),),
            partitions=2,
            unbalanced=1,
            behind=(Behind(source=name, through=at, unread=4),),
        ),
    }
    return no_facts(**{**known, **over})


def a_probe_week(name: str) -> ProbeWeek:
    """A probe whose chatbot got worse on all of twelve questions."""
    earlier, later = ([scored(f"{n} {name}", score) for n in range(12)] for score in (5.0, 2.0))
    told = run(probe=name, environment=name, chatbot=name, turns=3, began_at=WEEK.start + timedelta(hours=6))
    return ProbeWeek(
        run=told,
        figures=figures(later),
        before=replace(told, began_at=WEEK.before.start),
        figures_before=figures(earlier),
        compared=compare(earlier, later),
        questions={one.item: name for one in later},
    )


def scored(item: str, score: float) -> Scored:
    """The scores of an item whose every answer got this one."""
    return Scored(item=item, state=ItemState.GRADED, correctness=score, wscore=score, lscore=1, mscore=score)


def a_group(question: str, **over: Any) -> QuestionGroup:
    """Questions that no document answers, which call for action."""
    known: dict[str, Any] = {
        "typical": AskedQuestion(text=question, shown=question, id=question, answers=9, missed=9),
        "questions": 8,
        "missed": 20,
        "refusals": 12,
        "self_generated": 7,
        "days": 5,
        "alike": 9,
        "alike_missed": 8,
        "q": 1e-6,
    }
    return QuestionGroup(**{**known, **over})
