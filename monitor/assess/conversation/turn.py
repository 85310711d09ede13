"""The turns of a conversation, and which of them come before a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from monitor.core.model import Interaction

Conversation: TypeAlias = tuple[str, str]  # app and conversation id
MOST_TURNS = 4  # turns before a question that are looked at
LONGEST_QUESTION = 4_000  # characters kept of the question of an earlier turn
WITHIN = timedelta(days=7)  # a turn that is older than this counts as another conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of a conversation; `question` has at most `LONGEST_QUESTION` characters of what was asked."""

    id: str
    question: str
    occurred_at: datetime
    turn: int | None = None


def conversation_of(it: Interaction) -> Conversation | None:
    """What the interaction belongs to; None where its event carries no conversation."""
    return None if it.conversation_id is None else (it.app, it.conversation_id)


def turn_of(it: Interaction) -> Turn:
    return Turn(id=it.id, question=it.question[:LONGEST_QUESTION], occurred_at=it.occurred_at, turn=it.turn)


def in_order(turns: Iterable[Turn]) -> list[Turn]:
    """The turns of one conversation, the first one first: by number if all have one, else by time.

    Where two have the same place, the order in which they are given counts. Of turns with the same id, the last stays.
    """
    kept = list({one.id: one for one in turns}.values())
    numbered = all(one.turn is not None for one in kept)
    return sorted(kept, key=lambda one: (one.turn or 0, one.occurred_at) if numbered else (0, one.occurred_at))


def before(asked: Turn, ordered: Sequence[Turn], places: Mapping[str, int]) -> tuple[Turn, ...]:
    """The last `MOST_TURNS` of `ordered` (as `in_order` gives them) before the turn `asked`, which is one of them.

    `places` maps their ids to their places. A turn more than `WITHIN` away in time is left out.
    """
    return near(asked, ordered[max(0, places[asked.id] - MOST_TURNS) : places[asked.id]])


def near(asked: Turn, earlier: Iterable[Turn]) -> tuple[Turn, ...]:
    """Those of the turns that are at most `WITHIN` away in time from the turn `asked`."""
    return tuple(one for one in earlier if abs(asked.occurred_at - one.occurred_at) <= WITHIN)
