"""Ways in which packages write a turn that no convention describes: helper spans, checks, plain lists of texts."""

from __future__ import annotations

import json

import pytest

from monitor.core.model import Unscored
from tests.rig.ingest.spans import log, read, read_none, span

QUESTION = "When does the library open on Sundays?"
ANSWER = "It opens at eleven."
TEXTS = ["On Sundays the library opens at 11:00.", "The reading room closes at 18:00."]
PROMPT = "Answer from these documents.\n" + "\n".join(TEXTS)


def called(number: int, answer: str = ANSWER, *, parent: int | None = 1, at: float = 1, model: str = "m-1"):
    """The call of a model that was told the texts and the question."""
    return span(
        number, parent=parent, at=at, openinference__span__kind="LLM", llm__model_name=model,
        llm__input_messages__0__message__role="system", llm__input_messages__0__message__content=PROMPT,
        llm__input_messages__1__message__role="user", llm__input_messages__1__message__content=QUESTION,
        llm__output_messages__0__message__role="assistant", llm__output_messages__0__message__content=answer,
    )  # fmt: skip


def chain(number: int = 1, **attributes):
    return span(number, openinference__span__kind="CHAIN", lasts=9, **attributes)


def test_a_helper_that_calls_itself_a_model_but_calls_none_is_no_turn() -> None:
    helper = span(1, openinference__span__kind="LLM", input__value='{"memory": "Memory(token_limit=3644)"}')
    assert read_none(helper) == "it calls no model"


def test_the_model_of_an_evaluator_does_not_speak_to_the_user() -> None:
    check = span(3, parent=1, at=4, openinference__span__kind="EVALUATOR")
    turn = read(chain(), called(2), check, called(4, '{"grounded": true}', parent=3, at=4, model="m-2"))
    assert (turn.answer, turn.model) == (ANSWER, "m-1")


def test_the_model_of_a_guardrail_in_langfuse_does_not_speak_either() -> None:
    check = span(3, parent=1, at=4, langfuse__observation__type="guardrail")
    assert read(chain(), called(2), check, called(4, "It is safe.", parent=3, at=4)).answer == ANSWER


def test_a_failed_call_names_the_model_that_was_asked() -> None:
    call = span(
        2, parent=1, failed=True, openinference__span__kind="LLM", llm__invocation_parameters='{"model": "m-9"}'
    )
    assert read(chain(input__value=QUESTION), call).model == "m-9"
    asked = json.dumps({"model": "m-8", "messages": [{"role": "user", "content": QUESTION}]})
    call = span(2, parent=1, failed=True, mlflow__spanType='"CHAT_MODEL"', mlflow__spanInputs=asked)
    assert read(chain(), call).model == "m-8"


def test_what_a_tool_gave_back_is_read_from_messages_that_python_shows() -> None:
    shown = [
        f"ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text={QUESTION!r})])",
        "ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[ToolCall(tool_name='find', arguments={})])",
        f"ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[ToolCallResult(result={TEXTS[0]!r}, error=False)])",
    ]
    call = span(
        2, openinference__span__kind="LLM", llm__model_name="m-1", input__value=json.dumps({"messages": shown}),
        llm__input_messages__0__message__role="user", llm__input_messages__0__message__content=QUESTION,
        llm__input_messages__1__message__role="assistant", llm__input_messages__2__message__role="tool",
        llm__output_messages__0__message__role="assistant", llm__output_messages__0__message__content=ANSWER,
    )  # fmt: skip
    assert [d.text for d in read(call).documents or ()] == [TEXTS[0]]


def test_documents_that_were_joined_count_in_the_order_of_the_joiner() -> None:
    joined = [{"id": f"d-{n}", "content": text, "score": 0.5} for n, text in enumerate(reversed(TEXTS))]
    found = [
        span(
            number, parent=1, openinference__span__kind="RETRIEVER",
            retrieval__documents__0__document__id=f"d-{1 - n}", retrieval__documents__0__document__content=text,
        )
        for number, n, text in ((2, 0, TEXTS[0]), (3, 1, TEXTS[1]))
    ]  # fmt: skip
    joiner = span(
        4, parent=1, name="DocumentJoiner.run", openinference__span__kind="CHAIN",
        output__value=json.dumps({"documents": joined}),
    )  # fmt: skip
    assert [d.text for d in read(chain(), *found, joiner, called(5)).documents or ()] == TEXTS[::-1]


