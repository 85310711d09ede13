from __future__ import annotations

import json
import socket
import traceback

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.cache import CachedEmbedder
from monitor.assess.embed.openai import Limits, OpenAIEmbedder
from monitor.core.errors import Fatal, MonitorError, Retriable, WrongSettings
from tests.servers.llm import (
    DIMENSIONS,
    HANG_UP,
    KEY,
    MAX_INPUTS,
    MODEL,
    Trouble,
    embedded,
    llm_server,
    refusal,
    row,
    vector_of,
)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with llm_server() as running:
        yield running


@pytest.fixture
def make(server):
    made = []

    def build(**settings):
        made.append(OpenAIEmbedder(**{"model": MODEL, "api_key": KEY, "base_url": server.base_url, **settings}))
        return made[-1]

    yield build
    for embedder in made:
        embedder.close()


def unit(vector):
    return vector / np.linalg.norm(vector)


def failure(embedder) -> MonitorError:
    """The error that embedding raises, checked not to hold the key."""
    with pytest.raises(MonitorError) as caught:
        embedder.embed(["text"])
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


@pytest.mark.parametrize("ignores_base64", [False, True])
def test_gives_the_providers_vectors_rescaled_in_order(server, make, ignores_base64):
    server.ignores_base64 = ignores_base64
    texts = [f"text {number}" for number in range(20)]
    expected = [unit(vector_of(text, DIMENSIONS)) for text in texts]
    np.testing.assert_allclose(make().embed(texts), expected, atol=1e-6)
    assert server.requests[0]["encoding_format"] == "base64"
    assert "dimensions" not in server.requests[0]


def test_asks_for_the_dimensions_that_are_set(server, make):
    embedder = make(dimensions=256)
    assert embedder.embed(["a"]).shape == (1, 256)
    assert embedder.dimensions == 256
    assert server.requests[0]["dimensions"] == 256
    assert embedder.model == f"{MODEL}/256"


def test_asks_the_provider_once_for_the_dimensions_of_an_unknown_model(server, make):
    server.models["local-model"] = 96
    embedder = make(model="local-model")
    assert embedder.dimensions == 96
    assert embedder.embed(["a"]).shape == (1, 96)
    assert embedder.embed([]).shape == (0, 96)
    assert len(server.requests) == 2


def test_sends_no_request_for_no_texts(server, make):
    assert make().embed([]).shape == (0, DIMENSIONS)
    assert not server.requests


def test_splits_by_the_number_of_inputs(server, make):
    make(dimensions=4).embed([str(number) for number in range(MAX_INPUTS + 1)])
    assert [len(request["input"]) for request in server.requests] == [MAX_INPUTS, 1]


def test_splits_by_the_size_of_a_request(server, make):
    texts = [character * 8_000 for character in "abcdefghijklmnopqrstuvwxyz" * 2]
    vectors = make(dimensions=4).embed([*texts, "🙂" * 2_000])
    assert [len(request["input"]) for request in server.requests] == [37, 16]
    assert vectors.shape == (53, 4)


def test_a_long_text_is_the_mean_of_its_windows_by_length(server, make):
    vector, _ = make(limits=Limits(input_tokens=20)).embed(["One two three. Four five six. ", "other"])
    assert server.inputs == ["One two three. ", "Four five six. ", "other"]
    parts = [len(text) * unit(vector_of(text, DIMENSIONS)) for text in server.inputs[:2]]
    np.testing.assert_allclose(vector, unit(np.sum(parts, axis=0)), atol=1e-6)


TINY = Limits(inputs=3, request_tokens=30, input_tokens=12)


class Offline(OpenAIEmbedder):
    """Records the requests instead of sending them."""

    sent: list[list[str]]

    def _request(self, inputs):
        self.sent.append(inputs)
        return np.array([unit(vector_of(text, 4)) for text in inputs], np.float32)


@pytest.fixture(scope="module")
def offline():
    embedder = Offline(model=MODEL, api_key=KEY, dimensions=4, limits=TINY)
    yield embedder
    embedder.close()


@given(st.lists(st.text(st.sampled_from("ab. é🙂"), max_size=60), max_size=6))
def test_pieces_cover_every_text_once_whatever_the_limits(offline, texts):
    offline.sent = sent = []
    places = [place for part, vectors in offline.pieces(texts) for place in part if len(vectors) == len(part)]
    assert places == list(range(len(texts)))
    assert "".join(text for request in sent for text in request) == "".join(text or " " for text in texts)
    assert all(0 < len(request) <= 3 for request in sent)
    assert all(sum(len(text.encode()) for text in request) <= 30 for request in sent)
    assert all(0 < len(text.encode()) <= 12 for request in sent for text in request)


def test_texts_over_several_requests_agree_with_one(make):
    texts = ["One two. Three four. Five six. Seven.", "", "Eight nine ten. " * 5, "x" * 50]
    whole = make(limits=Limits(input_tokens=12)).embed(texts)
    np.testing.assert_allclose(make(limits=TINY).embed(texts), whole, atol=1e-6)


