from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import openai
import pytest
from openai.types.chat import ChatCompletion
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from tests.rig.waiting import until
from tests.servers.llm import (
    CHAT_MODEL,
    CUT,
    HANG_UP,
    KEY,
    MODEL,
    ChatRequest,
    embedded,
    expired,
    failed,
    hang,
    llm_server,
    made_up,
    model_refusal,
    not_json,
    refusal,
    row,
    said,
    server_error,
    too_many_requests,
    trickle,
    vector_of,
)

ROOT = Path(__file__).parents[3]
BY_HAND = [sys.executable, "-m", "tests.servers.llm"]

SYSTEM = {"role": "system", "content": "Answer in JSON."}
USER = {"role": "user", "content": "Is it said?"}


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    supported: bool
    reason: str


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server():
    with llm_server() as running:
        yield running


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as made:
        yield made


def ask(client, **over) -> Any:
    return client.chat.completions.create(**{"model": CHAT_MODEL, "messages": [SYSTEM, USER], **over})


def ask_alone(server) -> Any:
    """Asks over a connection of its own."""
    with openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client:
        return ask(client)


def content(answer) -> str:
    return answer.choices[0].message.content


def json_schema(schema, *, name="verdict", strict=True) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": strict}}


# Chat completions


def test_says_something_that_is_the_same_for_the_same_request(client):
    assert content(ask(client)) == content(ask(client)) != content(ask(client, messages=[USER]))


@pytest.mark.parametrize(("answer", "expected"), [("as it is", "as it is"), ({"a": [1]}, '{"a": [1]}'), (None, "null")])
def test_says_what_the_test_wants(server, client, answer, expected):
    server.answer = lambda _: answer
    assert content(ask(client)) == expected


def test_the_answer_may_depend_on_the_request(server, client):
    server.answer = lambda request: request.user.upper()
    assert content(ask(client)) == "IS IT SAID?"


def test_keeps_what_was_asked(server, client):
    schema = Verdict.model_json_schema()
    parts = {"role": "user", "content": [{"type": "text", "text": "Or"}, {"type": "text", "text": " not?"}]}
    ask(client, messages=[SYSTEM, USER, parts], response_format=json_schema(schema), max_completion_tokens=50)
    (chat,) = server.chats
    assert (chat.model, chat.system, chat.user) == (CHAT_MODEL, "Answer in JSON.", "Is it said?\nOr not?")
    assert (chat.response_format, chat.schema_name, chat.schema) == ("json_schema", "verdict", schema)
    assert chat.max_tokens == 50
    assert chat.messages == chat.body["messages"] == [SYSTEM, USER, parts]
    assert server.requests == [chat.body]


def test_keeps_what_was_not_asked(server, client):
    ask(client, response_format={"type": "text"})
    (chat,) = server.chats
    assert (chat.response_format, chat.schema_name, chat.schema, chat.max_tokens) == (None, None, None, None)


def test_bills_a_token_for_four_characters(server, client):
    server.answer = lambda _: "12345"
    usage = ask(client, messages=[{"role": "user", "content": "123456789"}]).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (3, 2, 5)
    more = ask(client, response_format=json_schema(Verdict.model_json_schema())).usage
    assert more.prompt_tokens > 30
    assert (server.calls, server.tokens) == (2, 5 + more.total_tokens)


def test_bills_what_went_out_whole(server, client):
    server.chat_script.extend([said("odd"), too_many_requests(), HANG_UP, CUT])
    ask(client)
    for _ in range(3):
        with pytest.raises(openai.APIError):
            ask(client)
    assert server.calls == 1


def test_the_sdk_parses_what_it_made_up(client):
    parsed = client.chat.completions.parse(model=CHAT_MODEL, messages=[USER], response_format=Verdict)
    assert parsed.choices[0].message.parsed.supported is True


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"model": "gpt-none"}, "gpt-none"),
        ({"messages": []}, "lacks"),
        ({"messages": [{"role": "nobody", "content": "a"}]}, "lacks"),
        ({"stream": True}, "stream"),
        ({"messages": [USER], "response_format": {"type": "json_object"}}, "must contain the word 'json'"),
        ({"response_format": json_schema({"type": "string"})}, "must be a JSON Schema of 'type"),
        ({"response_format": json_schema({"type": "object", "properties": {}})}, "additionalProperties"),
        (
            {"response_format": json_schema({**Verdict.model_json_schema(), "required": ["reason"]})},
            "including every key",
        ),
        ({"response_format": json_schema(Verdict.model_json_schema(), name="two words")}, "name"),
    ],
)
def test_refuses_what_openai_refuses(client, asked, message):
    with pytest.raises((openai.BadRequestError, openai.NotFoundError), match=message):
        ask(client, **asked)


