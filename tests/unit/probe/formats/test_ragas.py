"""Test sets as RAGAS writes them: to_jsonl, to_csv and to_pandas, before 0.2 and since."""

from __future__ import annotations

import json

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.formats.read import parse_golden

Q, R = "How long does a refund take?", "A refund takes 14 days."
SINCE = {
    "user_input": Q,
    "reference_contexts": ["Refunds: 14 days."],
    "reference": R,
    "persona_name": "Buyer",
    "query_style": "PERFECT_GRAMMAR",
    "query_length": "SHORT",
    "synthesizer_name": "single_hop_specific_query_synthesizer",
}
BEFORE = {
    "question": Q,
    "contexts": ["Refunds: 14 days."],
    "ground_truth": R,
    "evolution_type": "multi_context",
    "metadata": [{"source": "refunds.md"}],
    "episode_done": True,
}


def only(text):
    (item,) = parse_golden(text, name="testset")
    return item.question, item.reference, item.tags


def test_json_lines_of_0_2_and_later():
    tags = {
        "synthesizer": "single_hop_specific_query_synthesizer",
        "persona": "Buyer",
        "style": "PERFECT_GRAMMAR",
        "length": "SHORT",
    }
    assert only(json.dumps(SINCE) + "\n") == (Q, R, tags)


def test_csv_of_0_2_and_later():
    text = f"user_input,reference_contexts,reference,synthesizer_name\n{Q},\"['Refunds: 14 days.']\",{R},\n"
    assert only(text) == (Q, R, {})


def test_json_lines_before_0_2():
    assert only(json.dumps(BEFORE) + "\n") == (Q, R, {"evolution": "multi_context"})


def test_csv_before_0_2():
    text = (
        "question,contexts,ground_truth,evolution_type,metadata,episode_done\n"
        f"{Q},\"['Refunds: 14 days.']\",{R},simple,\"[{{'source': 'refunds.md'}}]\",True\n"
    )
    assert only(text) == (Q, R, {"evolution": "simple"})


@pytest.mark.parametrize(
    "row", [{"question": Q, "ground_truths": [R, "Two weeks."]}, {"question": Q, "ground_truth": [R]}]
)
def test_the_first_of_several_ground_truths_counts(row):
    assert only(json.dumps(row)) == (Q, R, {})


def test_ground_truths_in_csv_are_json():
    assert only(f'question,ground_truths\n{Q},"[""{R}"", ""Two weeks.""]"\n') == (Q, R, {})
    with pytest.raises(WrongSettings, match="testset:2: its ground_truths is not a list in JSON"):
        only(f"question,ground_truths\n{Q},\"['{R}']\"\n")


def test_what_was_not_generated_is_named():
    rows = [SINCE, {**SINCE, "user_input": "Why?", "reference": None}, {**BEFORE, "ground_truth": float("nan")}]
    with pytest.raises(WrongSettings) as caught:
        parse_golden("".join(json.dumps(row) + "\n" for row in rows), name="testset")
    assert str(caught.value).splitlines() == [
        "testset:2: its reference is not text",
        "testset:3: its reference is not text",
    ]


def test_conversations_are_refused():
    turns = [{"content": Q, "type": "human"}, {"content": "Which order?", "type": "ai"}]
    with pytest.raises(WrongSettings, match="testset:1: its question is not text"):
        only(json.dumps({"user_input": turns, "reference": R}))
