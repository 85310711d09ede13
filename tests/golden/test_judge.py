"""Model answers written by hand, and the exact values that the metrics give them, worked out in `by_hand`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.assess.judge.combined import TOGETHER
from monitor.assess.judge.judge import Judge
from monitor.assess.judge.metric import Case
from monitor.assess.judge.registry import METRICS
from monitor.assess.llm.exchange import NoAnswer, Spend
from monitor.simulate.fakes.flow import ScriptedLanguageModel
from tests.factories.assess.interactions import TableEmbedder

FILES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in Path(__file__).parent.glob("judge/*.json")}
COMBINED = FILES.pop("combined")
ROWS = [pytest.param(file, row, id=f"{name}: {row['name']}") for name, file in FILES.items() for row in file["rows"]]
CLOSE = 1e-6  # float32 vectors


def judged(file, row, metrics, mode):
    """The judgements by metric, with the names of the prompts in the order in which they were asked."""
    case = {**file["case"], **row.get("case", {})}
    model = ScriptedLanguageModel(answers={name: [canned(answer)] for name, answer in row["answers"].items()})
    judge = Judge(model, TableEmbedder(file.get("vectors", {})), metrics=metrics, mode=mode)
    judgements = judge.judge(Case(**{**case, "documents": tuple(case["documents"])}))
    assert [judgement.metric for judgement in judgements] == list(metrics)
    return {judgement.metric: judgement for judgement in judgements}, [request.prompt.name for request in model.asked]


def canned(answer):
    """A text unchanged, an object as JSON, `no_answer` as the error that the port raises."""
    if isinstance(answer, dict) and "no_answer" in answer:
        return NoAnswer(answer["no_answer"], "scripted", Spend(calls=1))
    return answer if isinstance(answer, str) else json.dumps(answer)


def same(found, wanted):
    """The values wrapped in `pytest.approx`, at any depth."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(same(*pair) for pair in zip(found, wanted, strict=True))
    return found == (pytest.approx(wanted, abs=CLOSE) if isinstance(wanted, float) else wanted)


def check(outcome, expected):
    assert same(outcome.score, expected.get("score"))
    assert outcome.reason == expected.get("reason")
    if "parts" in expected:
        assert same(outcome.parts, expected["parts"])


@pytest.mark.parametrize(("file", "row"), ROWS)
def test_a_metric_by_itself(file, row):
    found, asked = judged(file, row, [file["metric"]], "separate")
    judgement = found[file["metric"]]
    check(judgement.outcome, row)
    assert asked == list(row["answers"])
    assert judgement.spend.calls == len(asked)
    assert bool(judgement.prompt_hash) == bool(asked)


@pytest.mark.parametrize("row", COMBINED["rows"], ids=lambda row: row["name"])
def test_three_metrics_together(row):
    found, asked = judged(COMBINED, row, TOGETHER, "combined")
    for name, expected in row["expect"].items():
        check(found[name].outcome, expected)
    assert asked == list(row["answers"])
    assert sum(judgement.spend.calls for judgement in found.values()) == len(asked)
    for name, mode in row.get("mode", {}).items():
        assert found[name].mode == mode


def test_every_metric_has_its_file():
    assert {name: file["metric"] for name, file in FILES.items()} == {name: name for name in METRICS}


def test_every_row_is_worked_out():
    assert all(row["by_hand"] for file in [*FILES.values(), COMBINED] for row in file["rows"])