JSON_OBJECT = {"type": "json_object"}
JSON_SCHEMA = json_schema(Verdict.model_json_schema())


@pytest.mark.parametrize(
    ("settings", "refused", "taken", "message"),
    [
        (
            {"structured": "json_object"},
            {"response_format": JSON_SCHEMA},
            {"response_format": JSON_OBJECT},
            "json_schema",
        ),
        (
            {"structured": "text"},
            {"response_format": JSON_OBJECT},
            {"response_format": {"type": "text"}},
            "json_object",
        ),
        (
            {"takes_max_tokens": False},
            {"max_tokens": 9},
            {"max_completion_tokens": 9},
            "Use 'max_completion_tokens' inst",
        ),
        ({"takes_temperature": False}, {"temperature": 0}, {"temperature": 1}, "'temperature' does not support 0 with"),
    ],
)
def test_behaves_like_a_lesser_server(settings, refused, taken, message):
    with (
        llm_server(**settings) as server,
        openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client,
    ):
        with pytest.raises(openai.BadRequestError, match=message):
            ask(client, **refused)
        assert content(ask(client, **taken))
        assert content(ask(client))
    assert len(server.chats) == 3
    assert server.calls == 2


# Made-up answers


class Leaf(BaseModel):
    kind: Literal["leaf"]
    weight: float = Field(gt=0, lt=1)


class Tree(BaseModel):
    kind: Literal["tree"]
    left: Tree | Leaf
    right: Leaf | None
    others: list[Tree]


class Everything(BaseModel):
    verdict: Literal["yes", "no"]
    sure: bool
    score: int = Field(ge=3, le=5)
    share: float = Field(ge=0, le=1)
    above: int = Field(gt=7)
    below: int = Field(le=-2)
    even: int = Field(ge=3, multiple_of=2)
    short: str = Field(max_length=4)
    long: str = Field(min_length=40)
    nothing: None
    maybe: str | None
    reasons: list[Verdict] = Field(min_length=2, max_length=3)
    none_of: list[str] = Field(max_length=0)
    pair: tuple[int, str]
    different: set[int] = Field(min_length=3)
    by_name: dict[str, int] = Field(min_length=2)
    tree: Tree


@pytest.mark.parametrize(
    "kind", [Verdict, Everything, Tree, list[Verdict], bool, Literal["a"], Verdict | int, str, Any]
)
def test_makes_up_something_valid_for_any_schema(kind):
    adapter = TypeAdapter(kind)
    told = ChatRequest(body={"messages": [USER], "response_format": json_schema(adapter.json_schema())})
    adapter.validate_json(made_up(told))
    assert made_up(told) == made_up(told)


@pytest.mark.parametrize("before", ["", "Not this: {oops {} [1] ", '{"type": "string"} but '])
def test_finds_the_schema_in_the_prompt(client, before):
    schema = json.dumps({"name": "verdict", "schema": Verdict.model_json_schema()}, indent=1)
    prompt = {"role": "user", "content": f'{before} Answer by {schema} about {{"text": "this"}}.'}
    Verdict.model_validate_json(content(ask(client, messages=[prompt])))


def test_gives_json_where_no_schema_says_which(client):
    assert json.loads(content(ask(client, response_format=JSON_OBJECT)))["answer"]


# Troubles


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (HANG_UP, openai.APIConnectionError),
        (CUT, openai.APIConnectionError),
        (server_error(), openai.InternalServerError),
        (too_many_requests(), openai.RateLimitError),
        (refusal(403, "Not you", code="forbidden"), openai.PermissionDeniedError),
        (refusal(529, "Overloaded"), openai.InternalServerError),
    ],
    ids=lambda value: getattr(value, "body", None) or getattr(value, "__name__", "no answer"),
)
@pytest.mark.parametrize("script", ["script", "chat_script"])
def test_a_trouble_is_met_once(server, client, trouble, error, script):
    getattr(server, script).extend([None, trouble])
    ask(client)
    with pytest.raises(error):
        ask(client)
    ask(client)
    assert len(server.chats) == len(server.requests) == 3
    assert server.in_flight == 0


