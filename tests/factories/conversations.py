"""A question and a follow-up that borrows its words, as the pipeline assesses them."""

from __future__ import annotations

from dataclasses import replace

from monitor.assess.conversation.complete import completed
from monitor.assess.conversation.leaning import cue_of
from monitor.assess.conversation.turn import turn_of
from monitor.core.model import Assessment
from tests.factories.answers import an_assessment, at

SAID = "What does the premium plan of Jane Doe, jane@shop.example, cost?"
FOLLOW_UP = "And for seniors?"
READ_AS = f"{SAID} {FOLLOW_UP}"


def a_follow_up(**over: object) -> tuple[Assessment, Assessment]:
    """The turns `q-1` and `q-2`; what is given goes into both."""
    known = {"app": "support-bot", "conversation_id": "c-1", **over}
    first = an_assessment(**{**known, "id": "q-1", "turn": 1, "question": SAID, "occurred_at": at(-1)})
    after = an_assessment(**{**known, "id": "q-2", "turn": 2, "question": FOLLOW_UP, "occurred_at": at(0)})
    cue = cue_of(FOLLOW_UP)
    read = None if cue is None else completed(FOLLOW_UP, cue, [turn_of(first.interaction)])
    return first, replace(after, standalone=None if read is None else replace(read, sdq=0.25, qrd=0.125, qa=None))
