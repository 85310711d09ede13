"""Counts the turns that cannot be scored by minute, app, environment and reason, and reads their shares."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Engine, func, select

from monitor.core.model import Interaction, Unscored
from monitor.store.database import limited_read, retriable
from monitor.store.interaction.rollup import LabelCap, labels_of, minute_of
from monitor.store.tables.interactions import unscored_minute

if TYPE_CHECKING:
    import psycopg

_COUNT = """
    INSERT INTO unscored_minute AS u (minute, app, environment, reason, turns) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (minute, app, environment, reason) DO UPDATE SET turns = u.turns + excluded.turns
"""
_u = unscored_minute.c
_NARROW = "choose a shorter span of time, or one app"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnscoredShare:
    """How many `turns` of all turns of an app in a span of time, scored ones included, have no scores for a reason."""

    app: str
    reason: Unscored
    turns: int
    of: int

    @property
    def share(self) -> float:
        return self.turns / self.of


def count_unscored(
    connection: psycopg.Connection,
    turns: Iterable[Interaction],
    cap: LabelCap,
    *,
    instead_of: Iterable[Interaction] = (),
) -> None:
    """Counts unscored `turns` by minute, app, environment and reason, and takes out those that they replace.

    Turns that probes caused are no live traffic and count nowhere.
    """
    signed = [
        (it, sign)
        for its, sign in ((turns, 1), (instead_of, -1))
        for it in its
        if it.unscored is None or it.unscored.lacking
    ]
    names = cap.resolve(connection, {pair for it, _ in signed for pair in labels_of(it)[:2]})
    sums: Counter[tuple[datetime, str, str, str]] = Counter()
    for it, sign in signed:
        app, environment = (names[pair] for pair in labels_of(it)[:2])
        sums[minute_of(it), app, environment, str(it.unscored)] += sign
    if sums:
        with connection.cursor() as cursor:
            cursor.executemany(_COUNT, [(*key, number) for key, number in sorted(sums.items())])


def unscored_totals(engine: Engine) -> dict[Unscored, int]:
    """How many turns were stored without scores, by reason, the most frequent first; may raise `Retriable`."""
    number = func.sum(_u.turns)
    query = select(_u.reason, number).where(_u.reason.in_(list(Unscored))).group_by(_u.reason).having(number > 0)
    with retriable(), engine.connect() as connection:
        rows = connection.execute(query.order_by(number.desc(), _u.reason)).all()
    return {Unscored(reason): int(turns) for reason, turns in rows}


def unscored_shares(
    engine: Engine, start: datetime, end: datetime, scored: Mapping[str, int], *, app: str | None = None
) -> Sequence[UnscoredShare]:
    """The shares of each app and reason in [start, end), whole minutes, by app and then the largest first.

    `scored` says how many turns of each app have a verdict in that span. May raise `Retriable`, among it
    `TakesTooLong`.
    """
    query = select(_u.app, _u.reason, func.sum(_u.turns)).where(_u.minute >= start, _u.minute < end)
    if app is not None:
        query = query.where(_u.app == app)
    found: defaultdict[str, dict[Unscored, int]] = defaultdict(dict)
    with limited_read(engine, _NARROW) as connection:
        for name, reason, turns in connection.execute(query.group_by(_u.app, _u.reason)):
            if turns > 0 and reason in set(Unscored):
                found[name][Unscored(reason)] = int(turns)
    return [
        UnscoredShare(app=name, reason=reason, turns=turns, of=scored.get(name, 0) + sum(reasons.values()))
        for name, reasons in sorted(found.items())
        for reason, turns in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    ]