def test_a_rate_limit_says_when_to_come_back(server, client):
    server.script.extend([too_many_requests(), too_many_requests(0.5)])
    said_so = []
    for _ in range(2):
        with pytest.raises(openai.RateLimitError) as caught:
            ask(client)
        said_so.append(caught.value.response.headers.get("Retry-After"))
    assert said_so == [None, "0.5"]
    assert caught.value.code == "rate_limit_exceeded"


def test_the_sdk_gets_through_by_trying_again(server, client):
    server.script.append(too_many_requests(0.01))
    assert content(ask(client.with_options(max_retries=1)))


def test_something_else_than_an_api_answers(server, client):
    server.script.append(not_json())
    assert ask(client).startswith("<!doctype html>")  # the SDK hands it over as it is


@pytest.mark.parametrize(
    ("content_said", "reason"), [('{"supported": tru', "stop"), ('{"supp', "length"), ("", "content_filter")]
)
def test_the_model_says_what_was_not_asked_for(server, client, content_said, reason):
    server.script.append(said(content_said, reason))
    answer = ask(client, response_format=JSON_SCHEMA)
    assert (content(answer), answer.choices[0].finish_reason) == (content_said, reason)
    assert answer.usage.completion_tokens == -(-len(content_said) // 4)


def test_the_model_refuses(server, client):
    server.script.append(model_refusal("I would rather not."))
    message = ask(client).choices[0].message
    assert (message.content, message.refusal) == (None, "I would rather not.")


@pytest.mark.parametrize("trouble", [hang(0.05), trickle(0.05)])
def test_an_answer_may_take_its_time(server, client, trouble):
    server.script.append(trouble)
    assert content(ask(client))


def test_a_silent_server_makes_the_client_give_up_and_forgets_it(server, client):
    server.script.append(hang(600))
    with pytest.raises(openai.APITimeoutError):
        ask(client, timeout=0.05)
    until("the server has noticed", lambda: server.in_flight == 0)
    assert server.calls == 0


@pytest.mark.parametrize("trouble", [hang(600), trickle(600)], ids=["hang", "trickle"])
def test_the_end_waits_for_no_answer(trouble):
    with ThreadPoolExecutor() as pool:
        with llm_server(script=deque([trouble])) as server:
            asked = pool.submit(ask_alone, server)
            until("it has come", lambda: server.in_flight == 1)
            ask_alone(server)  # another is answered in the meantime
        assert isinstance(asked.exception(), openai.APIConnectionError)


def test_leaves_no_thread_behind_for_a_connection_that_is_kept():
    before = threading.enumerate()
    with llm_server() as server:
        kept = openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0)
        ask(kept)
    assert threading.enumerate() == before
    with kept, pytest.raises(openai.APIConnectionError):
        ask(kept)


def test_counts_how_many_it_is_asked_at_once(server):
    together = threading.Barrier(4, timeout=30)
    server.answer = lambda _: str(together.wait())
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: content(ask_alone(server)), range(8)))
    assert sorted(answers) == sorted([*"0123"] * 2)
    assert server.in_flight == 0
    assert server.most_in_flight == 4


def test_one_after_the_other_is_never_two_at_once(server, client):
    with client.copy() as other:
        for number in range(100):
            ask((client, other)[number % 2])
    assert server.most_in_flight == 1


def test_takes_its_time_if_it_is_told_to(server, client):
    server.latency = 600
    with pytest.raises(openai.APITimeoutError):
        ask(client, timeout=0.05)
    server.script.append(server_error())  # not an orderly answer
    with pytest.raises(openai.InternalServerError):
        ask(client)


def test_fails_as_often_as_it_is_told_to(server, client):
    server.fail_rate = 0.2
    failures = []
    for number in range(1, 16):
        try:
            ask(client)
        except openai.APIError as error:
            failures.append((number, type(error)))
    kinds = [openai.InternalServerError, openai.APIConnectionError, openai.RateLimitError]
    assert failures == list(zip((5, 10, 15), kinds, strict=True))


# Embeddings, models, keys


