"""Plans of labels, and labels of their items."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from monitor.core.model import Verdict
from monitor.review.rates.plan import Draw, Item, Part, Plan

AT = datetime(2026, 3, 2, tzinfo=UTC)


def a_plan(draw: Draw, parts: Sequence[Part], drawn: Sequence[int]) -> Plan:
    """A plan whose items are of these parts, in this order; their ids are their places."""
    items = [Item(place=n, part=part, app="bot", id=str(n), occurred_at=AT) for n, part in enumerate(drawn)]
    return Plan(
        number=1,
        app="bot",
        since=AT,
        until=AT,
        draw=draw,
        seed="s",
        frame="f",
        answers=sum({p.stratum: p.answers for p in parts}.values()),
        parts=parts,
        items=items,
        made_by="ann",
        made_at=AT,
    )


def at_random(number: int) -> Plan:
    """A plan of so many items, drawn at random from 1,000 answers."""
    return a_plan(Draw.RANDOM, [Part(stratum=0, answers=1_000, lowest=0.0)], [0] * number)


def said(*given: Verdict | Sequence[Verdict] | None) -> dict[tuple[str, str], dict[str, Verdict]]:
    """The labels of the items 0, 1, …: each a verdict, or what several people say; None: nothing yet."""
    as_given = {
        str(n): {"ann": one} if isinstance(one, Verdict) else dict(zip("abc", one, strict=False))
        for n, one in enumerate(given)
        if one is not None
    }
    return {("bot", id_): people for id_, people in as_given.items()}
