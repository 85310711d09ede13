"""Remembers the last turns of recent conversations, since batches in flight are not stored yet."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock

from monitor.assess.conversation.turn import (
    MOST_TURNS,
    Conversation,
    Turn,
    before,
    conversation_of,
    in_order,
    turn_of,
)
from monitor.core.model import Interaction

MOST_CONVERSATIONS = 4_096
KEPT = 2 * MOST_TURNS  # turns of a conversation that are remembered


class RecentTurns:
    """The last `KEPT` turns of the `MOST_CONVERSATIONS` conversations that were heard of last. Any thread may call."""

    def __init__(self) -> None:
        self._held: OrderedDict[Conversation, list[Turn]] = OrderedDict()
        self._lock = Lock()

    def remember(self, interactions: Iterable[Interaction]) -> dict[Conversation, list[Turn]]:
        """Takes the interactions in; returns the turns of their conversations, in order, all of this call included."""
        heard: defaultdict[Conversation, list[Turn]] = defaultdict(list)
        for it in interactions:
            if (conversation := conversation_of(it)) is not None:
                heard[conversation].append(turn_of(it))
        with self._lock:
            known = {name: in_order([*self._held.get(name, ()), *turns]) for name, turns in heard.items()}
            for name, turns in known.items():
                self._held[name] = turns[-KEPT:]
                self._held.move_to_end(name)
            while len(self._held) > MOST_CONVERSATIONS:
                self._held.popitem(last=False)
        return known

    def before(self, interactions: Sequence[Interaction], leaning: Collection[int]) -> dict[int, tuple[Turn, ...]]:
        """The turns before `interactions[i]`, for each i of `leaning`, among those remembered and all of this call."""
        known = self.remember(interactions)
        places: Mapping[Conversation, Mapping[str, int]] = {
            name: {turn.id: place for place, turn in enumerate(known[name])}
            for name in {conversation_of(interactions[i]) for i in leaning}
            if name is not None
        }
        return {
            i: before(turn_of(it), known[name], places[name])
            for i in leaning
            if (name := conversation_of(it := interactions[i])) is not None
        }