def test_embeds(server, client):
    server.chat_script.append(HANG_UP)  # is for others
    answer = client.embeddings.create(model=MODEL, input=["a", "b"], dimensions=4)
    by_index = {one.index: one.embedding for one in answer.data}
    assert by_index == {index: pytest.approx(vector_of(text, 4)) for index, text in enumerate("ab")}
    client.embeddings.create(model=MODEL, input="c")
    assert server.inputs == ["a", "b", "c"]
    assert (server.chats, server.most_in_flight) == ([], 0)


def test_embeds_as_the_test_wants(server, client):
    server.script.append(embedded([row(0, [0.5])]))
    assert client.embeddings.create(model=MODEL, input="a", encoding_format="float").data[0].embedding == [0.5]


def test_lists_its_models(server, client):
    server.chat_models.add("another")
    assert [model.id for model in client.models.list()] == ["another", CHAT_MODEL, MODEL]


def test_asks_for_the_key(server, client):
    server.key = "another"
    for call in (lambda: ask(client), client.models.list, lambda: client.files.content("none")):
        with pytest.raises(openai.AuthenticationError):
            call()
    server.key = None
    assert ask(client)


def test_does_not_know_other_paths(client):
    with pytest.raises(openai.NotFoundError, match="Unknown request URL: GET /v1/fine_tuning/jobs"):
        client.fine_tuning.jobs.list()


@pytest.mark.parametrize("path", ["/chat/completions", "/embeddings"])
def test_refuses_what_is_no_json_object(server, client, path):
    with pytest.raises(openai.BadRequestError, match="could not parse"):
        client.post(path, cast_to=object, body=[])
    assert server.requests == server.chats == []


# Batches


def line(custom_id, **over) -> dict[str, Any]:
    body = {"model": CHAT_MODEL, "messages": [{"role": "user", "content": f"Is {custom_id}\u2028 said?"}]}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body, **over}


def start(client, *lines):
    text = "\n".join(json.dumps(one, ensure_ascii=False) for one in lines)
    file = client.files.create(file=("in.jsonl", text.encode()), purpose="batch")
    return client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"run": "7"}
    )


def end_of(client, batch):
    while batch.status in {"validating", "in_progress", "cancelling"}:
        batch = client.batches.retrieve(batch.id)
    return batch


def results(client, file) -> list[dict[str, Any]]:
    return [json.loads(text) for text in client.files.content(file).text.splitlines()] if file else []


def test_a_file_comes_back_as_it_was(client):
    text = "ü\u2028\n\n🙂\r\n"
    file = client.files.create(file=("in.jsonl", text.encode()), purpose="batch")
    assert client.files.content(file.id).content == text.encode()
    assert client.files.retrieve(file.id) == file
    assert (file.filename, file.bytes, file.purpose) == ("in.jsonl", len(text.encode()), "batch")
    client.files.delete(file.id)
    with pytest.raises(openai.NotFoundError):
        client.files.content(file.id)


def test_a_batch_is_answered(server, client):
    server.answer = lambda request: request.user
    batch = start(client, line("a"), line("b"))
    assert (batch.status, batch.output_file_id, batch.metadata) == ("validating", None, {"run": "7"})
    assert client.batches.retrieve(batch.id).status == "in_progress"
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.error_file_id) == ("completed", None)
    assert batch.request_counts.to_dict() == {"total": 2, "completed": 2, "failed": 0}
    assert client.batches.retrieve(batch.id) == batch
    answers = results(client, batch.output_file_id)
    assert [answer["custom_id"] for answer in answers] == ["a", "b"]
    for answer in answers:
        assert set(answer) == {"id", "custom_id", "response", "error"}
        assert (answer["response"]["status_code"], answer["error"]) == (200, None)
        completion = ChatCompletion.model_validate(answer["response"]["body"])
        assert content(completion) == f"Is {answer['custom_id']}\u2028 said?"
    assert [chat.custom_id for chat in server.chats] == ["a", "b"]
    assert server.calls == 2


@pytest.mark.parametrize("polls", [1, 4])
def test_a_batch_takes_as_many_polls_as_it_is_told_to(server, client, polls):
    server.batches.polls = polls
    batch = start(client, line("a"))
    seen = [client.batches.retrieve(batch.id).status for _ in range(polls)]
    assert seen == ["in_progress"] * (polls - 1) + ["completed"]


