"""Verdicts of a model on a list of things, and what may be made of them: all that were asked for, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from monitor.assess.judge.inputs import undefined
from monitor.assess.judge.metric import Outcome
from monitor.assess.llm.exchange import Form
from monitor.core.model import Json


class Numbered(Form):
    """A verdict on the thing with this number."""

    number: int


class Statement(Form):
    """A statement with the verdict on it."""

    statement: str
    why: str
    supported: bool


N = TypeVar("N", bound=Numbered)


def by_number(verdicts: Sequence[N], numbers: Collection[int]) -> dict[int, N] | None:
    """The verdict on each of `numbers`; None where one has none or two, or a verdict is on nothing that was asked."""
    found = {verdict.number: verdict for verdict in verdicts}
    return found if len(found) == len(verdicts) and found.keys() == set(numbers) else None


def incomplete(verdicts: Sequence[Numbered], **parts: Json) -> Outcome:
    """No score, since the verdicts are not those asked for; they are kept as they came."""
    came: list[Json] = [verdict.model_dump() for verdict in verdicts]
    return Outcome(score=None, reason="incomplete", parts={**parts, "verdicts": came})


def supported_share(judged: Sequence[Statement]) -> Outcome:
    """Supported statements / statements; undefined where there are none (`no_statements`)."""
    statements = [statement for statement in judged if statement.statement.strip()]
    if not statements:
        return undefined("no_statements")
    supported = sum(statement.supported for statement in statements)
    return Outcome(
        score=supported / len(statements),
        parts={"statements": [statement.model_dump() for statement in statements]},
    )
