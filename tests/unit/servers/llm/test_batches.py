"""Batches of the scripted LLM server."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion

from tests.rig.assess.llm_client import USER, content
from tests.servers.llm import (
    CHAT_MODEL,
    HANG_UP,
    completed,
    expired,
    failed,
    refusal,
    server_error,
)


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
    server.chat_script.extend([None, server_error(), completed("{"), refusal(400, "Too long"), HANG_UP])
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
