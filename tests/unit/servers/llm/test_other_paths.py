"""Embeddings, models and keys of the scripted LLM server."""

from __future__ import annotations

import openai
import pytest

from tests.rig.assess.llm_client import ask
from tests.servers.llm import (
    CHAT_MODEL,
    HANG_UP,
    MODEL,
    embedded,
    row,
    vector_of,
)


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
