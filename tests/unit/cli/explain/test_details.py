from __future__ import annotations

import io

import pytest
from rich.console import Console

from monitor.assess.classify.profile import FeatureWeight, Groundedness
from monitor.assess.explain import METRIC_NAMES
from monitor.cli.explain.details import details_panel
from monitor.core.model import Reason
from tests.factories.assess.explained_rows import EVIDENCE, ROW
from tests.factories.assess.interactions import profile

WEIGHTS = {"grounding": -2.0, "content_overlap": -4.0, "missing_names": 0.01}
BLEND = Groundedness(
    bias=0.0,
    threshold=0.75,
    features={name: FeatureWeight(weight=weight, center=0.0, scale=1.0) for name, weight in WEIGHTS.items()},
)
PROFILE = profile(0.8, rules={"qa": {"threshold": 0.85}}, groundedness=BLEND)


def shown(by=PROFILE, *, width=120, **changed):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(details_panel({**ROW, **changed}, by))
    return console.file.getvalue()


def line_of(text, words):
    (found,) = [" ".join(line.strip("│ ").split()) for line in text.splitlines() if words in line]
    return found


def test_the_log_odds_add_up_from_the_start_to_the_probability():
    text = shown()
    names = ("start of", "content words that", "alignment, missing", "all other", "sum", "threshold of")
    rows = [line_of(text, name) for name in names]
    assert rows == [
        "start of the profile 50.0% +0.00",
        "share of content words that the documents hold 0.75 −3.00",
        "alignment, missing numbers and the worst sentence in one score −0.50 +1.00",
        "all other features +0.01",
        "sum 12.0% −1.99",
        "threshold of self-generated 75.0% +1.10",
    ]
    places = [text.index(name) for name in names]
    assert places == sorted(places)
    assert "The refusal decided" not in text


def test_a_refusal_decides_before_any_feature():
    assert "The refusal decided the verdict" in shown(verdict="refusal", refusal_kind="full")


def test_each_metric_is_shown_against_its_threshold():
    text = shown()
    figures = {name: line_of(text, f" {name.upper()} ") for name in METRIC_NAMES}
    assert figures["sdq"].endswith("0.81 ≥ 0.80")
    assert figures["sda"].endswith("0.79 < 0.80")
    assert figures["qa"].endswith("0.85 ≥ 0.85")


def test_an_undefined_metric_says_what_is_missing():
    text = shown(qa=None, sda=None, features={"undefined": {"qa": "empty_answer"}})
    assert "question – answer (empty answer)" in text
    assert "supporting documents – answer (undefined)" in text


def test_each_compared_sentence_has_its_score():
    text = shown()
    assert line_of(text, "2  [d1]").endswith("0.96")
    assert line_of(text, "3  [d0]") == "3 [d0], contradicted 0.90"


def test_the_verdict_of_the_thesis_s_rule_is_shown():
    assert "verdict by the study's rule: self-generated" in shown(rule_verdict="self_generated")


def test_without_the_profile_there_are_values_but_neither_thresholds_nor_log_odds():
    text = shown(None)
    assert "0.79" in text
    assert "thresholds and weights are missing" in text
    for sign in ("≥", "<", "log-odds"):
        assert sign not in text


@pytest.mark.parametrize("changed", [{"evidence": {}}, {"reasons": [Reason.NO_DOCUMENTS.value]}])
def test_where_no_feature_was_asked_there_are_no_log_odds(changed):
    assert "log-odds" not in shown(**changed)


@pytest.mark.parametrize("by", [PROFILE, None])
@pytest.mark.parametrize("evidence", [EVIDENCE, {}])
@pytest.mark.parametrize("width", [80, 60])
def test_no_line_is_wider_than_the_terminal(width, by, evidence):
    assert max(map(len, shown(by, width=width, evidence=evidence).splitlines())) <= width


@pytest.mark.parametrize("text", ["[red]x[/red]", "[/]", "\x1b[2J"])
def test_foreign_names_are_shown_as_they_are(text):
    alignment = [{**EVIDENCE["alignment"][0], "document_id": text}]
    found = shown(id=text, evidence={**EVIDENCE, "alignment": alignment})
    assert found.count(text.replace("\x1b", "\ufffd")) == 2
    assert "\x1b" not in found
