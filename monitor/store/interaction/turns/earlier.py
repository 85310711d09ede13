"""Looks up the turns of a conversation that come before a question, in bounded time.

The index `interaction_by_conversation` orders the rows of a conversation by their place in the table, so that a scan
from its end meets those that were stored last. Of each month's partition it reads `MOST_READ` rows at most, whatever
the length of the conversation and whichever apps share its id: in a longer one, a question of long ago is not found its
turns. Bounds in time let the planner leave out all other months.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

import psycopg

from monitor.assess.conversation.turn import LONGEST_QUESTION, MOST_TURNS, WITHIN, Turn
from monitor.core.model import Interaction, Mark
from monitor.store.database import plain_url, retriable, session
from monitor.store.interaction.partitions import month_of

MOST_READ = 256  # rows of one conversation that are read in a month
# Any plan but a scan of the index from its end would read the whole conversation, or the whole month. A plan that is
# made anew each time knows which months it can leave out.
_PLAN = {
    "default_transaction_read_only": "on",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_sort": "off",
    "plan_cache_mode": "force_custom_plan",
}
# Between two equal bounds, so that the planner does not take the order for given and scan from the start.
EARLIER = """
    SELECT w.number, t.id, left(t.question, %(longest)s), t.occurred_at, t.turn
    FROM unnest(%(numbers)s::int[], %(apps)s::text[], %(conversations)s::text[], %(turns)s::int[],
                %(times)s::timestamptz[], %(since)s::timestamptz[], %(until)s::timestamptz[])
        AS w (number, app, conversation, turn, occurred_at, since, until)
    CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT i.app, i.id, i.question, i.occurred_at, i.turn FROM interaction i
            WHERE i.conversation_id >= w.conversation AND i.conversation_id <= w.conversation
              AND i.occurred_at >= w.since AND i.occurred_at < w.until
              AND i.occurred_at >= %(first)s AND i.occurred_at < %(last)s
            ORDER BY i.conversation_id DESC LIMIT %(most_read)s
        ) AS newest
        WHERE newest.app = w.app
          AND newest.occurred_at BETWEEN w.occurred_at - %(within)s AND w.occurred_at + %(within)s
          AND CASE WHEN newest.turn IS NOT NULL AND w.turn IS NOT NULL THEN newest.turn < w.turn
                   ELSE newest.occurred_at < w.occurred_at END
        ORDER BY CASE WHEN w.turn IS NOT NULL THEN newest.turn END DESC NULLS LAST, newest.occurred_at DESC
        LIMIT %(most_turns)s
    ) AS t
"""


class EarlierTurns:
    """Reads over a connection of its own, which is opened with the first look-up; one thread at a time.

    A look-up ends after `milliseconds`.
    """

    def __init__(self, url: str, *, milliseconds: int) -> None:
        self._url = plain_url(url)
        limits = {"statement_timeout": str(milliseconds), "lock_timeout": str(milliseconds)}
        self._session = session(**_PLAN, **limits) | {"connect_timeout": 2, "tcp_user_timeout": 5_000}
        self._connection: psycopg.Connection | None = None

    def before(self, asked: Mapping[int, Interaction]) -> dict[int, list[Turn]]:
        """The last `MOST_TURNS` stored turns before each interaction, in no order, by its number in `asked`.

        Raises:
            Retriable, Fatal: the database is out of reach, takes too long or refuses.
        """
        wanted = [(number, it, month) for number, it in asked.items() for month in _months(it)]
        found: defaultdict[int, list[Turn]] = defaultdict(list)
        if wanted:
            with retriable():
                rows = self._connected().execute(EARLIER, parameters(wanted)).fetchall()
            for number, id_, question, occurred_at, turn in rows:
                found[number].append(Turn(id=id_, question=question, occurred_at=occurred_at, turn=turn))
        return dict(found)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._url, autocommit=True, **self._session)
        return self._connection


def parameters(wanted: Sequence[tuple[int, Interaction, date]]) -> dict[str, object]:
    """The parameters of `EARLIER`, for interactions with a number and a month in which turns before them may be."""
    since = [datetime(month.year, month.month, 1, tzinfo=it.occurred_at.tzinfo) for _, it, month in wanted]
    until = [_next(month) for month in since]
    return {
        "numbers": [number for number, _, _ in wanted],
        "apps": [it.app for _, it, _ in wanted],
        "conversations": [it.conversation_id for _, it, _ in wanted],
        "turns": [it.turn for _, it, _ in wanted],
        "times": [it.occurred_at for _, it, _ in wanted],
        "since": since,
        "until": until,
        "first": min(since),
        "last": max(until),
        "within": WITHIN,
        "longest": LONGEST_QUESTION,
        "most_read": MOST_READ,
        "most_turns": MOST_TURNS,
    }


def _months(it: Interaction) -> Iterator[date]:
    """The months in which turns before it may lie; none for one whose time is out of range."""
    if it.conversation_id is None or Mark.TIME_OUT_OF_RANGE in it.marks:
        return
    own = month_of(it.occurred_at)
    yield own
    if (before := month_of(it.occurred_at - WITHIN)) != own:
        yield before


def _next(month: datetime) -> datetime:
    return (month + timedelta(days=31)).replace(day=1)
