"""One turn in each convention, as its documentation describes it: the same question, documents and answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from monitor.core.model import TokenUsage
from monitor.core.trace import LogRecord, Span, SpanEvent
from monitor.ingest.traces.turn import Turn
from tests.rig.ingest.spans import START, log, read, span

QUESTION = "When does the library open on Sundays?"
ANSWER = "It opens at eleven."
TEXTS = ("On Sundays the library opens at 11:00.", "The reading room closes at 18:00.")
IDS = ("hours-1", "hours-2")
PROMPT = f"Answer from the context.\n\nContext:\n{TEXTS[0]}\n\n{TEXTS[1]}"
SPOKEN = [{"role": "system", "content": PROMPT}, {"role": "user", "content": QUESTION}]
PARTS = [{"role": m["role"], "parts": [{"type": "text", "content": m["content"]}]} for m in SPOKEN]
REPLY_PARTS = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"}]
Parts = tuple[list[Span], list[LogRecord]]


def text(value: object) -> str:
    return json.dumps(value)


def listed(*, id_: str = "id", content: str = "text") -> list[dict[str, Any]]:
    return [
        {id_: i, content: t, "score": s, "metadata": {"source": "hours.md"}}
        for i, t, s in zip(IDS, TEXTS, (0.9, 0.4), strict=True)
    ]


def openinference() -> Parts:
    series = {}
    for n, one in enumerate(listed()):
        series[f"retrieval.documents.{n}.document.id"] = one["id"]
        series[f"retrieval.documents.{n}.document.content"] = one["text"]
        series[f"retrieval.documents.{n}.document.score"] = one["score"]
    spoken = {f"llm.input_messages.{n}.message.{k}": v for n, m in enumerate(SPOKEN) for k, v in m.items()}
    return [
        span(1, openinference__span__kind="CHAIN", input__value=QUESTION, output__value=ANSWER, lasts=3),
        span(2, parent=1, openinference__span__kind="RETRIEVER", input__value=QUESTION, **series),
        span(
            3, parent=1, at=1, openinference__span__kind="LLM", llm__model_name="m-1", llm__token_count__prompt=40,
            llm__token_count__completion=6, llm__output_messages__0__message__role="assistant",
            llm__output_messages__0__message__content=ANSWER, **spoken,
        ),
    ], []  # fmt: skip


def genai() -> Parts:
    return [
        span(1, gen_ai__operation__name="invoke_workflow", lasts=3),
        span(
            2, parent=1, gen_ai__operation__name="retrieval", gen_ai__retrieval__query__text=QUESTION,
            gen_ai__retrieval__documents=text([{"id": d["id"], "score": d["score"]} for d in listed()]),
        ),
        span(
            3, parent=1, at=1, gen_ai__operation__name="chat", gen_ai__response__model="m-1",
            gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=6,
            gen_ai__input__messages=text(PARTS), gen_ai__output__messages=text(REPLY_PARTS),
        ),
    ], []  # fmt: skip


def genai_instructions_apart() -> Parts:
    spans, _ = genai()
    alone = span(
        3, parent=1, at=1, gen_ai__operation__name="chat", gen_ai__request__model="m-1",
        gen_ai__usage__input_tokens="40", gen_ai__usage__output_tokens="6",
        gen_ai__system_instructions=text([{"type": "text", "content": PROMPT}]),
        gen_ai__input__messages=text(PARTS[1:]), gen_ai__output__messages=text(REPLY_PARTS),
    )  # fmt: skip
    return [*spans[:2], alone], []


def genai_log_records() -> Parts:
    spans, _ = genai()
    bare = span(
        3, parent=1, at=1, gen_ai__operation__name="chat", gen_ai__response__model="m-1",
        gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=6,
    )  # fmt: skip
    logs = [log(3, f"gen_ai.{m['role']}.message", {"content": m["content"]}) for m in SPOKEN]
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}
    return [*spans[:2], bare], [*logs, log(3, "gen_ai.choice", choice)]


def genai_one_log_record() -> Parts:
    spans, logs = genai_log_records()
    del logs[:]
    told = {"gen_ai.input.messages": PARTS, "gen_ai.output.messages": REPLY_PARTS}
    return spans, [log(3, "gen_ai.client.inference.operation.details", **told)]


def span_events() -> Parts:
    """As Strands and Semantic Kernel write it: content in events of the spans."""
    asked = SpanEvent(name="gen_ai.user.message", at=START, attributes={"content": text([{"text": QUESTION}])})
    system = SpanEvent(name="gen_ai.system.message", at=START, attributes={"content": text([{"text": PROMPT}])})
    told = SpanEvent(name="gen_ai.choice", at=START, attributes={"message": ANSWER, "finish_reason": "end_turn"})
    parts = SpanEvent(name="gen_ai.choice", at=START, attributes={"message": text([{"text": ANSWER}])})
    spans, _ = genai()
    return [
        span(1, gen_ai__operation__name="invoke_agent", events=[asked, told], lasts=3),
        spans[1],
        span(
            3, parent=1, at=1, gen_ai__operation__name="chat", gen_ai__request__model="m-1",
            gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=6, events=[system, asked, parts],
        ),
    ], []  # fmt: skip


def prompt_events() -> Parts:
    """As Semantic Kernel and Spring AI wrote it: the whole prompt in one event."""
    prompt = SpanEvent(name="gen_ai.content.prompt", at=START, attributes={"gen_ai.prompt": text(SPOKEN)})
    reply = text([{"role": "assistant", "content": ANSWER}])
    completion = SpanEvent(name="gen_ai.content.completion", at=START, attributes={"gen_ai.completion": reply})
    spans, _ = genai()
    chat = span(
        3, parent=1, at=1, gen_ai__operation__name="chat.completions", gen_ai__request__model="m-1",
        gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=6, events=[prompt, completion],
    )  # fmt: skip
    return [*spans[:2], chat], []


def traceloop() -> Parts:
    return [
        span(
            1, traceloop__span__kind="workflow", traceloop__entity__name="answer", lasts=3,
            traceloop__entity__input=text({"args": [QUESTION], "kwargs": {}}), traceloop__entity__output=text(ANSWER),
        ),
        span(
            2, parent=1, name="retrieve.task", traceloop__span__kind="task",
            traceloop__entity__input=text({"args": [QUESTION], "kwargs": {}}), traceloop__entity__output=text(listed()),
        ),
        span(
            3, parent=1, at=1, gen_ai__system="openai", llm__request__type="chat", gen_ai__response__model="m-1",
            gen_ai__prompt__0__role="system", gen_ai__prompt__0__content=PROMPT,
            gen_ai__prompt__1__role="user", gen_ai__prompt__1__content=QUESTION,
            gen_ai__completion__0__role="assistant", gen_ai__completion__0__content=ANSWER,
            gen_ai__usage__prompt_tokens=40, gen_ai__usage__completion_tokens=6,
        ),
    ], []  # fmt: skip


def vector_store() -> Parts:
    """A vector store's span, whose results stand in events."""
    spans, _ = traceloop()
    events = [
        SpanEvent(
            name="db.query.result",
            at=START,
            attributes={"db.query.result.id": d["id"], "db.query.result.document": d["text"],
                        "db.query.result.score": d["score"]},
        )
        for d in listed()
    ]  # fmt: skip
    return [spans[0], span(2, parent=1, name="chroma.query", db__system="chroma", events=events), spans[2]], []


