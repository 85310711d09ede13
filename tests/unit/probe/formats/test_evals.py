"""Samples of OpenAI evals, and rows of the Evals API."""

from __future__ import annotations

import json

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.formats.read import parse_golden

Q, R = "How long does a refund take?", "A refund takes 14 days."
SYSTEM, USER = {"role": "system", "content": "Be kind."}, {"role": "user", "content": Q}
EXAMPLE = {"role": "system", "content": "When do you open?", "name": "example_user"}


IDEALS = "ideal, reference, ground_truth, expected_output, expected, correct_answer, answer"


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def read(*rows):
    return [(i.question, i.reference) for i in parse_golden(lines(*rows), name="samples.jsonl")]


@pytest.mark.parametrize(
    "row",
    [
        {"input": [SYSTEM, USER], "ideal": R},
        {"input": [SYSTEM, EXAMPLE, USER], "ideal": [R, "14 days"]},
        {"input": Q, "ideal": R},
        {"input": [USER], "ideal": R, "args": {"a": 1}},
    ],
)
def test_samples(row):
    assert read(row) == [(Q, R)]


@pytest.mark.parametrize(
    "item",
    [
        {"question": Q, "answer": R},
        {"input": [SYSTEM, USER], "ideal": R},
        {"query": Q, "ground_truth": R, "topic": "refunds"},
        {"input": Q, "expected_output": [R]},
    ],
)
def test_rows_of_the_api(item):
    assert read({"item": item}, {"item": {**item, "answer": R}, "sample": {"output_text": "No."}}) == [(Q, R)]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"input": [SYSTEM], "ideal": R}, "its input has 0 messages of a user; a golden item has one question"),
        ({"input": [USER, USER], "ideal": R}, "its input has 2 messages of a user; a golden item has one question"),
        ({"input": [USER], "ideal": []}, "its reference is not text"),
        ({"input": [USER], "ideal": {"a": 1}}, "its reference is not text"),
        ({"item": {"ticket": Q, "answer": R}}, "its item has none of the fields question, query, prompt, input, text"),
        ({"item": {"text": Q}}, f"its item has none of the fields {IDEALS}"),
        (
            {"item": {"question": Q, "label": R}},
            f"its item has none of the fields {IDEALS}",
        ),
    ],
)
def test_what_is_no_golden_item_is_named_and_nothing_is_read(row, why):
    with pytest.raises(WrongSettings) as caught:
        read({"input": "Why?", "ideal": R}, row)
    assert str(caught.value) == f"samples.jsonl:2: {why}"
