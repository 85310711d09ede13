"""From traces to turns: the flow on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from monitor.core.model import Unscored
from monitor.ingest.traces.assembly.answer import answer_of
from monitor.ingest.traces.assembly.background import background_of
from monitor.ingest.traces.assembly.duplicates import duplicates
from monitor.ingest.traces.assembly.prompt import with_prompt_texts
from monitor.ingest.traces.assembly.question import question_of
from monitor.ingest.traces.assembly.retrieved import documents_of_turn
from monitor.ingest.traces.assembly.steps import Steps
from monitor.ingest.traces.conventions.kinds import Kind
from monitor.ingest.traces.conventions.values import is_redacted
from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turn import NoTurn, Turn, TurnDocument

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def turns(traces: Sequence[Trace], *, around: Sequence[Trace] = ()) -> list[Turn | NoTurn]:
    """The turn of each trace, or why it has none, in the order of `traces`.

    Pure: the same spans in any order, repeated or not, give the same turns. Several traces are read together, since
    one may only repeat the model call of another: of another of `traces`, or of those `around`, which get no turn here.
    """
    read = [Steps(trace) for trace in traces]
    originals = duplicates([*read, *map(Steps, around)])
    return [_turn(steps, originals.get(steps.trace.trace_id)) for steps in read]


def _turn(steps: Steps, original: str | None) -> Turn | NoTurn:
    trace_id = steps.trace.trace_id
    if original is not None:
        return NoTurn(trace_id=trace_id, because=f"it repeats the model call of trace {original}")
    final = steps.final
    if final is None:
        return NoTurn(trace_id=trace_id, because=_why_none(steps))
    hides_input, hides_output = _redactions(steps)
    documents = documents_of_turn(steps)
    question = question_of(steps, documents or ())
    hides_input = hides_input or is_redacted(question)
    question = None if hides_input else question
    answer, told_by = answer_of(steps)
    hides_output = hides_output or is_redacted(answer)
    answer = None if hides_output else answer
    if documents is not None and not (steps.hides_documents or hides_input):
        documents = with_prompt_texts(documents, steps)
    back = background_of(steps)
    return Turn(
        trace_id=trace_id,
        span_id=told_by,
        question=question,
        documents=None if documents is None else tuple(documents),
        answer=answer,
        started=_time(steps.trace.started),
        ended=_time(steps.trace.ended),
        model=final.model or back.model,
        conversation_id=back.conversation_id,
        user=back.user,
        service=back.service,
        environment=back.environment,
        failed=final.failed,
        usage=back.usage,
        unscored=_unscored(
            question,
            answer,
            documents,
            failed=final.failed,
            redacted=hides_input or hides_output or steps.hides_documents,
            retrieves=bool(steps.retrieval_steps),
        ),
    )


def _unscored(
    question: str | None,
    answer: str | None,
    documents: Sequence[TurnDocument] | None,
    *,
    failed: bool,
    redacted: bool,
    retrieves: bool,
) -> Unscored | None:
    """Why a turn cannot be scored; None if it can."""
    if failed:
        return Unscored.CALL_FAILED
    complete = question is not None and answer is not None
    if redacted and not (complete and documents is not None and all(_text(d) is not None for d in documents)):
        return Unscored.CONTENT_REDACTED
    if not complete or (documents is None and retrieves):
        return Unscored.CONTENT_NOT_CAPTURED
    if documents is None:
        return Unscored.NO_RETRIEVAL
    return Unscored.NO_DOCUMENT_TEXT if any(_text(d) is None for d in documents) else None


def _text(document: TurnDocument) -> str | None:
    return document.in_prompt if document.text is None else document.text


def _redactions(steps: Steps) -> tuple[bool, bool]:
    """Whether any step that tells the question, or the answer, is redacted: then neither is read from another place."""
    shown = [step.redacts for step in (*steps.around, *steps.of(Kind.MODEL))]
    return any(hidden for hidden, _ in shown), any(hidden for _, hidden in shown)


def _why_none(steps: Steps) -> str:
    if steps.models:
        return "its model calls ask for tools only"
    kinds = {step.kind for step in steps.by_id.values()}
    if kinds == {Kind.EMBEDDING}:
        return "it only computes embeddings"
    return "it calls no model" if kinds else "its spans have not arrived"


def _time(nanoseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