def test_a_tool_that_lists_plain_texts_gives_one_document_each() -> None:
    tool = span(2, parent=1, openinference__span__kind="TOOL", output__value=json.dumps(TEXTS))
    assert [d.text for d in read(chain(), tool, called(3)).documents or ()] == TEXTS


def test_a_list_of_texts_that_the_prompt_repeats_is_what_was_retrieved() -> None:
    fetch = span(2, parent=1, openinference__span__kind="CHAIN", output__value=json.dumps(TEXTS))
    assert [d.text for d in read(chain(), fetch, called(3)).documents or ()] == TEXTS
    predict = chain(input__value=json.dumps({"context": TEXTS, "question": QUESTION}))
    assert [d.text for d in read(predict, called(3)).documents or ()] == TEXTS


def test_lists_that_the_prompt_does_not_repeat_or_that_ask_are_no_documents() -> None:
    other = span(2, parent=1, openinference__span__kind="CHAIN", output__value='["a list of something else"]')
    assert read(chain(input__value=json.dumps([QUESTION])), other, called(3)).documents is None
    asks = span(2, parent=1, openinference__span__kind="CHAIN", output__value=json.dumps([QUESTION]))
    assert read(chain(), asks, called(3)).documents is None


def test_documents_with_a_name_and_meta_data() -> None:
    listed = [{"name": "hours.md", "content": text, "meta_data": {}} for text in TEXTS]
    tool = span(2, parent=1, openinference__span__kind="TOOL", output__value=json.dumps(listed))
    assert [d.text for d in read(chain(), tool, called(3)).documents or ()] == TEXTS


def test_a_prompt_with_its_context_on_one_line_holds_the_question() -> None:
    call = span(
        2, langfuse__observation__type="generation", langfuse__observation__model__name="m-1",
        langfuse__observation__input=f"Context: {TEXTS[0]}\n\nQuestion: {QUESTION}",
        langfuse__observation__output=ANSWER,
    )  # fmt: skip
    assert read(call).question == QUESTION


def test_an_agent_that_fails_says_what_it_was_asked() -> None:
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}])
    agent = span(1, failed=True, gen_ai__operation__name="invoke_agent", pydantic_ai__all_messages=messages)
    call = span(2, parent=1, failed=True, gen_ai__operation__name="chat", gen_ai__request__model="m-1")
    turn = read(agent, call)
    assert (turn.question, turn.model, turn.failed) == (QUESTION, "m-1", True)


def said(role: str, text: str):
    return {"role": role, "content": [{"text": text}]}


def test_an_agent_that_haystacks_own_tracer_follows() -> None:
    asked, found = said("user", QUESTION), {"documents": [{"id": "d-1", "content": TEXTS[0], "score": 0.5}]}
    calls = {"role": "assistant", "content": [{"tool_call": {"tool_name": "find", "arguments": {}}}]}
    reply = {**said("assistant", ANSWER), "meta": {"model": "m-1"}}
    turn = read(
        span(1, name="haystack.agent.run", lasts=9, haystack__agent__input=json.dumps({"messages": [asked]})),
        span(2, parent=1, name="haystack.agent.step.llm", at=1, **replied(calls)),
        span(
            3, parent=1, name="haystack.agent.step.tool", at=2, haystack__tool__name="find",
            haystack__agent__step__tool__output=json.dumps(found),
        ),
        span(4, parent=1, name="haystack.agent.step.llm", at=3, **replied(reply)),
    )  # fmt: skip
    assert (turn.question, turn.answer, turn.model) == (QUESTION, ANSWER, "m-1")
    assert [(d.id, d.text) for d in turn.documents or ()] == [("d-1", TEXTS[0])]


