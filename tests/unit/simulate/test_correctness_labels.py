"""The hand-labelled answers of the support bot."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files

import pytest

from monitor.probe.agreement.labels import from_json_lines

KNOWLEDGE = files("monitor.simulate") / "knowledge"
LINES = (KNOWLEDGE / "correctness_labels.jsonl").read_text(encoding="utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES]
PASSAGES = (KNOWLEDGE / "passages.jsonl").read_text(encoding="utf-8")
FIGURE = re.compile(r"\d[\d,.]*\d|\d")


def test_every_line_is_a_label_with_a_reason_of_its_own():
    assert len(from_json_lines(LINES)) == len(ROWS) == len({row["answer"] for row in ROWS}) == 50
    assert [row["id"] for row in ROWS] == [f"c-{number:03d}" for number in range(1, 51)]
    assert all(set(row) == {"id", "question", "reference", "answer", "score", "why"} for row in ROWS)


def test_every_score_is_given_several_times():
    counts = Counter(row["score"] for row in ROWS)
    assert sorted(counts) == [0, 1, 2, 3, 4, 5]
    assert min(counts.values()) >= 5


def test_one_question_has_one_reference():
    assert len({(row["question"], row["reference"]) for row in ROWS}) == len({row["question"] for row in ROWS})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_figures_of_a_reference_stand_in_the_knowledge(row):
    assert set(FIGURE.findall(row["reference"])) <= set(FIGURE.findall(PASSAGES))
