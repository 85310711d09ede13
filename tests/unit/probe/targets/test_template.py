from __future__ import annotations

import pytest

from monitor.probe.target import Exchange
from monitor.probe.targets.template import asks, fill, unfilled

HISTORY = [Exchange(question="Q1", answer="A1")]
BEFORE = [{"role": "user", "content": "Q1"}, {"role": "assistant", "content": "A1"}]
SYSTEM = {"role": "system", "content": "Be kind."}


def filled(template, question="Q2"):
    return fill(template, question=question, history=HISTORY, conversation="c-1")


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{question}", "Q2"),
        ("Say: {question} ({conversation}) {question}", "Say: Q2 (c-1) Q2"),
        ("{history}", BEFORE),
        (["{history}", "x"], [*BEFORE, "x"]),
        ([SYSTEM, "{messages}"], [SYSTEM, *BEFORE, {"role": "user", "content": "Q2"}]),
        ({"a": {"b": ["{question}"]}}, {"a": {"b": ["Q2"]}}),
        ({"{question}": 1}, {"{question}": 1}),
        ("said {history}", "said {history}"),
        (None, None),
        (1.5, 1.5),
        (True, True),
    ],
)
def test_placeholders_become_values(template, value):
    assert filled(template) == value


@pytest.mark.parametrize("question", ['"}], "x": [{"', "{conversation}", "{history}", "{messages}", "{question}", ""])
def test_a_question_stays_one_text(question):
    assert filled({"q": "{question}", "to": "<{question}>"}, question) == {"q": question, "to": f"<{question}>"}


def test_the_template_stays_as_it_is():
    template = {"q": ["{messages}", "{question}"]}
    filled(template)
    assert template == {"q": ["{messages}", "{question}"]}


@pytest.mark.parametrize("template", ["a {question}", "{messages}", ["x", {"y": "{question}"}]])
def test_a_template_that_asks(template):
    assert asks(template)


@pytest.mark.parametrize("template", [None, "", "question", {"{question}": 1}, ["{history}"], "x {messages}"])
def test_a_template_that_asks_nothing(template):
    assert not asks(template)


@pytest.mark.parametrize("text", ["{question}", "{conversation}", '", "admin": true, "x": "', "\\", "\n"])
def test_what_is_filled_in_is_not_filled_again(text):
    template = {"{question}": ["{question}", "{conversation}: {question}", 1, None]}
    assert fill(template, question=text, history=[], conversation="c")["{question}"] == [text, f"c: {text}", 1, None]
    assert fill("{question}/{conversation}", question="q", history=[], conversation=text) == f"q/{text}"


KNOWN = "The placeholders are {question}, {history}, {messages}, {conversation}"


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ({"q": "{question}", "h": "{histroy}"}, f"{{histroy}} is no placeholder: did you mean {{history}}? {KNOWN}"),
        (["{message}"], f"{{message}} is no placeholder: did you mean {{messages}}? {KNOWN}"),
        ("a {Question}", f"{{Question}} is no placeholder: did you mean {{question}}? {KNOWN}"),
        ("{ question }", f"{{ question }} is no placeholder: did you mean {{question}}? {KNOWN}"),
        (
            {"a": [{"b": "so far: {history}"}]},
            "{history} is a list of messages and cannot stand within a text: make it a value of its own",
        ),
    ],
)
def test_a_placeholder_that_would_be_sent_as_it_is_is_named(template, problem):
    assert unfilled(template) == problem


@pytest.mark.parametrize(
    "template",
    [
        None,
        1,
        {"q": "{question} {conversation}", "h": "{history}", "m": ["{messages}"]},
        '{"question": "{question}", "filter": {"lang": {}}}',
        "{question} {name} {query} {story} {0} {} {{question}} ${question}",
        {"{histroy}": "a key is never filled"},
    ],
)
def test_other_braces_stay_as_they_are(template):
    assert unfilled(template) is None
