"""`observe_rag` on the four kinds of functions: what it records, and that calls pass through as they are."""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from monitor.client import note, observe_rag


class Kept:
    """Stands in for a reporter."""

    def __init__(self):
        self.records, self.drops = [], []

    def record(self, **record):
        assert record.pop("latency_ms") >= 0
        self.records.append({name: value for name, value in record.items() if value is not None})

    def drop(self, why):
        self.drops.append(why)


def run(coroutine):
    """In a thread of its own: the browser of other tests leaves an event loop behind in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


@pytest.fixture
def kept():
    return Kept()


TURN = {"question": "How long?", "answer": "30 days.", "retrieved_documents": ["Doc."]}


@dataclass
class Reply:
    response: str
    source_nodes: list


@pytest.mark.parametrize(
    "result",
    [
        ("30 days.", ["Doc."]),
        {"answer": "30 days.", "context": ["Doc."], "input": "How long?"},
        {"result": "30 days.", "source_documents": ["Doc."]},
        {"answer": SimpleNamespace(content="30 days."), "documents": ["Doc."]},
        Reply("30 days.", ["Doc."]),
        SimpleNamespace(text=lambda: "30 days.", content="30 days.", documents=["Doc."]),
    ],
)
def test_answer_and_documents_are_found_in_what_comes_back(kept, result):
    @observe_rag(reporter=kept)
    def ask(model, question):
        return result

    assert ask("gpt", "How long?") is result
    assert kept.records == [TURN]


def test_what_the_return_value_does_not_show_is_noted(kept):
    @observe_rag(reporter=kept, tags={"tier": "gold"})
    def ask(query):
        note(retrieved_documents=["Doc."], model="m")
        return "30 days."

    ask("How long?")
    assert kept.records == [{**TURN, "model": "m", "tags": {"tier": "gold"}}]
    note(model="nobody's")


def test_extractors_come_before_what_is_found(kept):
    @observe_rag(
        reporter=kept,
        question=lambda given: given["messages"][-1]["content"],
        documents=lambda result: result.hits,
        answer=lambda result: result.words,
    )
    def ask(messages):
        return SimpleNamespace(words="30 days.", hits=["Doc."], answer="no")

    ask([{"content": "How long?"}])
    assert kept.records == [TURN]


def test_a_method_and_a_named_parameter(kept):
    class Bot:
        @observe_rag(reporter=kept, question="words")
        def ask(self, language, words="How long?"):
            """Asks."""
            return "30 days.", ["Doc."]

    Bot().ask("en")
    assert kept.records == [TURN]
    assert Bot.ask.__doc__ == "Asks."


def test_an_error_of_the_chatbot_is_recorded_and_passes_through(kept):
    error = KeyError("index")

    @observe_rag(reporter=kept)
    def ask(question):
        raise error

    with pytest.raises(KeyError) as raised:
        ask("How long?")
    assert raised.value is error
    assert kept.records == [{"question": "How long?"}]


def test_an_error_of_ours_or_of_an_extractor_is_not_the_chatbots(kept):
    @observe_rag(reporter=kept, answer=lambda _: 1 / 0)
    def ask(question):
        return "30 days."

    @observe_rag(reporter=kept)
    def number(question):
        return 5

    assert ask("How long?") == "30 days."
    assert number("How long?") == 5
    assert len(kept.drops) == 2
    with pytest.raises(TypeError, match="missing 1 required"):
        ask()


def test_a_coroutine(kept):
    @observe_rag(reporter=kept)
    async def ask(question):
        await asyncio.sleep(0)  # lets the others begin
        note(retrieved_documents=["Doc."])
        return "30 days."

    async def several():
        return await asyncio.gather(*(ask(question) for question in "abc"))

    assert run(several()) == ["30 days."] * 3
    assert sorted(record["question"] for record in kept.records) == ["a", "b", "c"]
    assert inspect.iscoroutinefunction(ask)


def test_a_generator_with_what_is_sent_thrown_and_returned(kept):
    @observe_rag(reporter=kept)
    def ask(question):
        note(retrieved_documents=["Doc."])
        said = yield "30 "
        try:
            yield said
        except ValueError:
            yield "."
        return "end"

    stream = ask("How long?")
    assert next(stream) == "30 "
    assert stream.send("days") == "days"
    assert stream.throw(ValueError()) == "."
    with pytest.raises(StopIteration, match="end"):
        next(stream)
    assert kept.records == [TURN]
    assert inspect.isgeneratorfunction(ask)


def test_a_stream_of_mappings_as_langchain_gives_it(kept):
    @observe_rag(reporter=kept)
    def ask(question):
        yield {"input": question}
        yield {"context": ["Doc."]}
        yield {"answer": "30 "}
        yield {"answer": "days."}

    assert len(list(ask("How long?"))) == 4
    assert kept.records == [TURN]


def test_a_reader_who_leaves_early_has_got_part_of_the_answer(kept):
    @observe_rag(reporter=kept)
    def ask(question):
        yield "30 "
        yield "days."

    stream = ask("How long?")
    next(stream)
    stream.close()
    assert kept.records == [{"question": "How long?", "answer": "30 "}]


def test_an_asynchronous_generator(kept):
    @observe_rag(reporter=kept)
    async def ask(question):
        note(retrieved_documents=["Doc."])
        try:
            said = yield "30 "
        finally:
            closed.append(question)
        yield said

    async def whole():
        stream = ask("How long?")
        return [await anext(stream), await stream.asend("days."), await anext(stream, "end")]

    async def left():
        stream = ask("Left?")
        await anext(stream)
        await stream.aclose()

    async def broken():
        stream = ask("Broken?")
        await anext(stream)
        with pytest.raises(ValueError, match="mine"):
            await stream.athrow(ValueError("mine"))

    closed = []
    assert run(whole()) == ["30 ", "days.", "end"]
    run(left())
    run(broken())
    assert closed == ["How long?", "Left?", "Broken?"]
    assert kept.records[0] == TURN
    assert [record.get("answer") for record in kept.records] == ["30 days.", "30 ", None]
    assert inspect.isasyncgenfunction(ask)


def test_without_a_reporter_the_environment_decides(monkeypatch):
    monkeypatch.delenv("MONITOR_CLIENT_URL", raising=False)

    @observe_rag
    def ask(question):
        return "30 days.", ["Doc."]

    assert ask("How long?") == ("30 days.", ["Doc."])