def test_requests_of_a_batch_that_fail_stand_in_the_error_file(server, client):
    server.chat_script.extend([None, server_error(), said("{"), refusal(400, "Too long"), HANG_UP])
    batch = end_of(client, start(client, *map(line, "abcdef"), line("g", body={"model": "none", "messages": [USER]})))
    assert batch.request_counts.to_dict() == {"total": 7, "completed": 4, "failed": 3}
    assert [answer["custom_id"] for answer in results(client, batch.output_file_id)] == ["a", "c", "e", "f"]
    errors = {error["custom_id"]: error["response"] for error in results(client, batch.error_file_id)}
    assert {custom_id: error["status_code"] for custom_id, error in errors.items()} == {"b": 500, "d": 400, "g": 404}
    assert errors["d"]["body"]["error"]["message"] == "Too long"


@pytest.mark.parametrize("done", [0, 1])
def test_a_batch_may_expire(server, client, done):
    server.batches.script.append(expired(done))
    batch = end_of(client, start(client, line("a"), line("b")))
    assert (batch.status, batch.request_counts.completed, server.calls) == ("expired", done, done)
    assert [answer["custom_id"] for answer in results(client, batch.output_file_id)] == ["a", "b"][:done]
    errors = results(client, batch.error_file_id)
    assert [(error["custom_id"], error["response"]) for error in errors] == [("a", None), ("b", None)][done:]
    assert {error["error"]["code"] for error in errors} == {"batch_expired"}


def test_a_batch_may_fail(server, client):
    server.batches.script.append(failed("Enqueued token limit reached"))
    batch = end_of(client, start(client, line("a")))
    assert (batch.status, batch.output_file_id, batch.error_file_id) == ("failed", None, None)
    assert [error.message for error in batch.errors.data] == ["Enqueued token limit reached"]
    assert end_of(client, start(client, line("a"))).status == "completed"


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([line("a"), line("a")], "duplicate_custom_id"),
        ([line("a"), line("b", url="/v1/embeddings")], "mismatched_endpoint"),
        ([line("a"), {"custom_id": "b"}], "invalid_request"),
        ([line("a"), line("b", body=None)], "invalid_request"),
    ],
)
def test_a_batch_fails_for_what_its_file_holds(client, lines, code):
    batch = end_of(client, start(client, *lines))
    assert batch.status == "failed"
    assert [(error.code, error.line) for error in batch.errors.data] == [(code, 2)]


def test_a_batch_is_cancelled(server, client):
    batch = client.batches.cancel(start(client, line("a")).id)
    assert batch.status == "cancelling"
    batch = end_of(client, batch)
    assert (batch.status, batch.output_file_id, server.calls) == ("cancelled", None, 0)
    assert [error["error"]["code"] for error in results(client, batch.error_file_id)] == ["batch_cancelled"]
    with pytest.raises(openai.ConflictError):
        client.batches.cancel(batch.id)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"input_file_id": "file-none"}, "No such File"),
        ({"endpoint": "/v1/embeddings"}, "Supported values"),
        ({"completion_window": "1h"}, "24h"),
    ],
)
def test_refuses_a_batch_that_cannot_be(client, asked, message):
    file = client.files.create(file=b"{}", purpose="batch")
    right = {"input_file_id": file.id, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    with pytest.raises(openai.BadRequestError, match=message):
        client.batches.create(**{**right, **asked})


def test_takes_files_for_batches_only(client):
    with pytest.raises(openai.BadRequestError, match="fine-tune"):
        client.files.create(file=b"{}", purpose="fine-tune")


# By hand


def test_a_port_that_is_taken_is_said_in_a_line(server):
    port = server.base_url.split(":")[2].removesuffix("/v1")
    ended = subprocess.run([*BY_HAND, "--port", port], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert (ended.returncode, ended.stderr) == (1, f"127.0.0.1:{port}: Address already in use\n")


def test_runs_by_hand():
    command = [*BY_HAND, "--port", "0", "--fail-rate", "0.5"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  our own
        try:
            base_url = process.stdout.readline().split()[0]
            with openai.OpenAI(base_url=base_url, api_key="anything", max_retries=0) as client:
                ask(client)
                with pytest.raises(openai.InternalServerError):
                    ask(client)
            lines = [process.stdout.readline() for _ in range(2)]
        finally:
            process.send_signal(signal.SIGINT)
    assert [" ".join(text.split()[:4]) for text in lines] == [
        "POST /v1/chat/completions → 200",
        "POST /v1/chat/completions → 500",
    ]
    assert process.returncode == 0