def test_an_empty_text_is_sent_as_a_space(server, make):
    make().embed([""])
    assert server.inputs == [" "]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "30"}, 30.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "Retry-After": "30"}, 1.5),
        ({"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2015 07:30:00 GMT"}, 120.0),
        ({"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2015 07:00:00 GMT"}, 0.0),
        ({"Date": None, "Retry-After": "Wed, 21 Oct 2015 07:30:00 GMT"}, None),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"retry-after-ms": "inf"}, None),
    ],
)
def test_a_rate_limit_says_when_to_come_back(server, make, headers, seconds):
    server.script.append(Trouble(status=429, headers=headers, body=refusal(429, "Rate limit reached").body))
    error = failure(make())
    assert isinstance(error, Retriable)
    assert "Rate limit reached" in str(error)
    assert error.retry_after == seconds


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_passing_failures_are_retriable(server, make, status):
    server.script.append(Trouble(status=status, body="<html>Bad gateway</html>"))
    assert isinstance(failure(make()), Retriable)
    assert len(server.requests) == 1  # the caller's policy decides about another


def test_a_connection_that_breaks_is_retriable(server, make):
    server.script.append(HANG_UP)
    assert isinstance(failure(make()), Retriable)


def test_a_server_that_is_not_there_is_retriable(make):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        error = failure(make(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1"))
    assert isinstance(error, Retriable)
    assert "127.0.0.1" in str(error)


def test_a_server_that_does_not_answer_is_retriable(make):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = failure(make(base_url=f"http://127.0.0.1:{silent.getsockname()[1]}/v1", timeout=0.05))
    assert isinstance(error, Retriable)
    assert "in time" in str(error)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "MONITOR_EMBEDDING__API_KEY"),
        (403, "access"),
        (404, "MONITOR_EMBEDDING__MODEL"),
        (400, "MONITOR_EMBEDDING__DIMENSIONS"),
        (413, "refuses"),
        (422, "refuses"),
    ],
)
def test_lasting_failures_are_fatal_and_say_what_to_change(server, make, status, advice):
    server.script.append(refusal(status, f"not with {KEY}, never"))
    error = failure(make())
    assert isinstance(error, Fatal)
    assert advice in str(error)


def test_a_wrong_key_is_fatal_and_not_repeated(server, make):
    server.key = "another"
    assert isinstance(failure(make()), Fatal)


def test_an_unknown_model_is_fatal(make):
    assert "no-such-model" in str(failure(make(model="no-such-model", dimensions=4)))


@pytest.mark.parametrize("key", ["", " ", "sk-with-newline\n", "sk two", "schlüssel"])
def test_a_key_that_cannot_be_one_is_refused_without_showing_it(key):
    with pytest.raises(WrongSettings) as caught:
        OpenAIEmbedder(model=MODEL, api_key=key)
    assert not key.strip() or key.strip() not in str(caught.value)


GOOD = [0.6, 0.8]


@pytest.mark.parametrize(
    "reply",
    [
        embedded([]),
        embedded([row(0, GOOD), row(1, GOOD)]),
        embedded([row(1, GOOD)]),
        embedded([row(None, GOOD)]),
        embedded([row([], GOOD)]),
        embedded([{"index": 0}]),
        embedded([GOOD]),
        embedded({"embedding": GOOD}),
        embedded(None),
        embedded([row(0, None)]),
        embedded([row(0, [])]),
        embedded([row(0, 0.5)]),
        embedded([row(0, [GOOD])]),
        embedded([row(0, ["a", "b"])]),
        embedded([row(0, "not base64!")]),
        embedded([row(0, "AAAA")]),
        embedded([row(0, [0.0, 0.0])]),
        embedded([row(0, [float("nan"), 1.0])]),
        embedded([row(0, [float("inf"), 1.0])]),
        Trouble(body="[]"),
        Trouble(body="null"),
        Trouble(body='"text"'),
        Trouble(body="{"),
        Trouble(body=""),
        Trouble(body="<html>Login</html>", headers={"Content-Type": "text/html"}),
    ],
    ids=lambda reply: reply.body[:60],
)
def test_an_answer_that_does_not_fit_is_retriable(server, make, reply):
    server.script.append(reply)
    assert isinstance(failure(make(dimensions=2)), Retriable)


def test_an_answer_of_another_dimension_is_fatal(server, make):
    server.script.append(embedded([row(0, GOOD)]))
    error = failure(make(dimensions=3))
    assert isinstance(error, Fatal)
    assert "2 dimensions, not 3" in str(error)


def test_an_answer_with_repeated_indices_is_retriable(server, make):
    server.script.append(embedded([row(0, GOOD), row(0, GOOD)]))
    with pytest.raises(Retriable):
        make(dimensions=2).embed(["a", "b"])


def test_behind_a_cache_finished_requests_are_not_paid_for_again(server, make):
    cached = CachedEmbedder(make(dimensions=4, limits=Limits(inputs=2)), 2**20)
    server.script.extend([None, None, refusal(429, "slow down")])
    texts = list("abcdefg")
    with pytest.raises(Retriable):
        cached.embed(texts)
    np.testing.assert_allclose(cached.embed(texts), [unit(vector_of(text, 4)) for text in texts], atol=1e-6)
    assert [request["input"] for request in server.requests] == [["a", "b"], ["c", "d"], ["e", "f"], ["e", "f"], ["g"]]


def test_the_body_is_what_the_api_documents(server, make):
    make(dimensions=4).embed(["a", "\ud800"])
    assert json.loads(json.dumps(server.requests[0])) == {
        "model": MODEL,
        "input": ["a", "\ufffd"],
        "dimensions": 4,
        "encoding_format": "base64",
    }
