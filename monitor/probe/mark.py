"""The mark of a probe's conversations, and the live interactions that carry one.

A chatbot that is monitored writes events of probed questions too. They are no live traffic: they are stored without
scores. A mark counts only if a stored run has it; it is random, so no end user can hide a conversation by its id.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Final

from monitor.core.model import Interaction, Unscored

TAG: Final = "probe"
MOST_REMEMBERED: Final = 4_096
_MARK = re.compile(r"monitor-probe-([0-9a-f]{32})(?![0-9a-f])")


def conversation_name(mark: str, part: int | str) -> str:
    """The id of the conversation about the item at place `part` of the run with this mark."""
    return f"monitor-probe-{mark}-{part}"


def mark_of(interaction: Interaction) -> str | None:
    """The mark that its conversation id, or else its tag `probe`, begins with, whoever put it there."""
    for text in (interaction.conversation_id, interaction.tags.get(TAG)):
        if text is not None and (match := _MARK.match(text)) is not None:
            return match[1]
    return None


class ProbedTurns:
    """Tells turns that probes caused from live ones. Any thread may call.

    `known` returns which marks belong to runs. A run is stored before its first question, so the answer never changes
    and the last `MOST_REMEMBERED` marks are remembered.
    """

    def __init__(self, known: Callable[[set[str]], frozenset[str]]) -> None:
        self._known = known
        self._remembered: OrderedDict[str, bool] = OrderedDict()
        self._lock = Lock()

    def told(self, interactions: Sequence[Interaction]) -> Sequence[Interaction]:
        """The interactions in their order; those that a probe caused are unscored, whatever else they lack.

        `known` is called at most once, and only for marks that are not remembered; what it raises is raised.
        """
        marks = [mark_of(interaction) for interaction in interactions]
        if not (carried := {mark for mark in marks if mark is not None}):
            return interactions
        ours = self._ours(carried)
        return [
            replace(interaction, unscored=Unscored.PROBE) if mark in ours else interaction
            for interaction, mark in zip(interactions, marks, strict=True)
        ]

    def _ours(self, marks: set[str]) -> set[str]:
        with self._lock:
            found = {mark: self._remembered[mark] for mark in marks if mark in self._remembered}
        if asked := marks - found.keys():
            known = self._known(asked)
            found |= {mark: mark in known for mark in asked}
        with self._lock:
            for mark, is_ours in found.items():
                self._remembered[mark] = is_ours
                self._remembered.move_to_end(mark)
            while len(self._remembered) > MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        return {mark for mark, is_ours in found.items() if is_ours}
