"""Rows of made-up traffic: every dimension by chance, but for what a test says of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from monitor.alert.explain.answer import AnswerRow
from monitor.core.model import Probabilities

NOON = datetime(2025, 11, 21, 12, 0, tzinfo=UTC)
GOOD = Probabilities(grounded=0.8, refusal=0.1, self_generated=0.1)
BAD = Probabilities(grounded=0.1, refusal=0.1, self_generated=0.8)
QUESTIONS = {
    "billing": "How long does a refund of order {} take?",
    "login": "Why can I not log in with the account {}?",
    "shipping": "When does the parcel {} arrive?",
}


def a_row(number=0, *, matches=True, **over: Any) -> AnswerRow:
    known: dict[str, Any] = {
        "id": f"q-{number}",
        "app": "shop",
        "environment": "production",
        "occurred_at": NOON,
        "matches": matches,
        "verdict": "self_generated" if matches else "grounded",
        "probabilities": BAD if matches else GOOD,
        "question": f"How long does a refund of order {number} take?",
        "answer": f"It takes {number} days, as everybody knows." if matches else None,
    }
    return AnswerRow(**{**known, **over})


def traffic(seed, count, rate, **chosen):
    """`count` rows; `rate(row)` is the chance that an answer is bad, `chosen` a constant or what `row` and rng give."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        row = {
            "app": str(rng.choice(["shop", "bank"])),
            "model": str(rng.choice(["m1", "m2"])),
            "prompt_version": "v41",
            "topic": str(rng.choice(list(QUESTIONS))),
            "tags": {"tier": str(rng.choice(["gold", "free"])), "user": f"u-{rng.integers(1_000_000)}"},
            "documents": tuple(f"d-{document}" for document in {*rng.integers(40, size=4).tolist()}),
        }
        for name, value in chosen.items():
            row[name] = value(rng, row) if callable(value) else value
        bad = bool(rng.random() < (rate(row) if callable(rate) else rate))
        question = QUESTIONS.get(row["topic"], "What about {}?").format(rng.integers(1_000_000))
        rows.append(a_row(f"{seed}-{number}", matches=bad, question=question, **row))
    return rows


def one_of(*values, p=None):
    return lambda rng, _: str(rng.choice(values, p=p))