def replied(message):
    return {"haystack__agent__step__llm__output": json.dumps({"replies": [message]})}


def test_a_haystack_pipeline_whose_content_is_not_traced_is_a_turn_all_the_same() -> None:
    pipeline = span(1, name="haystack.pipeline.run", lasts=9)
    model = span(2, parent=1, name="haystack.component.run", haystack__component__type="OpenAIChatGenerator")
    agent = span(3, parent=1, name="haystack.agent.step.llm")
    for call in (model, agent):
        turn = read(pipeline, call)
        assert (turn.question, turn.answer, turn.unscored) == (None, None, Unscored.CONTENT_NOT_CAPTURED)


def test_a_task_that_gives_back_the_reply_of_a_provider_calls_a_model() -> None:
    raw = {"model": "m-1", "choices": [{"message": {"role": "assistant", "content": ANSWER}}]}
    prompt = "Context:\n" + "\n".join(TEXTS) + f"\n\nQuestion: {QUESTION}\nAnswer:"
    nodes = json.dumps({"nodes": [{"node": {"id_": f"d-{n}", "text": text}} for n, text in enumerate(TEXTS)]})
    turn = read(
        span(1, lasts=9, traceloop__span__kind="workflow", traceloop__entity__output=json.dumps({"result": ANSWER})),
        span(2, parent=1, lasts=5, traceloop__span__kind="task", traceloop__entity__input=nodes),
        span(
            3, parent=2, at=1, traceloop__span__kind="task", traceloop__entity__input=json.dumps({"prompt": prompt}),
            traceloop__entity__output=json.dumps({"text": ANSWER, "raw": raw}),
        ),
    )  # fmt: skip
    assert (turn.question, turn.answer, turn.model) == (QUESTION, ANSWER, "m-1")
    assert [d.text for d in turn.documents or ()] == TEXTS


def test_the_question_in_the_prompts_of_a_query_engine() -> None:
    below = f"Context information is below.\n-----\n{TEXTS[0]}\n-----\nAnswer the query.\nQuery: {QUESTION}\nAnswer: "
    example = f"Sources:\n{TEXTS[0]}\nQuery: Is it wet?\nAnswer: Yes.\nQuery: {QUESTION}\nAnswer: "
    for prompt in (below, example):
        assert read(openai_call(prompt)).question == QUESTION
    follows = f"Context:\nQuestion: Is it wet?\nAnswer: Yes.\nQuestion: {QUESTION}\nIt was asked on Monday, in rain."
    assert read(openai_call(follows)).question == follows


def openai_call(prompt: str):
    return span(
        1, gen_ai__operation__name="chat", gen_ai__response__model="m-1",
        gen_ai__input__messages=json.dumps([{"role": "user", "parts": [{"type": "text", "content": prompt}]}]),
        gen_ai__output__messages=json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]),
    )  # fmt: skip


def test_the_user_may_stand_in_a_log_record_and_a_tools_text_under_result() -> None:
    result = {"type": "tool_call_response", "response": {"result": TEXTS[0]}}
    given = [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}, {"role": "tool", "parts": [result]}]
    reply = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
    record = log(
        1, "gen_ai.client.inference.operation.details", user__id="u-1",
        gen_ai__input__messages=json.dumps(given), gen_ai__output__messages=json.dumps(reply),
    )  # fmt: skip
    turn = read(span(1, gen_ai__operation__name="generate_content", gen_ai__request__model="m-1"), logs=[record])
    assert (turn.question, turn.answer, turn.user) == (QUESTION, ANSWER, "u-1")
    assert [d.text for d in turn.documents or ()] == [TEXTS[0]]


@pytest.mark.parametrize("mark", ["[HIDDEN]", "***", "<removed>", "<fully masked due to failed mask function>"])
def test_marks_that_functions_for_masking_leave_are_no_text(mark: str) -> None:
    turn = read(chain(input__value=mark, output__value=mark), called(2, mark))
    assert (turn.question, turn.answer, turn.unscored) == (None, None, Unscored.CONTENT_REDACTED)
