"""Finds the turns before a question: in the batch, in the memory of this process, then in the database.

The database is asked for no longer than a given time, on a thread of its own. If it fails or takes longer, questions
are read as they stand for `PAUSE` seconds, so that no event waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from time import monotonic
from typing import TYPE_CHECKING

from typing_extensions import override

from monitor.assess.conversation.leaning import cue_of, names_something
from monitor.assess.conversation.memory import RecentTurns
from monitor.assess.conversation.turn import MOST_TURNS, Turn, in_order
from monitor.assess.ports import Conversations
from monitor.core.errors import MonitorError
from monitor.core.model import Interaction
from monitor.core.pool import Pool

if TYPE_CHECKING:
    from monitor.app.flow import Decode
    from monitor.core.message import Message
    from monitor.ingest.decode import Decoded
    from monitor.store.interaction.turns.earlier import EarlierTurns

log = logging.getLogger(__name__)
PAUSE = 5.0  # seconds
LIVE = 0.05  # seconds for which events wait
FIRST = 1.0  # seconds for which the first look-up of a process may wait: it connects
UNHURRIED = 2.0  # seconds for which work waits that nobody waits for


class StoredConversations(Conversations):
    """The port over what `recent` remembers and what `stored` finds; `stored` is made when it is first needed."""

    def __init__(
        self,
        recent: RecentTurns,
        stored: Callable[[], EarlierTurns],
        *,
        patience: float,
        closing: ExitStack,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._recent = recent
        self._stored = stored
        self._store: EarlierTurns | None = None
        self._patience = patience
        self._clock = clock
        self._pool = Pool(1, "conversations")
        self._running: Future[dict[int, list[Turn]]] | None = None
        self._ask_at = 0.0
        closing.callback(self._close)

    @override
    def before(self, interactions: Sequence[Interaction], leaning: Collection[int]) -> Mapping[int, Sequence[Turn]]:
        found = self._recent.before(interactions, leaning)
        wanted = {i: interactions[i] for i in leaning if not _suffices(interactions[i], found.get(i, ()))}
        for i, turns in self._look_up(wanted).items():
            found[i] = tuple(in_order([*turns, *found.get(i, ())])[-MOST_TURNS:])
        return found

    def _look_up(self, wanted: Mapping[int, Interaction]) -> dict[int, list[Turn]]:
        stuck = self._running is not None and not self._running.done()
        if not wanted or stuck or self._clock() < self._ask_at:
            return {}
        patience = max(self._patience, FIRST if self._store is None else 0.0)
        self._running = self._pool.submit(lambda: self._opened().before(wanted))
        try:
            return self._running.result(patience)
        except TimeoutError:
            problem = f"the database did not answer within {1_000 * patience:.0f} ms"
        except MonitorError as error:
            problem = str(error)
        self._ask_at = self._clock() + PAUSE
        log.warning("earlier turns: %s; for %g s, follow-up questions are read as they stand", problem, PAUSE)
        return {}

    def _opened(self) -> EarlierTurns:
        if self._store is None:
            self._store = self._stored()
        return self._store

    def _close(self) -> None:
        self._pool.close()
        if self._running is not None:  # a look-up that is under way opens its connection, or uses it, to its end
            self._running.add_done_callback(lambda _: self._end_store())

    def _end_store(self) -> None:
        if self._store is not None:
            self._store.close()


def _suffices(asked: Interaction, turns: Sequence[Turn]) -> bool:
    """Whether nothing in the database can be nearer: the turn before is there, and one of these stands alone."""
    if not turns:
        return False
    last = turns[-1].turn
    next_to = asked.turn is None or last is None or last == asked.turn - 1
    return next_to and any(cue_of(turn.question) is None and names_something(turn.question) for turn in turns)


def remembering(decode: Decode, recent: RecentTurns) -> Decode:
    """`decode`, with the turns that cannot be scored remembered: the pipeline never sees them."""

    def decode_and_remember(messages: Sequence[Message]) -> Decoded:
        decoded = decode(messages)
        recent.remember(it for it in decoded.interactions if it.unscored is not None and it.question.strip())
        return decoded

    return decode_and_remember
