from __future__ import annotations

import pytest

from monitor.core.model import Document, Mark
from tests.factories.events import RECEIVED, decode, refusal


def sample(**fields):
    event = {
        "user_input": "When does it open?",
        "retrieved_contexts": ["It opens at nine.", "It is shut on Sunday."],
        "response": "At nine.",
        "reference": "At 9 am.",
    }
    return {name: value for name, value in (event | fields).items() if value is not ...}


def test_a_sample_is_read():
    interaction = decode(sample(retrieved_context_ids=["a", 2]), app="shop", environment="lab")
    assert interaction.question == "When does it open?"
    assert interaction.answer == "At nine."
    assert interaction.reference_answer == "At 9 am."
    assert interaction.retrieved_documents == (
        Document(id="a", text="It opens at nine."),
        Document(id="2", text="It is shut on Sunday."),
    )
    assert interaction.supporting_documents is None
    assert (interaction.app, interaction.environment) == ("shop", "lab")
    assert interaction.occurred_at == RECEIVED
    assert interaction.marks == {Mark.TIME_DEFAULTED}


def test_the_same_sample_has_the_same_id_and_another_has_another():
    first = decode(sample()).id
    assert first.startswith("sha256:")
    assert len(first) == len("sha256:") + 64
    reordered = dict(reversed(sample(faithfulness=0.5, reference_contexts=None, rubrics={"a": "b"}).items()))
    assert decode(reordered).id == first
    assert decode(sample(response="At ten.")).id != first
    assert decode(sample(reference=...)).id != first


def test_optional_fields_may_be_null():
    interaction = decode(sample(reference=None, retrieved_context_ids=None, reference_contexts=None))
    assert interaction.reference_answer is None
    assert [d.id[:7] for d in interaction.retrieved_documents] == ["sha256:"] * 2


@pytest.mark.parametrize(
    ("fields", "path", "problem"),
    [
        (
            {"user_input": [{"content": "Hi", "type": "human"}]},
            "user_input",
            "holds no question with an answer: no message of type ai after one of human",
        ),
        ({"user_input": None}, "user_input", "must be a string, got null"),
        ({"response": ...}, "response", "is missing"),
        ({"response": None}, "response", "must be a string, got null"),
        ({"retrieved_contexts": ...}, "retrieved_contexts", "is missing"),
        ({"retrieved_contexts": None}, "retrieved_contexts", "must be a list, got null"),
        ({"retrieved_contexts": ["", 3]}, "retrieved_contexts[1]", "must be a string, got a number"),
        ({"retrieved_context_ids": ["a"]}, "retrieved_context_ids", "has 1 items for 2 retrieved_contexts"),
        ({"retrieved_context_ids": ["a", ""]}, "retrieved_context_ids[1]", "must not be empty"),
        (
            {"retrieved_context_ids": ["a", 0.5]},
            "retrieved_context_ids[1]",
            "must be a string or a whole number, got a number",
        ),
        ({"reference_contexts": "x"}, "reference_contexts", "must be a list, got a string"),
        ({"reference": 1}, "reference", "must be a string, got a number"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(fields, path, problem):
    assert refusal(sample(**fields)) == (path, problem)


def test_limits():
    assert refusal(sample(), max_documents=1) == ("retrieved_contexts", "has 2 items; the limit is 1")
    assert refusal(sample(), max_text_chars=17) == ("user_input", "has 18 characters; the limit is 17")
    assert refusal(sample(), max_text_chars=20)[0] == "retrieved_contexts[1]"
    assert refusal(sample(response="x" * 30), max_text_chars=25)[0] == "response"
    assert refusal(sample(reference="x" * 30), max_text_chars=25)[0] == "reference"
