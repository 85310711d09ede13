"""Scores from a model's verdicts on a list of items. A list without exactly the verdicts asked for gives no score."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from monitor.assess.judge.inputs import undefined
from monitor.assess.judge.metric import Outcome
from monitor.assess.llm.exchange import Form
from monitor.core.model import Json


class Numbered(Form):
    """A verdict on the item with this number."""

    number: int


class Statement(Form):
    """A statement with the verdict on it."""

    statement: str
    why: str
    supported: bool


N = TypeVar("N", bound=Numbered)


def by_number(verdicts: Sequence[N], numbers: Collection[int]) -> dict[int, N] | None:
    """The verdict on each of `numbers`; None if a number has no verdict or two, or a verdict has another number."""
    found = {verdict.number: verdict for verdict in verdicts}
    return found if len(found) == len(verdicts) and found.keys() == set(numbers) else None


def incomplete(verdicts: Sequence[Numbered], **parts: Json) -> Outcome:
    """An outcome without a score, since the verdicts are not the ones asked for; it keeps them as received."""
    received: list[Json] = [verdict.model_dump() for verdict in verdicts]
    return Outcome(score=None, reason="incomplete", parts={**parts, "verdicts": received})


def supported_share(judged: Sequence[Statement]) -> Outcome:
    """Supported statements / statements; undefined (`no_statements`) if there are none."""
    statements = [statement for statement in judged if statement.statement.strip()]
    if not statements:
        return undefined("no_statements")
    supported = sum(statement.supported for statement in statements)
    return Outcome(
        score=supported / len(statements),
        parts={"statements": [statement.model_dump() for statement in statements]},
    )
