"""A probe's newest run of a week beside the newest one of the week before, as facts and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from monitor.core.model import Json
from monitor.core.text.plain import shortened
from monitor.privacy.masking import redact
from monitor.probe.compare import Compared, Difference
from monitor.probe.figures import Mean, RunFigures
from monitor.probe.result import ProbeRun
from monitor.report.weekly.compare import rounded

FELL: Final = 5  # questions of a probe
_NAME, _QUESTION = 120, 300  # characters shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeWeek:
    """`compared` is None without a run in the week before. `questions` has the texts of questions that fell, by item.

    A question that was made of an interaction is not among them, since erasing that one would not reach the report.
    """

    run: ProbeRun
    figures: RunFigures
    before: ProbeRun | None = None
    figures_before: RunFigures | None = None
    compared: Compared | None = None
    questions: Mapping[str, str] = field(default_factory=dict)


def probe_json(found: ProbeWeek) -> dict[str, Json]:
    """The probe with both runs; docs/quality/report.md describes every field."""
    names = ("correctness", "wscore", "unsure") if found.run.turns > 1 else ("correctness", "unsure")
    before, compared = found.figures_before, found.compared
    fell = [] if compared is None else [moved for moved in compared.moved if moved.by < 0]
    return {
        "probe": _name(found.run.probe),
        "environment": _name(found.run.environment),
        "items": found.run.items,
        "this": _run(found.run),
        "before": None if found.before is None else _run(found.before),
        "figures": {
            name: {
                "this": _mean(found.figures.named(name)),
                "before": None if before is None else _mean(before.named(name)),
                "change": None if compared is None else _difference(compared.differences.get(name)),
            }
            for name in names
        },
        "fallen": len(fell),
        "fell": [
            {
                "item": _name(moved.item),
                "question": _question(found.questions.get(moved.item)),
                "before": rounded(moved.before),
                "after": rounded(moved.after),
            }
            for moved in fell[:FELL]
        ],
    }


def _question(text: str | None) -> str | None:
    return None if text is None else shortened(redact(text), _QUESTION)


def _run(run: ProbeRun) -> dict[str, Json]:
    return {"run": run.number, "chatbot": _name(run.chatbot), "began_at": _moment(run.began_at)}


def _mean(value: Mean) -> dict[str, Json]:
    return {
        "mean": rounded(value.mean),
        "lower": rounded(value.lower),
        "upper": rounded(value.upper),
        "count": value.count,
    }


def _difference(value: Difference | None) -> dict[str, Json] | None:
    """None for wscore where the conversations of the two runs could take different numbers of turns."""
    if value is None:
        return None
    return {
        "pairs": value.pairs,
        "mean": rounded(value.mean),
        "lower": rounded(value.lower),
        "upper": rounded(value.upper),
        "outcome": value.outcome,
    }


def _name(text: str) -> str:
    return shortened(redact(text), _NAME)


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