def langfuse() -> Parts:
    return [
        span(
            1, langfuse__observation__type="span", lasts=3, langfuse__observation__output=ANSWER,
            langfuse__observation__input=text({"args": [], "kwargs": {"question": QUESTION, "tenant": "north"}}),
        ),
        span(
            2, parent=1, langfuse__observation__type="retriever", langfuse__observation__input=QUESTION,
            langfuse__observation__output=text(listed(content="page_content")),
        ),
        span(
            3, parent=1, at=1, langfuse__observation__type="generation", langfuse__observation__input=text(SPOKEN),
            langfuse__observation__output=text({"role": "assistant", "content": ANSWER}),
            langfuse__observation__model__name="m-1",
            langfuse__observation__usage_details=text({"input": 40, "output": 6}),
        ),
    ], []  # fmt: skip


def mlflow() -> Parts:
    return [
        span(
            1, mlflow__spanType='"AGENT"', lasts=3, mlflow__spanInputs=text({"messages": SPOKEN[1:]}),
            mlflow__spanOutputs=text({"messages": [*SPOKEN[1:], {"role": "assistant", "content": ANSWER}]}),
        ),
        span(
            2, parent=1, mlflow__spanType='"RETRIEVER"', mlflow__spanInputs=text(QUESTION),
            mlflow__spanOutputs=text(listed(content="page_content")),
        ),
        span(
            3, parent=1, at=1, mlflow__spanType='"CHAT_MODEL"', mlflow__spanInputs=text({"messages": SPOKEN}),
            mlflow__spanOutputs=text({"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}),
            mlflow__chat__tokenUsage=text({"input_tokens": 40, "output_tokens": 6}), mlflow__llm__model='"m-1"',
        ),
    ], []  # fmt: skip


def langsmith() -> Parts:
    documents = [{"id": d["id"], "page_content": d["text"], "metadata": {"score": d["score"]}} for d in listed()]
    message = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"]}
    generation = {"generations": [[{"text": ANSWER, "message": {**message, "kwargs": {"content": ANSWER}}}]]}
    return [
        span(
            1, langsmith__span__kind="chain", lasts=3, gen_ai__prompt=text({"input": QUESTION}),
            gen_ai__completion=text({"output": ANSWER}), gen_ai__operation__name="chain",
        ),
        span(
            2, parent=1, langsmith__span__kind="retriever", gen_ai__operation__name="embeddings",
            gen_ai__prompt=text({"query": QUESTION}), gen_ai__completion=text({"documents": documents}),
        ),
        span(
            3, parent=1, at=1, langsmith__span__kind="llm", gen_ai__operation__name="chat",
            gen_ai__prompt=text({"messages": [SPOKEN]}), gen_ai__completion=text(generation),
            gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=6, gen_ai__request__model="m-1",
        ),
    ], []  # fmt: skip


def haystack() -> Parts:
    documents = [{"id": d["id"], "content": d["text"], "score": d["score"], "meta": {}} for d in listed()]
    reply = {"role": "assistant", "content": [{"text": ANSWER}],
             "meta": {"model": "m-1", "usage": {"prompt_tokens": 40, "completion_tokens": 6}}}  # fmt: skip
    given = {"embedder": {"text": QUESTION}, "prompt_builder": {"question": QUESTION}}
    return [
        span(
            1, haystack__pipeline__input_data=text(given), lasts=3,
            haystack__pipeline__output_data=text({"llm": {"replies": [reply]}}),
        ),
        span(
            2, parent=1, haystack__component__type="InMemoryBM25Retriever",
            haystack__component__input=text({"query": QUESTION}),
            haystack__component__output=text({"documents": documents}),
        ),
        span(
            3, parent=1, at=1, haystack__component__type="OpenAIChatGenerator",
            haystack__component__input=text({"messages": SPOKEN}),
            haystack__component__output=text({"replies": [reply]}),
        ),
    ], []  # fmt: skip


def vercel() -> Parts:
    return [
        span(
            1, ai__operationId="ai.streamText", lasts=3, ai__prompt=text({"messages": SPOKEN[1:]}),
            ai__response__text=ANSWER, ai__usage__promptTokens=40, ai__usage__completionTokens=6,
            ai__telemetry__metadata__sessionId="s-1", ai__telemetry__metadata__userId="u-1",
        ),
        span(
            2, parent=1, ai__operationId="ai.toolCall", ai__toolCall__name="search",
            ai__toolCall__args=text({"query": QUESTION}), ai__toolCall__result=text(listed(content="content")),
        ),
        span(
            3, parent=1, at=1, ai__operationId="ai.streamText.doStream", ai__prompt__messages=text(SPOKEN),
            ai__response__text=ANSWER, gen_ai__response__model="m-1",
            gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=6,
        ),
    ], []  # fmt: skip


def pydantic_ai() -> Parts:
    events = [{**m, "event.name": f"gen_ai.{m['role']}.message"} for m in SPOKEN]
    events.append({"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": ANSWER}})
    return [
        span(1, name="agent run", agent_name="librarian", final_result=ANSWER, lasts=3,
             gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=6),
        span(2, parent=1, name="running tool", gen_ai__tool__name="search", tool_arguments=text({"query": QUESTION}),
             tool_response=text(listed(content="content"))),
        with_events(events),
    ], []  # fmt: skip


def with_events(events: list[dict[str, Any]]) -> Span:
    """An attribute that is named as the events of a span are."""
    one = span(
        3, parent=1, at=1, name="chat m-1", gen_ai__operation__name="chat", gen_ai__request__model="m-1",
        gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=6,
    )  # fmt: skip
    one.attributes["events"] = text(events)  # type: ignore[index]
    return one


def adk() -> Parts:
    """As Google's agent development kit writes it."""
    contents = [{"role": "user", "parts": [{"text": QUESTION}]}]
    response = {"content": {"role": "model", "parts": [{"text": ANSWER}]}}
    return [
        span(1, name="invocation", lasts=3),
        span(2, parent=1, name="execute_tool search", gen_ai__operation__name="execute_tool",
             gcp__vertex__agent__tool_response=text({"results": listed(content="content")})),
        span(
            3, parent=1, at=1, name="call_llm", gen_ai__system="gcp.vertex.agent", gen_ai__request__model="m-1",
            gcp__vertex__agent__llm_request=text({"model": "m-1", "contents": contents}),
            gcp__vertex__agent__llm_response=text(response),
            gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=6,
        ),
    ], []  # fmt: skip


CONVENTIONS = (
    openinference, genai, genai_instructions_apart, genai_log_records, genai_one_log_record, span_events,
    prompt_events, traceloop, vector_store, langfuse, mlflow, langsmith, haystack, vercel, pydantic_ai, adk,
)  # fmt: skip


def texts(turn: Turn) -> list[tuple[str | None, str | None, float | None]]:
    return [(d.id, d.in_prompt if d.text is None else d.text, d.score) for d in turn.documents or ()]


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda convention: convention.__name__)
def test_a_turn_is_read_from_each_convention(convention: Callable[[], Parts]) -> None:
    spans, logs = convention()
    turn = read(*spans, logs=logs)
    assert turn.question == QUESTION
    assert turn.answer == ANSWER
    assert texts(turn) == [(i, t, s) for i, t, s in zip(IDS, TEXTS, (0.9, 0.4), strict=True)]
    assert turn.model == "m-1"
    assert turn.unscored is None
    assert convention is haystack or turn.usage == TokenUsage(input=40, output=6)


def test_session_and_user_come_under_the_names_of_each_package() -> None:
    spans, _ = vercel()
    turn = read(*spans)
    assert (turn.conversation_id, turn.user) == ("s-1", "u-1")
