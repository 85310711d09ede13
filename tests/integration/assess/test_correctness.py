"""The judge of correctness over real HTTP, with the scripted server."""

from __future__ import annotations

import json

import pytest

from monitor.assess.judge.correctness.grader import CorrectnessGrader
from monitor.assess.llm.client import ChatModel
from monitor.assess.llm.exchange import Purpose
from monitor.simulate.fakes.flow import MemoryBudget
from tests.servers.llm import CHAT_MODEL, KEY, llm_server

ASKED = {"question": "When?", "contexts": ["Open from nine."], "reference": "At nine.", "answer": "At nine."}


@pytest.fixture
def graded(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def grade(answer, *, repeats, **server):
        with llm_server(answer=answer, **server) as running:
            budget = MemoryBudget()
            model = ChatModel(
                model=CHAT_MODEL, api_key=KEY, base_url=running.base_url, purpose=Purpose.PROBE, budget=budget
            )
            try:
                found = CorrectnessGrader(model, repeats=repeats).grade(**ASKED)
            finally:
                model.close()
            return found, running.chats, budget

    return grade


def scored(request):
    """4, or 2 if the schema lists the highest score first."""
    first = request.schema["properties"]["score"]["enum"][0]
    return {"feedback": f"The first score is {first}.", "score": 2 if first == 5 else 4}


def test_the_forms_are_accepted_as_strict_schemas_and_usage_is_counted(graded):
    grade, chats, budget = graded(scored, repeats=2)
    assert (grade.scores, grade.spend.calls) == ((2, 4), 2)
    assert grade.spend.input_tokens == sum(chat.prompt_tokens for chat in chats)
    assert budget.counted[Purpose.PROBE].calls == 2


def test_texts_stand_between_fences_in_the_users_message_only(graded):
    _, chats, _ = graded(scored, repeats=1)
    assert "Open from nine." not in chats[0].system
    assert chats[0].user.index("<question ") < chats[0].user.index("<reference ") < chats[0].user.index("<context-1 ")


def test_a_score_outside_of_the_scale_is_asked_for_once_more(graded):
    answers = iter([{"feedback": "So good.", "score": 9}, {"feedback": "Right.", "score": 5}])
    grade, chats, _ = graded(lambda _: json.dumps(next(answers)), repeats=1)
    assert (grade.scores, grade.spend.calls, len(chats)) == ((5,), 2, 2)


def test_a_model_that_keeps_to_no_form_gives_no_grade(graded):
    grade, _, _ = graded(lambda _: "I like it.", repeats=2)
    assert (grade.scores, grade.reason, grade.spend.calls) == ((), "malformed", 4)
