"""The diagnoses of two weeks, and the questions that the documents do not answer, as JSON objects."""

from __future__ import annotations

from typing import Any

from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.proportions import Share
from monitor.core.model import Json
from monitor.core.text.plain import shortened
from monitor.privacy.masking import redact
from monitor.report.findings.cells import WHOLE
from monitor.report.findings.lacking import QuestionGroup
from monitor.report.weekly.compare import BETTER, WORSE, as_full, changed, share, significant
from monitor.report.weekly.facts import Facts, Lacking
from monitor.report.weekly.groups import MOST_NAMED

LACKING = "lacking"  # the kind of a finding
_QUESTION = 200  # characters shown
_MOST_FINDINGS = 3


def diagnoses_json(facts: Facts) -> Json:
    """`{diagnosed, days, days_before, rates}`, each rate a side of the answers with a diagnosis.

    None where neither week has any: answers of earlier releases have none.
    """
    known = facts.diagnosed
    now, before = sum(known.this.values()), sum(known.before.values())
    if not now and not before:
        return None
    compared = as_full(known.days, known.days_before)
    rates: dict[str, Json] = {}
    for each in Diagnosis:
        n, k = known.this.get(each, 0), known.before.get(each, 0)
        change = changed(
            Share(matching=n, total=now),
            Share(matching=k, total=before),
            more=BETTER if each is Diagnosis.HEALTHY else WORSE,
        )
        rates[each.value] = {
            "this": share(n, now),
            "before": share(k, before),
            "change": change if compared else None,
        }
    return {"diagnosed": now, "before": before, "days": known.days, "days_before": known.days_before, "rates": rates}


def lacking_json(facts: Facts) -> Json:
    """The groups of questions that nothing retrieved answers, those missed most often first.

    None without any diagnosis.
    """
    known = facts.lacking
    if not known.answers:
        return None
    return {
        "answers_read": known.answers,
        "answers": known.of,
        "missed": share(known.missed, known.answers),
        "questions": known.questions,
        "questions_grouped": known.read,
        "by_meaning": known.by_meaning,
        "found": len(known.groups),
        "groups": [_group_json(group, known) for group in known.groups[:MOST_NAMED]],
    }


def lacking_findings(facts: Facts) -> list[dict[str, Any]]:
    """The groups that call for action, as findings; `cost` is scaled up to the answers that were not read."""
    known = facts.lacking
    clear = [group for group in known.groups if group.calls_for_action(known.answers)]
    return [
        {
            "kind": LACKING,
            "label": WHOLE,
            "value": "",
            "signal": Diagnosis.RETRIEVAL_MISSED.value,
            "q": significant(group.q or 0.0),
            "id": group.typical.id,
            "question": _question(group),
            "this": share(group.missed, known.answers),
            "questions": group.questions,
            "negative": group.negative,
            "cost": round(group.negative * max(1.0, known.of / known.answers)),
        }
        for group in clear[:_MOST_FINDINGS]
    ]


def _group_json(group: QuestionGroup, known: Lacking) -> dict[str, Json]:
    return {
        "id": group.typical.id,
        "question": _question(group),
        "missed": share(group.missed, known.answers),
        "questions": group.questions,
        "refusal": group.refusals,
        "self_generated": group.self_generated,
        "days": group.days,
        "alike": group.alike,
        "alike_missed": group.alike_missed,
        "q": None if group.q is None else significant(group.q),
    }


def _question(group: QuestionGroup) -> str:
    return shortened(redact(group.typical.shown), _QUESTION)
