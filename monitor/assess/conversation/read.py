"""Reads the questions of a batch: those that lean on earlier turns of their conversation are completed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monitor.assess.classify.profile import Profile
from monitor.assess.conversation.complete import completed
from monitor.assess.conversation.leaning import cue_of
from monitor.assess.embed.batch import EmbeddedBatch
from monitor.assess.ports import Conversations
from monitor.assess.score.adaptability import adaptability
from monitor.core.evidence import StandaloneQuestion
from monitor.core.model import Assessment, Interaction, Metrics


def standalone_questions(
    interactions: Sequence[Interaction], conversations: Conversations | None
) -> list[StandaloneQuestion | None]:
    """How each question is read; None where it is read as it stands. Only those that lean are looked up."""
    if conversations is None or all(it.conversation_id is None for it in interactions):
        return [None] * len(interactions)
    cues = [None if it.conversation_id is None else cue_of(it.question) for it in interactions]
    earlier = conversations.before(interactions, [i for i, cue in enumerate(cues) if cue is not None])
    return [
        None if cue is None else completed(it.question, cue, earlier.get(i, ()))
        for i, (it, cue) in enumerate(zip(interactions, cues, strict=True))
    ]


def as_read(it: Interaction, standalone: StandaloneQuestion | None) -> Interaction:
    """The interaction with the question that everything is compared with."""
    return it if standalone is None else replace(it, question=standalone.text)


def with_both_readings(
    made: Sequence[Assessment],
    asked: Sequence[Interaction],
    standalone: Sequence[StandaloneQuestion | None],
    embedded: EmbeddedBatch,
    profile: Profile,
) -> list[Assessment]:
    """The assessments with the questions as they were asked; those of follow-ups also with how they were read."""
    if not any(standalone):
        return list(made)
    as_asked = [profile.compared(scores) for scores in adaptability(embedded.as_asked())]
    return [
        a if read is None else replace(a, interaction=it, standalone=_compared(read, metrics))
        for a, it, read, metrics in zip(made, asked, standalone, as_asked, strict=True)
    ]


def _compared(standalone: StandaloneQuestion, as_asked: Metrics) -> StandaloneQuestion:
    return replace(standalone, sdq=as_asked.sdq, qrd=as_asked.qrd, qa=as_asked.qa)
