"""The rules by which a trace becomes a turn, each alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from monitor.core.model import TokenUsage, Unscored
from monitor.core.trace import Span
from monitor.ingest.traces.arrival import is_root, shows_answer
from monitor.ingest.traces.event import native_event
from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turn import NoTurn, Turn
from monitor.ingest.traces.turns import turns
from tests.rig.ingest.spans import read, read_none, span

QUESTION, ANSWER = "When does the ferry leave?", "It leaves at nine."
DOCUMENTS = [{"id": "f-1", "text": "The ferry leaves at 9:00.", "score": 0.8}]


def chain(number: int = 1, **fields: Any) -> Span:
    return span(number, openinference__span__kind="CHAIN", **{"lasts": 5, **fields})


def model(number: int = 3, *, said: str | None = QUESTION, reply: str | None = ANSWER, **fields: Any) -> Span:
    asked = {} if said is None else {"llm.input_messages.0.message.role": "user",
                                     "llm.input_messages.0.message.content": said}  # fmt: skip
    told = {} if reply is None else {"llm.output_messages.0.message.role": "assistant",
                                     "llm.output_messages.0.message.content": reply}  # fmt: skip
    return span(number, openinference__span__kind="LLM", **{"parent": 1, "at": 2, **asked, **told, **fields})


def calling(number: int, **fields: Any) -> Span:
    call = {"llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c"}  # fmt: skip
    return model(number, reply=None, **{**call, **fields})


def retriever(number: int = 2, documents: object = DOCUMENTS, **fields: Any) -> Span:
    given = {"parent": 1, "input__value": QUESTION, "output__value": json.dumps({"documents": documents})}
    return span(number, openinference__span__kind="RETRIEVER", **{**given, **fields})


def ids(turn: Turn) -> list[str | None]:
    return [d.id for d in turn.documents or ()]


def test_the_outermost_chain_tells_question_and_answer_and_the_time() -> None:
    turn = read(chain(input__value=QUESTION, output__value=ANSWER + " Be early."), retriever(), model())
    assert (turn.question, turn.answer) == (QUESTION, ANSWER + " Be early.")
    assert turn.span_id == f"{1:016x}"
    assert (turn.ended - turn.started).total_seconds() == 5
    assert turn.unscored is None


@pytest.mark.parametrize(
    "given",
    [
        {"question": QUESTION, "history": []},
        {"args": [QUESTION], "kwargs": {}},
        {"args": ["<Bot object at 0x7f>", "tenant-4", QUESTION], "kwargs": {}},
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
                      {"role": "user", "content": QUESTION}]},
        {"inputs": {"input": QUESTION}, "tags": [], "kwargs": {"name": "Chain"}},
        {"embedder": {"text": QUESTION}, "builder": {"question": QUESTION}, "llm": {"model": "m"}},
        {"unusual": QUESTION, "language": "en"},
    ],
)  # fmt: skip
def test_the_question_is_found_in_what_the_chain_was_given(given: dict[str, Any]) -> None:
    assert read(chain(input__value=json.dumps(given)), model()).question == QUESTION


@pytest.mark.parametrize("given", ["", "<generator object run at 0x7f>", '{"messages": [{"role": "user", "con'])
def test_without_a_usable_input_the_last_message_of_the_user_is_the_question(given: str) -> None:
    assert read(chain(input__value=given), model()).question == QUESTION


def test_the_question_is_taken_out_of_a_prompt_that_holds_the_documents() -> None:
    prompt = f"Context:\n{DOCUMENTS[0]['text']}\n\nQuestion: {QUESTION}\nAnswer:"
    assert read(chain(), retriever(), model(said=prompt)).question == QUESTION
    assert read(chain(), model(said=prompt)).question == QUESTION


@pytest.mark.parametrize(
    "given",
    [
        {"answer": ANSWER, "context": ["a"]},
        {"messages": [{"type": "human", "content": QUESTION}, {"type": "ai", "content": ANSWER}]},
        {"outputs": {"output": ANSWER}},
        {"state": {"draft": ANSWER}},
        "<generator object run at 0x7f>",
        ANSWER[:15] + "...",
    ],
)  # fmt: skip
def test_the_answer_is_found_in_what_the_chain_gave_back(given: object) -> None:
    output = given if isinstance(given, str) else json.dumps(given)
    assert read(chain(output__value=output), model()).answer == ANSWER


def test_the_last_call_that_asks_for_no_tool_gives_the_answer() -> None:
    turn = read(chain(), calling(2, at=0), model(3, at=2), span(4, parent=1, at=1, openinference__span__kind="TOOL"))
    assert turn.answer == ANSWER


def test_traces_without_an_answering_model_hold_no_turn() -> None:
    assert read_none(chain(input__value=QUESTION, output__value=ANSWER)) == "it calls no model"
    assert read_none(chain(input__value=QUESTION), calling(2)) == "its model calls ask for tools only"
    assert read_none(span(1, openinference__span__kind="EMBEDDING")) == "it only computes embeddings"


def test_fields_that_a_model_marks_are_told_apart_and_objects_as_python_shows_them_are_no_answer() -> None:
    marked = f"[[ ## reasoning ## ]]\nAs the plan says.\n\n[[ ## answer ## ]]\n{ANSWER}\n\n[[ ## completed ## ]]"
    shown = f"Prediction(\n    reasoning='As the plan says.',\n    answer='{ANSWER}'\n)"
    assert read(chain(output__value=shown), model(reply=marked)).answer == ANSWER


def test_handing_over_to_another_agent_is_no_document() -> None:
    tool = span(2, parent=1, openinference__span__kind="TOOL", tool__name="transfer_to_ferries", output__value="Done.")
    assert read(chain(), tool, model()).documents is None


def test_an_agent_may_give_its_answer_by_calling_a_tool() -> None:
    turn = read(chain(input__value=QUESTION, output__value=ANSWER), calling(2))
    assert (turn.question, turn.answer) == (QUESTION, ANSWER)


def test_a_failed_call_has_no_answer_and_says_so() -> None:
    turn = read(chain(input__value=QUESTION), retriever(), model(reply=None, failed=True))
    assert (turn.answer, turn.failed, turn.unscored) == (None, True, Unscored.CALL_FAILED)
    assert ids(turn) == ["f-1"]


def test_a_call_that_was_tried_again_has_not_failed() -> None:
    assert not read(chain(), model(2, reply=None, failed=True, at=0), model(3)).failed


@pytest.mark.parametrize("place", ["input", "messages", "answer", "messages of the answer"])
def test_what_was_redacted_anywhere_is_read_from_nowhere(place: str) -> None:
    root = {"input__value": QUESTION, "output__value": ANSWER}
    said, reply = QUESTION, ANSWER
    if place == "input":
        root["input__value"] = "__REDACTED__"
    elif place == "answer":
        root["output__value"] = "__REDACTED__"
    elif place == "messages":
        said = "__REDACTED__"
    else:
        reply = "__REDACTED__"
    turn = read(chain(**root), retriever(), model(said=said, reply=reply))
    hidden = turn.question if place in {"input", "messages"} else turn.answer
    assert hidden is None
    assert turn.unscored is Unscored.CONTENT_REDACTED


def test_redacted_texts_of_documents_are_not_taken_from_the_prompt() -> None:
    listed = {"retrieval.documents.0.document.id": "f-1", "retrieval.documents.0.document.content": "__REDACTED__"}
    prompt = {"llm.prompt_template.variables": json.dumps({"context": DOCUMENTS[0]["text"]})}
    turn = read(chain(input__value=QUESTION), retriever(**{"output__value": "__REDACTED__", **listed}), model(**prompt))
    [document] = turn.documents or ()
    assert (document.id, document.text, document.in_prompt) == ("f-1", None, None)
    assert turn.unscored is Unscored.CONTENT_REDACTED


def test_a_redacted_result_of_a_tool_is_not_taken_from_the_messages_that_leak_it() -> None:
    tool = span(2, parent=1, openinference__span__kind="TOOL", output__value="__REDACTED__")
    leak = {"llm.input_messages.1.message.role": "tool", "llm.input_messages.1.message.content": json.dumps(DOCUMENTS)}
    assert read(chain(), tool, model(**leak)).documents is None
    assert read(chain(), retriever(output__value="__REDACTED__"), tool, model(**leak)).documents is None


def test_why_a_turn_has_no_scores() -> None:
    bare = span(1, gen_ai__operation__name="chat", gen_ai__response__model="m")
    assert read(bare).unscored is Unscored.CONTENT_NOT_CAPTURED
    assert read(chain(), model()).unscored is Unscored.NO_RETRIEVAL
    assert read(chain(), retriever(output__value=None), model()).unscored is Unscored.CONTENT_NOT_CAPTURED
    known = span(2, parent=1, gen_ai__operation__name="retrieval", gen_ai__retrieval__documents='[{"id": "f-1"}]')
    assert read(chain(), known, model(said=f"Use what you know.\n\n{QUESTION}")).unscored is Unscored.NO_DOCUMENT_TEXT


def test_nothing_found_is_an_empty_list() -> None:
    turn = read(chain(), retriever(documents=[]), model())
    assert (turn.documents, turn.unscored) == ((), None)


def test_a_reranker_comes_before_retrievers_and_the_outer_retriever_before_the_inner() -> None:
    other = [*DOCUMENTS, {"id": "f-2", "text": "No ferry at night.", "score": 0.1}]
    ranked = span(4, parent=1, at=1, openinference__span__kind="RERANKER", output__value=json.dumps(DOCUMENTS))
    assert ids(read(chain(), retriever(documents=other), ranked, model())) == ["f-1"]
    inner = retriever(4, documents=other, parent=2)
    assert ids(read(chain(), retriever(), inner, model())) == ["f-1"]


def test_the_same_document_is_taken_once_and_keeps_its_first_score() -> None:
    again = [{**DOCUMENTS[0], "score": 0.2}, {"id": "f-2", "text": "No ferry at night."}]
    turn = read(chain(), retriever(), retriever(4, documents=again, at=1), model())
    assert [(d.id, d.score) for d in turn.documents or ()] == [("f-1", 0.8), ("f-2", None)]


def test_results_of_tools_stand_in_for_a_retriever_those_of_this_turn_only() -> None:
    tool = span(2, parent=1, openinference__span__kind="TOOL", output__value=json.dumps({"results": DOCUMENTS}))
    assert ids(read(chain(), tool, model())) == ["f-1"]
    said = [
        ("user", "Hello"), ("tool", json.dumps([{"id": "old", "text": "of the turn before"}])), ("user", QUESTION),
        ("tool", json.dumps(DOCUMENTS)),
    ]  # fmt: skip
    messages = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in said]
    reply = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
    chat = span(
        3, gen_ai__operation__name="chat", gen_ai__input__messages=json.dumps(messages),
        gen_ai__output__messages=json.dumps(reply),
    )  # fmt: skip
    assert ids(read(chat)) == ["f-1"]


def test_documents_that_a_limit_on_attributes_dropped_are_found_with_the_step_that_formats_them() -> None:
    every = [{"id": f"f-{n}", "text": f"Ferry {n} leaves at {n}:00.", "score": n / 10} for n in range(4)]
    left = {f"retrieval.documents.{n}.document.{k}": v for n in (2, 3) for k, v in
            (("id", every[n]["id"]), ("content", every[n]["text"]), ("score", every[n]["score"]))}  # fmt: skip
    formats = chain(4, parent=1, input__value=json.dumps(every), at=1)
    turn = read(chain(), retriever(**{"output__value": None, **left}, dropped=8), formats, model())
    assert ids(turn) == ["f-0", "f-1", "f-2", "f-3"]


def test_texts_of_documents_known_by_id_are_found_where_the_prompt_delimits_them() -> None:
    known = span(2, parent=1, gen_ai__operation__name="retrieval",
                 gen_ai__retrieval__documents='[{"id": "a"}, {"id": "b"}]')  # fmt: skip
    for prompt in (
        "Context:\nThe ferry is red.\n\nThe ferry is old.",
        "<doc id='a'>The ferry is red.</doc><doc id='b'>The ferry is old.</doc> Be brief.",
        "You know:\n[b] The ferry is old.\n[a] The ferry is red.\n\nBe brief.",
    ):
        spoken = {"llm.input_messages.0.message.role": "system", "llm.input_messages.0.message.content": prompt,
                  "llm.input_messages.1.message.role": "user",
                  "llm.input_messages.1.message.content": QUESTION}  # fmt: skip
        turn = read(chain(), known, model(said=None, **spoken))
        assert [(d.text, d.in_prompt) for d in turn.documents or ()] == [
            (None, "The ferry is red."), (None, "The ferry is old.")
        ], prompt  # fmt: skip


def test_a_call_that_a_second_instrumentation_saw_alone_is_told_once() -> None:
    other = "a" * 32
    double = model(9, parent=None, trace_id=other)
    found = turns([Trace([chain(), retriever(), model()]), Trace([double])])
    assert isinstance(found[0], Turn)
    assert found[1] == NoTurn(trace_id=other, because=f"it repeats the model call of trace {found[0].trace_id}")
    assert turns([Trace([double])], around=[Trace([chain(), retriever(), model()])]) == found[1:]
    later = model(9, parent=None, trace_id=other, at=100)
    assert all(isinstance(one, Turn) for one in turns([Trace([chain(), model()]), Trace([later])]))


def test_tokens_are_summed_and_those_of_a_call_within_a_call_counted_once() -> None:
    tokens = {"llm.token_count.prompt": 10, "llm.token_count.completion": 2}
    inner = model(5, parent=3, **tokens)
    assert read(chain(), calling(2, **tokens), model(**tokens), inner).usage == TokenUsage(input=20, output=4)


def test_session_and_user_come_from_the_outermost_span_that_names_them() -> None:
    turn = read(chain(metadata=json.dumps({"thread_id": "t-1"})), model(user__id="u-1", session__id="s-2"))
    assert (turn.conversation_id, turn.user) == ("t-1", "u-1")


def test_service_and_environment_come_from_the_resource() -> None:
    resource = {"service.name": "ferry-bot", "deployment.environment.name": "staging"}
    turn = read(chain(resource=resource), model())
    assert (turn.service, turn.environment) == ("ferry-bot", "staging")
    assert read(chain(resource={"service.name": "unknown_service:python"}), model()).service is None


def test_what_a_trace_row_remembers() -> None:
    assert is_root(chain())
    assert not is_root(model())
    assert shows_answer(model())
    assert shows_answer(model(reply=None, failed=True))
    assert shows_answer(span(1, gen_ai__operation__name="chat", gen_ai__usage__output_tokens=3))
    assert not shows_answer(calling(2))
    assert not shows_answer(chain(output__value=ANSWER))


def test_the_native_event_holds_what_the_turn_says_and_nulls_only_where_it_is_unscored() -> None:
    turn = read(chain(input__value=QUESTION, user__id="u-1"), retriever(), model(llm__model_name="m"))
    event = json.loads(native_event(turn, app="ferry"))
    assert event["id"] == event["trace_id"] == turn.trace_id
    assert (event["app"], event["question"], event["answer"]) == ("ferry", QUESTION, ANSWER)
    assert event["retrieved_documents"] == DOCUMENTS
    assert (event["model"], event["tags"], event["latency_ms"]) == ("m", {"user": "u-1"}, 5000.0)
    assert "unscored" not in event
    assert datetime.fromisoformat(event["occurred_at"]) == turn.ended.astimezone(UTC)
    none = json.loads(native_event(read(chain(), model(reply=None, failed=True)), app="ferry"))
    assert (none["answer"], none["retrieved_documents"], none["unscored"]) == (None, None, "call_failed")


def test_characters_that_cannot_be_stored_are_replaced_in_the_event() -> None:
    turn = read(chain(input__value='{"question": "nul \\u0000 here?"}'), model())
    assert "nul \ufffd here?" in native_event(turn, app="a").decode()
