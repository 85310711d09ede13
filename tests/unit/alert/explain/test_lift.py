"""Which values come out as what changed, on traffic of which that is known."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.alert.explain.dimensions import UNSEEN
from monitor.alert.explain.explain import explain
from monitor.alert.explain.finding import Kind, Value
from monitor.alert.explain.lift import FALSE_DISCOVERIES, MOST_FINDINGS
from tests.unit.alert.explain.rows import a_row, one_of, traffic

USUAL = traffic(1, 1_500, 0.04)


def of(row, name, value, rate, otherwise):
    return rate if row[name] == value else otherwise


def kinds(explanation):
    return [(finding.values[0].value, finding.kind) for finding in explanation.findings]


def test_a_bad_new_prompt_version_among_good_ones_is_the_first_finding():
    window = traffic(
        2, 1_500, lambda row: of(row, "prompt_version", "v42", 0.6, 0.05), prompt_version=one_of("v41", "v42")
    )
    explanation = explain(window, USUAL)
    finding = explanation.findings[0]
    assert finding.values == (Value(dimension="prompt_version", value="v42"),)
    assert finding.kind is Kind.NEW
    assert finding.rate == pytest.approx(0.6, abs=0.05)
    assert finding.elsewhere == pytest.approx(0.05, abs=0.03)
    assert finding.lift == pytest.approx(finding.rate / finding.elsewhere)
    assert finding.before_rate is None
    assert finding.before_share == 0
    assert finding.owed == pytest.approx(explanation.rate - explanation.before, abs=0.03)
    assert len(explanation.findings) == 1


def test_a_known_model_that_became_worse_is_distinguished_from_a_new_one():
    window = traffic(2, 1_500, lambda row: of(row, "model", "m2", 0.4, 0.04))
    assert kinds(explain(window, USUAL)) == [("m2", Kind.WORSE)]
    assert explain(window, USUAL).findings[0].before_rate == pytest.approx(0.04, abs=0.02)


def test_a_few_answers_of_a_canary_before_leave_a_version_new():
    baseline = [*USUAL, *traffic(5, 5, 0.0, prompt_version="v42")]
    window = traffic(
        2, 1_500, lambda row: of(row, "prompt_version", "v42", 0.6, 0.05), prompt_version=one_of("v41", "v42")
    )
    assert kinds(explain(window, baseline))[0] == ("v42", Kind.NEW)


def test_more_traffic_of_what_was_always_bad_is_a_shift_of_traffic():
    def rate(row):
        return of(row, "topic", "billing", 0.3, 0.04)

    baseline = traffic(3, 1_500, rate, topic=one_of("billing", "login", p=[0.1, 0.9]))
    window = traffic(4, 1_500, rate, topic=one_of("billing", "login", p=[0.6, 0.4]))
    explanation = explain(window, baseline)
    assert kinds(explanation) == [("billing", Kind.MIX)]
    (part,) = (part for part in explanation.parts if part.dimension == "topic")
    rise = explanation.rate - explanation.before
    assert part.mix == pytest.approx(rise, abs=0.05)
    assert part.new + part.within + part.mix == pytest.approx(rise)


def test_what_was_bad_before_explains_nothing_where_everything_got_worse_alike():
    mixed = {"topic": one_of("billing", "login", p=[0.3, 0.7])}
    baseline = traffic(3, 1_500, lambda row: of(row, "topic", "billing", 0.3, 0.04), **mixed)
    window = traffic(4, 1_500, lambda row: of(row, "topic", "billing", 0.56, 0.3), **mixed)
    explanation = explain(window, baseline)
    assert kinds(explanation) == [("billing", Kind.AS_BEFORE)]


@pytest.mark.parametrize("rate", [0.9, 0.97, 1.0])
def test_an_outage_that_hits_everything_gives_no_dimension(rate):
    explanation = explain(traffic(7, 1_500, rate), USUAL)
    assert explanation.looked_at > 40
    assert explanation.findings == ()


def test_retrieval_that_finds_nothing_for_some_is_a_finding():
    window = traffic(
        2,
        1_000,
        lambda row: 0.04 if row["documents"] else 0.95,
        documents=lambda g, row: () if g.random() < 0.3 else row["documents"],
    )
    (finding,) = explain(window, USUAL).findings
    assert (finding.values, finding.kind) == ((Value(dimension="document", value=""),), Kind.NEW)


def test_many_new_documents_are_one_finding():
    def rebuilt(g, row):
        return tuple(f"new-{n}" for n in g.integers(30, size=3)) if g.random() < 0.5 else row["documents"]

    window = traffic(2, 1_500, lambda row: 0.95 if row["documents"][0].startswith("new") else 0.04, documents=rebuilt)
    explanation = explain(window, USUAL)
    assert kinds(explanation)[0] == (UNSEEN, Kind.NEW)
    assert explanation.sentences()[0].startswith("documents not retrieved before: new, and 95 % negative ")


def test_a_bad_document_is_found_among_those_retrieved_with_it():
    window = traffic(2, 1_500, lambda row: 0.9 if "d-7" in row["documents"] else 0.04)
    assert kinds(explain(window, USUAL)) == [("d-7", Kind.WORSE)]


def test_values_that_go_with_the_same_answers_are_one_finding():
    window = traffic(
        2,
        1_500,
        lambda row: of(row, "prompt_version", "v42", 0.6, 0.05),
        prompt_version=one_of("v41", "v42"),
        model=lambda _, row: "m9" if row["prompt_version"] == "v42" else "m1",
    )
    (finding,) = explain(window, USUAL).findings
    assert {(value.dimension, value.value) for value in finding.values} == {("prompt_version", "v42"), ("model", "m9")}


def test_what_another_finding_explains_is_left_out_and_what_it_does_not_is_kept():
    def rate(row):
        return 0.6 if row["prompt_version"] == "v42" else 0.5 if "d-7" in row["documents"] else 0.04

    window = traffic(
        2, 3_000, rate, prompt_version=lambda g, row: "v42" if row["app"] == "bank" and g.random() < 0.7 else "v41"
    )
    assert kinds(explain(window, USUAL)) == [("v42", Kind.NEW), ("d-7", Kind.WORSE)]


def test_ids_that_name_answers_are_not_looked_at():
    window = traffic(2, 400, lambda row: of(row, "model", "m2", 0.4, 0.04))
    names = {value.dimension for finding in explain(window, USUAL).findings for value in finding.values}
    parts = {part.dimension for part in explain(window, USUAL).parts}
    assert "tag user" not in names | parts
    assert "tag tier" in parts


def test_values_with_few_answers_are_not_looked_at():
    window = [*traffic(2, 400, 0.04), *(a_row(n, app="tiny", model="m1", topic="login") for n in range(9))]
    assert "tiny" not in [value for value, _ in kinds(explain(window, USUAL))]


def test_without_a_baseline_nothing_counts_as_changed():
    window = traffic(2, 400, lambda row: of(row, "model", "m2", 0.4, 0.04))
    explanation = explain(window, [])
    assert kinds(explanation) == [("m2", Kind.UNCOMPARED)]
    assert explanation.parts == ()


def test_there_are_never_more_findings_than_are_read():
    window = traffic(
        2, 4_000, lambda row: 0.8 if int(row["topic"][1:]) < 8 else 0.02, topic=one_of(*(f"t{n}" for n in range(16)))
    )
    explanation = explain(window, USUAL)
    assert len(explanation.findings) == MOST_FINDINGS
    assert all(int(value[1:]) < 8 for value, _ in kinds(explanation))


def test_where_nothing_changed_false_findings_keep_their_promise():
    """200 windows of one rate against baselines of another; any finding is a false one, so this is the error rate."""
    found = [
        bool(explain(traffic(1_000 + seed, 250, 0.3), traffic(5_000 + seed, 100, 0.04)).findings) for seed in range(200)
    ]
    assert np.mean(found) <= FALSE_DISCOVERIES


def test_beside_a_true_finding_false_ones_keep_their_promise():
    shares = []
    for seed in range(60):
        window = traffic(2_000 + seed, 400, lambda row: of(row, "model", "m2", 0.5, 0.1))
        found = [value for value, _ in kinds(explain(window, USUAL[:300]))]
        assert "m2" in found
        shares.append(1 - 1 / len(found))
    assert np.mean(shares) <= FALSE_DISCOVERIES
