from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.core.figures.latency import LATENCY_BINS, latency_bin
from monitor.core.figures.usage import Amount, AnswerUsage
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Unscored
from monitor.report.weekly.content import canonical, content, differing, digest
from monitor.report.weekly.facts import Arrivals, TwoWeeks, UsedInTwoWeeks
from monitor.report.weekly.groups import MOST_GROUPS, group_json, topics_json
from monitor.report.weekly.markdown import markdown
from monitor.report.weekly.summary import headline
from tests.factories.report.weekly_facts import NO_COVERAGE, WEEK, facts_named, no_facts


def test_the_same_facts_give_the_same_bytes_whatever_order_names_come_in():
    one, other = content(facts_named("a")), content(facts_named("a"))
    shuffled = json.loads(json.dumps({name: other[name] for name in reversed(other)}))
    assert canonical(one) == canonical(shuffled)
    assert digest(one) == digest(shuffled)
    assert digest(one) != digest(content(facts_named("b")))


def test_what_answers_used_is_told_by_model_with_the_week_before():
    bins = [0] * LATENCY_BINS
    bins[latency_bin(2_000)] = 10
    large = AnswerUsage(
        answers=10,
        grounded=5,
        latency=Amount(answers=10, sum=20.0),
        latency_bins=tuple(bins),
        input_tokens=Amount(answers=10, sum=9_000.0),
        output_tokens=Amount(answers=10, sum=1_000.0),
        cost=Amount(answers=10, sum=0.5),
    )
    mini = AnswerUsage(answers=4, grounded=4, latency=Amount(answers=4, sum=2.0), latency_bins=tuple(bins))
    used = {"": UsedInTwoWeeks(this=mini), "large": UsedInTwoWeeks(this=large, before=large + large)}
    found = content(no_facts(used=used))["used"]
    assert [model["model"] for model in found["models"]] == ["large", ""]
    assert found["models"][0]["this"]["cost"]["of_a_grounded_answer"] == 0.1
    assert found["models"][0]["before"]["cost"]["sum"] == 1.0
    assert found["all"]["this"]["latency"]["p95"] == pytest.approx(2.0, rel=0.05)
    assert found["all"]["this"]["cost"] == {
        "answers": 10,
        "unpriced": 4,
        "sum": 0.5,
        "of_an_answer": 0.05,
        "of_a_grounded_answer": None,
    }
    page = markdown(content(no_facts(used=used)), no_link)
    assert "4 answers without a price" in page
    assert "not named" in page


def test_reports_of_earlier_releases_say_nothing_of_cost():
    found = content(no_facts())
    assert "Latency, tokens" not in markdown(found, no_link)
    del found["used"]
    assert "Latency, tokens" not in markdown(found, no_link)


def no_link(_app, _id):
    return None


def test_what_differs_is_named_by_section():
    facts = facts_named("a")
    assert differing(content(facts), content(facts)) == []
    assert differing(content(facts), content(replace(facts, judged_answers=5))) == ["judge"]


def test_texts_from_outside_hold_no_personal_data_and_no_end():
    found = content(facts_named("mail ann@example.com\nor +49 30 1234567 " + "x" * 5_000))
    del found["app"]
    documents, groups, items = found["documents"]["supporting_nothing"], found["lacking"], found["findings"]
    quoted = (*documents["documents"], *groups["groups"], *items["items"])
    for one in (*found["worst"], *found["over_refusals"], *quoted):
        one.pop("id", None)  # an id is an id
    said = json.dumps(found, ensure_ascii=False)
    assert "example.com" not in said
    assert "1234567" not in said
    assert "[e-mail]" in said
    assert max(map(len, said.split('"'))) == 600


def test_what_nothing_can_be_said_of_is_null():
    found = content(no_facts())
    assert found["verdicts"]["rates"]["negative"]["change"] is None
    assert found["verdicts"]["rates"]["negative"]["this"]["share"] is None
    assert found["agreement"]["verdict"]["kappa"] is None
    assert len(found["days"]) == 28
    json.dumps(found, allow_nan=False)


def counts(negative, total):
    return Verdicts(grounded=total - negative, self_generated=negative)


def test_a_topic_with_few_answers_is_not_compared_and_none_is_no_topic():
    found = topics_json(
        {
            "": TwoWeeks(this=counts(50, 50), before=counts(0, 50)),
            "few": TwoWeeks(this=counts(29, 29), before=counts(0, 500)),
            "worse": TwoWeeks(this=counts(25, 50), before=counts(5, 50)),
            "same": TwoWeeks(this=counts(6, 50), before=counts(5, 50)),
        }
    )
    assert (found["topics"], found["compared"], found["answers_without_topic"]) == (3, 2, 50)
    assert [one["value"] for one in found["worse"]] == ["worse"]
    assert found["better"] == []
    assert {one["value"]: one["q"] is None for one in found["largest"]} == {"worse": False, "same": False, "few": True}


def test_many_values_are_cut_and_counted():
    found = group_json({f"m-{n:02}": TwoWeeks(this=counts(1, 40 + n)) for n in range(MOST_GROUPS + 3)})
    assert (len(found["values"]), found["left_out"], found["compared"]) == (MOST_GROUPS, 3, 0)
    assert found["values"][0]["value"] == f"m-{MOST_GROUPS + 2:02}"


def test_weeks_are_compared_only_if_they_were_as_full():
    some = Verdicts(grounded=90, refusal=10)
    week = {WEEK.monday + timedelta(days=day): some for day in range(7)}
    before = {WEEK.before.monday + timedelta(days=day): some for day in range(4, 7)}
    found = content(no_facts(days={**week, **before}))
    assert found["verdicts"]["rates"]["negative"]["change"] is None
    assert "only 3 of the days before and 7 of this week have answers" in " ".join(headline(found))


def test_a_week_without_rules_was_not_watched():
    some = {WEEK.monday: Verdicts(grounded=9)}
    lines = {days: headline(content(no_facts(days=some, watched=days))) for days in (0, 3, 7)}
    assert "Not watched: no alert rule ran in this week." in lines[0]
    assert "No alert fired on the 3 days on which rules ran." in lines[3]
    assert "No alert fired." in lines[7]


def test_turns_that_cannot_be_scored_are_told_with_what_to_switch_on():
    reasons = {Unscored.NO_RETRIEVAL: 1_000, Unscored.NO_DOCUMENT_TEXT: 3_000}
    found = content(no_facts(coverage=replace(NO_COVERAGE, unscored=reasons)))
    assert [(its["reason"], its["turns"]["count"]) for its in found["coverage"]["unscored"]] == [
        ("no_document_text", 3_000),
        ("no_retrieval", 1_000),
    ]
    text = markdown(found, lambda _app, _id: None)
    assert "3,000 of 4,000 turns carry no document text, and have no verdict: switch on" in text
    del found["coverage"]["unscored"], found["ledger"]["unscored"]  # as an earlier release stored it
    assert "have no verdict" not in markdown(found, lambda _app, _id: None)


def test_files_that_were_read_once_are_accounted_for():
    read_once = (Arrivals(source="answers.jsonl", received=4_001, dead=3),)
    found = content(no_facts(coverage=replace(NO_COVERAGE, read_once=read_once)))
    text = markdown(found, lambda _app, _id: None)
    assert "| answers.jsonl | 4,001 | 3 |" in text
    assert "nothing was read" not in text
