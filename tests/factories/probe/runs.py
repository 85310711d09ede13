"""Golden items, results and runs of probes for tests."""

from __future__ import annotations

from datetime import UTC, datetime

from monitor.assess.judge.correctness.grade import Grade
from monitor.assess.llm.exchange import Spend
from monitor.probe.golden import GoldenItem
from monitor.probe.result import ItemResult, ItemState, ProbeRun, RunState, Turn

AT = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)


def item(number=1, **changes):
    values = {
        "id": f"q{number}",
        "question": f"What does part {number} cost?",
        "reference": f"Part {number} costs {number} euros.",
    }
    return GoldenItem(**{**values, **changes})


def result(of=None, *scores, **changes):
    """A result whose turns were graded so; without scores, the chatbot gave no answer."""
    of = of or item()
    turns = tuple(
        Turn(question=of.question, answer=f"answer {n}", grade=Grade(scores=(score,), feedback="as it is"))
        for n, score in enumerate(scores)
    )
    state = ItemState.FAILED if not scores else ItemState.GRADED if any(scores) else ItemState.UNSURE
    values = {
        "item": of,
        "state": state,
        "turns": turns or (Turn(question=of.question, answer="", failure="timeout"),),
        "correctness": (scores[0] or None) if scores else None,
        "wscore": float(scores[-1]) if scores else None,
        "lscore": len(scores) or None,
        "mscore": float(max(scores)) if scores else None,
        "spend": Spend(calls=len(scores), input_tokens=100 * len(scores), output_tokens=10),
        "seconds": 1.5,
    }
    return ItemResult(**{**values, **changes})


def run(**changes):
    values = {
        "number": 0,
        "probe": "support",
        "app": "shop",
        "environment": "production",
        "chatbot": "v1",
        "golden": "support",
        "golden_version": 1,
        "golden_hash": "0" * 64,
        "items": 3,
        "target": "http https://bot.example/chat",
        "judge": "judge-1",
        "prompts_hash": "",
        "repeats": 1,
        "turns": 1,
        "state": RunState.RUNNING,
        "began_at": AT,
    }
    return ProbeRun(**{**values, **changes})
