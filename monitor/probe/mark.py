"""The mark of a probe's conversations, and the live interactions that carry one.

A chatbot that is monitored writes events of probed questions too. They are no live traffic: they are stored without
scores. A mark counts only if a stored run has it, for the run's app, and only around the time of the run: it is random,
so no end user can hide a conversation by its id, and one that somebody has found in a log hides nothing later.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, NamedTuple

from monitor.core.model import Interaction, Unscored

TAG: Final = "probe"
MOST_REMEMBERED: Final = 4_096
BEFORE: Final = timedelta(days=1)  # by which the clock of a chatbot may be behind
WITHIN: Final = timedelta(days=7)  # after the run began: it is over by then, and its events have come
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


class Marked(NamedTuple):
    """The run that a mark belongs to: about which app, and since when."""

    app: str
    began_at: datetime

    def covers(self, interaction: Interaction) -> bool:
        """Whether the run may have caused this turn."""
        after = interaction.occurred_at - self.began_at
        return interaction.app == self.app and -BEFORE <= after <= WITHIN


class ProbedTurns:
    """Tells turns that probes caused from live ones. Any thread may call.

    `known` returns the runs that marks belong to, by mark. A run is stored before its first question, so the answer
    never changes and the last `MOST_REMEMBERED` marks are remembered.
    """

    def __init__(self, known: Callable[[set[str]], Mapping[str, Marked]]) -> None:
        self._known = known
        self._remembered: OrderedDict[str, Marked | None] = OrderedDict()
        self._lock = Lock()

    def told(self, interactions: Sequence[Interaction]) -> Sequence[Interaction]:
        """The interactions in their order; those that a probe caused are unscored, whatever else they lack.

        `known` is called at most once, and only for marks that are not remembered; what it raises is raised.
        """
        marks = [mark_of(interaction) for interaction in interactions]
        if not (carried := {mark for mark in marks if mark is not None}):
            return interactions
        runs = self._runs(carried)
        return [
            replace(interaction, unscored=Unscored.PROBE)
            if mark is not None and (run := runs[mark]) is not None and run.covers(interaction)
            else interaction
            for interaction, mark in zip(interactions, marks, strict=True)
        ]

    def _runs(self, marks: set[str]) -> dict[str, Marked | None]:
        with self._lock:
            found = {mark: self._remembered[mark] for mark in marks if mark in self._remembered}
        if asked := marks - found.keys():
            known = self._known(asked)
            found |= {mark: known.get(mark) for mark in asked}
        with self._lock:
            for mark, run in found.items():
                self._remembered[mark] = run
                self._remembered.move_to_end(mark)
            while len(self._remembered) > MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        return found
