"""Builds the content of a report, one JSON object with every figure, from counts alone: no clock, no settings.

Texts of people and chatbots are masked, put on one line and cut; ids stay as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta

from monitor.core.figures.proportions import Share
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Json, Verdict
from monitor.core.text.plain import shortened
from monitor.privacy.masking import redact
from monitor.report.weekly.actions import findings_json
from monitor.report.weekly.compare import BETTER, HIGHER, WORSE, as_full, changed, rounded, share
from monitor.report.weekly.facts import Example, Facts, Refusals, TwoWeeks
from monitor.report.weekly.groups import group_json, topics_json
from monitor.report.weekly.operations import (
    agreement_json,
    alerts_json,
    coverage_json,
    judge_json,
    ledger_json,
    moment,
    name_json,
    used_json,
)
from monitor.report.weekly.probes.week import probe_json
from monitor.report.weekly.retrieval.diagnoses import diagnoses_json, lacking_json
from monitor.report.weekly.retrieval.documents import documents_json
from monitor.report.weekly.week import Week

SCHEMA = "monitor/weekly-report/1"
_QUESTION, _ANSWER = 300, 600  # characters shown
_SIDES = ("negative", *(verdict.value for verdict in Verdict))
_MORE = {"correct": BETTER, "over": WORSE, "unknown": HIGHER}  # what more such refusals mean
Content = Mapping[str, Json]


def content(facts: Facts) -> dict[str, Json]:
    """The report as JSON; docs/quality/report.md describes every field."""
    counted = _weeks(facts)
    this_days, days_before = (_days_with_answers(facts, week) for week in (facts.week, facts.week.before))
    return {
        "schema": SCHEMA,
        "app": facts.app,
        "week": {
            "name": facts.week.name,
            "start": moment(facts.week.start),
            "end": moment(facts.week.end),
            **({"running": True} if facts.running else {}),
        },
        "findings": findings_json(facts),
        "verdicts": {
            "answers": counted.this.total,
            "answers_before": counted.before.total,
            "days": this_days,
            "days_before": days_before,
            "rates": {side: _rate(counted, side, compared=as_full(this_days, days_before)) for side in _SIDES},
        },
        "true_rates": _true_rates(facts),
        "refusals": _refusals(facts, counted.this.total),
        "days": [_day(day.isoformat(), facts.days.get(day, Verdicts())) for day in facts.week.trend_days()],
        "groups": {
            "environment": group_json(facts.groups["environment"]),
            "model": group_json(facts.groups["model"]),
            "prompt_version": group_json(facts.prompt_versions),
        },
        "topics": topics_json(facts.groups["topic"]),
        "worst": [_example(example) for example in facts.worst],
        "over_refusals": [_example(example) for example in facts.over_refusals],
        "diagnoses": diagnoses_json(facts),
        "lacking": lacking_json(facts),
        "documents": documents_json(facts.read),
        "probes": [probe_json(one) for one in facts.probes],
        "alerts": alerts_json(facts),
        "coverage": coverage_json(facts, counted.this.total),
        "ledger": ledger_json(facts.coverage),
        "used": used_json(facts),
        "judge": judge_json(facts, counted.this.total),
        "agreement": agreement_json(facts, counted.this.total),
        "profiles": [
            {
                "name": name_json(used.name),
                "hash": used.hash,
                "embedding_model": name_json(used.embedding_model),
                "uncalibrated": used.uncalibrated,
                "answers": used.answers,
            }
            for used in facts.profiles
        ],
        "rule": _rule(facts),
    }


def canonical(found: Content) -> bytes:
    """The bytes that `digest` hashes: JSON with sorted names, without white space, in UTF-8."""
    return json.dumps(found, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def digest(found: Content) -> str:
    """SHA-256 of the canonical bytes in hex."""
    return hashlib.sha256(canonical(found)).hexdigest()


def differing(one: Content, other: Content) -> list[str]:
    """The sections in which two reports of the same week differ."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def _weeks(facts: Facts) -> TwoWeeks:
    first, before = facts.week.monday, facts.week.before.monday
    return TwoWeeks(
        this=sum((counts for day, counts in facts.days.items() if day >= first), Verdicts()),
        before=sum((counts for day, counts in facts.days.items() if before <= day < first), Verdicts()),
    )


def _days_with_answers(facts: Facts, week: Week) -> int:
    days = (facts.days.get(week.monday + timedelta(days=place), Verdicts()) for place in range(7))
    return sum(day.total > 0 for day in days)


def _rate(counted: TwoWeeks, side: str, *, compared: bool) -> Json:
    now, before = getattr(counted.this, side), getattr(counted.before, side)
    return {
        "this": share(now, counted.this.total),
        "before": share(before, counted.before.total),
        "change": changed(
            Share(matching=now, total=counted.this.total),
            Share(matching=before, total=counted.before.total),
            more=BETTER if side == Verdict.GROUNDED else WORSE,
        )
        if compared
        else None,
    }


def _true_rates(facts: Facts) -> dict[str, Json] | None:
    """By class, from the labels of the week's plan; None without a plan or without any label."""
    known = facts.rates
    if known is None or known.plan is None or not known.rates["negative"].labels:
        return None
    plan = known.plan
    about: dict[str, Json] = {
        "plan": plan.number,
        "method": plan.draw.value,
        "seed": plan.seed,
        "items": len(plan.items),
    }
    classes: dict[str, Json] = {
        name: {
            "estimate": rounded(rate.value),
            "lower": rounded(rate.lower),
            "upper": rounded(rate.upper),
            "labels": rate.labels,
            "divided": rate.divided,
        }
        for name, rate in known.rates.items()
    }
    return {**about, "answers": plan.answers, "judged": plan.judged, "classes": classes}


def _refusals(facts: Facts, answers: int) -> dict[str, Json]:
    now, before = facts.refusals, facts.refusals_before

    def side(name: str) -> Json:
        n, k = (getattr(one, name) for one in (now, before))
        return {
            "this": share(n, now.total),
            "before": share(k, before.total),
            "change": changed(_of(now, name), _of(before, name), more=_MORE[name]),
        }

    return {
        "partial": share(facts.partial_refusals, answers),
        "answered_to_compare": now.answered,
        **{n: side(n) for n in ("correct", "over", "unknown")},
    }


def _of(refusals: Refusals, name: str) -> Share:
    return Share(matching=getattr(refusals, name), total=refusals.total)


def _day(day: str, counts: Verdicts) -> Json:
    rates = {side: share(getattr(counts, side), counts.total) for side in _SIDES}
    return {"day": day, "answers": counts.total, **rates}


def _example(example: Example) -> Json:
    return {
        "id": example.id,
        "occurred_at": moment(example.occurred_at),
        "verdict": example.verdict.value,
        "reasons": list(example.reasons),
        "p_grounded": round(example.p_grounded, 4),
        "p_refusal": round(example.p_refusal, 4),
        "model": name_json(example.model),
        "topic": name_json(example.topic),
        "question": shortened(redact(example.question), _QUESTION),
        "answer": shortened(redact(example.answer), _ANSWER),
    }


def _rule(facts: Facts) -> dict[str, Json]:
    total = sum(facts.verdicts.values())
    agreeing = sum(number for (own, rule), number in facts.verdicts.items() if own is rule)
    negative = sum(number for (_, rule), number in facts.verdicts.items() if rule.negative)
    table: dict[str, Json] = {
        own.value: {rule.value: facts.verdicts.get((own, rule), 0) for rule in Verdict} for own in Verdict
    }
    return {"agrees": share(agreeing, total), "negative": share(negative, total), "verdicts": table}
