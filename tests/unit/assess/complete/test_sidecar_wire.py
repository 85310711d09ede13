"""The sidecar with the LLM client and a scripted server."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from monitor.assess.complete.sidecar import PROMPTS
from monitor.assess.llm.client import ChatModel
from monitor.assess.llm.exchange import Purpose
from monitor.core.model import Match, Origin, StandIn
from monitor.simulate.fakes.flow import MemoryBudget
from tests.factories.assess.sidecar import MUSEUM, many
from tests.servers.llm import CHAT_MODEL, KEY, completed, hang, llm_server, model_refusal, refusal


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with llm_server(answer=lambda _: {"supporting_documents": ["The museum opens at nine."]}) as running:
        yield running


@pytest.fixture
def model(server):
    made = []

    def build(**settings):
        usual = {"model": CHAT_MODEL, "api_key": KEY, "base_url": server.base_url, "purpose": Purpose.SIDECAR}
        made.append(ChatModel(**{**usual, "budget": MemoryBudget(), **settings}))
        return made[-1]

    yield build
    for one in made:
        one.close()


def test_support_comes_over_the_wire(server, model, make):
    (support,) = make(model()).complete([MUSEUM])
    (piece,) = support.documents
    assert (piece.text, piece.document_id, piece.match) == ("The museum opens at nine.", "d0", Match.EXACT)
    assert server.chats[0].system == PROMPTS["explain"].text
    assert support.sidecar is not None
    assert support.sidecar.model == CHAT_MODEL


def test_a_strict_server_accepts_the_forms_of_both_prompts(server, model, make):
    server.answer = lambda request: {name: [] if name != "answer" else "Yes." for name in request.schema["properties"]}
    for mode in ("explain", "regenerate"):
        (support,) = make(model(), mode=mode).complete([MUSEUM])
        assert support.origin is Origin.SIDECAR
    assert [chat.response_format for chat in server.chats] == ["json_schema"] * 2


def test_a_wrong_key_is_no_reason_to_stop(server, model, make):
    server.key = "another"
    asked = many(3)
    supports = make(model()).complete(asked)
    assert {support.origin for support in supports} == {Origin.EXTRACTIVE}
    assert all(support.stands_in is not None and support.stands_in.queued for support in supports)
    assert all("MONITOR_LLM__API_KEY" in support.stands_in.because for support in supports if support.stands_in)
    assert KEY not in str(supports)


def test_a_budget_that_is_spent_in_the_middle_leaves_what_was_paid_for(server, model, make):
    budget = MemoryBudget(most_calls=7)
    supports = make(model(budget=budget)).complete(many(20))
    assert Counter(support.origin for support in supports) == {Origin.SIDECAR: 7, Origin.EXTRACTIVE: 13}
    because = {(support.stands_in.because, support.stands_in.queued) for support in supports if support.stands_in}
    assert because == {("the budget of 7 calls is spent", True)}
    assert len(server.chats) == 7


def test_troubles_of_some_answers_do_not_affect_the_others(server, model, make):
    server.chat_script.extend(
        [
            None,
            model_refusal("I cannot."),
            refusal(400, "context length exceeded"),
            completed("", "content_filter"),
            None,
        ]
    )
    supports = make(model(), concurrency=1).complete(many(6))
    stand_ins = [support.stands_in for support in supports]
    assert stand_ins == [
        None,
        StandIn(because="model_refused", queued=False),
        StandIn(because="too_long", queued=False),
        StandIn(because="content_filter", queued=False),
        None,
        None,
    ]


def test_a_slow_server_gets_no_more_time_than_there_is(server, model, make):
    server.chat_script.extend([None] * 10 + [hang(60)] * 30)
    supports = make(model(concurrency=8), concurrency=8, patience=0.3).complete(many(40))
    assert len(supports) == 40
    assert all(support.origin is Origin.SIDECAR or support.stands_in.queued for support in supports)
    assert sum(support.origin is Origin.SIDECAR for support in supports) <= 10
    assert server.most_in_flight <= 8
    assert len(server.chats) <= 18


def test_the_order_is_kept_over_the_wire(server, model, make):
    def answer(request) -> str:
        number = request.user.partition("Question ")[2].partition("?")[0]
        return json.dumps({"supporting_documents": [f"From {number}."]})

    server.answer = answer
    supports = make(model(concurrency=8), concurrency=8).complete(many(40))
    assert [support.documents[0].text for support in supports] == [f"From {n}." for n in range(40)]
