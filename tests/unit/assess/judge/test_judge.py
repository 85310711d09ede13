from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.judge.combined import PROMPT, TOGETHER, shares
from monitor.assess.judge.judge import Mode
from monitor.assess.judge.registry import METRICS
from monitor.assess.llm.exchange import NoAnswer, Reply, Spend
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.core.settings.sections import JudgeMetric, JudgeSettings
from tests.factories.assess.judge import CASE, GOOD, PROMPTS, PricedModel, a_case, a_judge, scripted

CALLS = {**dict.fromkeys(METRICS, 1), "faithfulness": 2, "summarization_score": 2, "chunk_relevance": 3}
NAMES = (
    "faithfulness",
    "answer_relevance",
    "context_relevance",
    "context_recall",
    "context_precision",
    "context_utilization",
    "context_entity_recall",
    "summarization_score",
    "chunk_relevance",
)


class OutOfReach:
    """An embedder that is down."""

    model, dimensions = "down", 3

    def embed(self, texts):
        raise Retriable("out of reach")


def total(judgements):
    return reduce(add, [judgement.spend for judgement in judgements], Spend())


def scores(judgements):
    return {judgement.metric: judgement.outcome.score for judgement in judgements}


# --- which metrics, in which mode ------------------------------------------------------------------------------------


def test_the_registry_holds_the_nine_metrics_in_their_order():
    assert tuple(METRICS) == NAMES
    assert NAMES[:3] == TOGETHER


def test_the_settings_know_the_same_metrics_and_modes():
    assert get_args(JudgeMetric) == NAMES
    assert set(get_args(Mode)) == set(get_args(JudgeSettings.model_fields["mode"].annotation)) - {"off"}


def test_each_metric_by_itself_has_a_score_and_its_own_account():
    judgements = a_judge(scripted()).judge(CASE)
    assert [judgement.metric for judgement in judgements] == list(METRICS)
    assert {judgement.metric: judgement.spend.calls for judgement in judgements} == CALLS
    assert {(judgement.mode, judgement.model) for judgement in judgements} == {("separate", "scripted")}
    assert all(score is not None for score in scores(judgements).values())


def test_judgements_come_in_the_registry_s_order_whatever_was_asked_for():
    judge = a_judge(scripted(), "summarization_score", "context_relevance", "context_recall", "faithfulness")
    wanted = ["faithfulness", "context_relevance", "context_recall", "summarization_score"]
    assert [judgement.metric for judgement in judge.judge(CASE)] == wanted
    together = a_judge(scripted(), "context_recall", "context_relevance", "faithfulness", mode="combined")
    wanted = ["faithfulness", "context_relevance", "context_recall"]
    assert [judgement.metric for judgement in together.judge(CASE)] == wanted


def test_an_unknown_metric_is_a_wrong_setting_that_names_the_known_ones():
    with pytest.raises(WrongSettings, match="unknown judged metric: truth; choose from faithfulness, answer_relevance"):
        a_judge(scripted(), "faithfulness", "truth")


def test_combined_mode_asks_once_for_three_and_gives_the_same_scores():
    apart, together = scripted(), scripted()
    separate = a_judge(apart).judge(CASE)
    combined = a_judge(together, mode="combined").judge(CASE)
    assert scores(separate) == scores(combined)
    assert len(together.asked) == len(apart.asked) - 3
    modes = {judgement.metric: judgement.mode for judgement in combined}
    assert modes == {name: "combined" if name in TOGETHER else "separate" for name in METRICS}


def test_one_of_the_three_alone_is_asked_for_separately():
    model = scripted()
    (judgement,) = a_judge(model, "faithfulness", mode="combined").judge(CASE)
    assert (judgement.mode, judgement.spend.calls) == ("separate", 2)


def test_two_of_the_three_share_one_call():
    model = scripted()
    judgements = a_judge(model, "faithfulness", "context_relevance", mode="combined").judge(CASE)
    assert [judgement.metric for judgement in judgements] == ["faithfulness", "context_relevance"]
    assert [request.prompt.name for request in model.asked] == ["combined.v1"]
    assert total(judgements) == Spend(calls=1, input_tokens=1, output_tokens=1)


# --- what is not asked -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["separate", "combined"])
def test_nothing_is_asked_where_there_is_nothing_to_judge(mode):
    model = scripted()
    case = a_case(question="\n", answer="", documents=("", " "), reference=None)
    judgements = a_judge(model, mode=mode, embedder=OutOfReach()).judge(case)
    assert model.asked == []
    assert all(judgement.outcome.score is None and judgement.outcome.reason for judgement in judgements)
    assert {(judgement.spend, judgement.prompt_hash) for judgement in judgements} == {(Spend(), "")}


@pytest.mark.parametrize("mode", ["separate", "combined"])
def test_a_refusal_is_judged_by_its_documents_only(mode):
    judgements = a_judge(scripted(), mode=mode).judge(a_case(refuses=True))
    assert {judgement.metric for judgement in judgements if judgement.outcome.reason == "refusal"} == {
        "faithfulness",
        "answer_relevance",
        "context_utilization",
        "summarization_score",
    }
    assert sum(judgement.outcome.score is not None for judgement in judgements) == 5


def test_the_combined_request_is_there_only_where_one_call_serves_two_metrics():
    assert a_judge(scripted(), mode="separate").request(CASE) is None
    assert a_judge(scripted(), "faithfulness", mode="combined").request(CASE) is None
    judge = a_judge(scripted(), "answer_relevance", "context_relevance", mode="combined")
    assert judge.request(CASE).prompt == PROMPT
    for case in (a_case(refuses=True), a_case(answer=""), a_case(documents=()), a_case(question="")):
        assert judge.request(case) is None


# --- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["model_refused", "content_filter", "truncated", "malformed"])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_no_answer_leaves_the_metric_undefined_and_is_paid_for(prompt, reason):
    spent = Spend(calls=2, input_tokens=7, output_tokens=5)
    model = scripted(**{prompt.removesuffix(".v1"): NoAnswer(reason, "no", spent)})
    together = prompt == "combined.v1"
    judgements = a_judge(model, mode="combined" if together else "separate").judge(CASE)
    hit = [judgement for judgement in judgements if judgement.outcome.score is None]
    assert {judgement.outcome.reason for judgement in hit} == {reason}
    assert len(hit) == (3 if together else 2 if prompt == "context_usefulness.v1" else 1)
    if together:
        assert total(hit) == spent
    else:
        assert all(judgement.spend.input_tokens >= 7 for judgement in hit)
    assert all(judgement.prompt_hash for judgement in hit)


@pytest.mark.parametrize("mode", ["separate", "combined"])
@pytest.mark.parametrize("error", [Retriable("busy"), Fatal("wrong key")])
def test_errors_that_are_not_about_the_answer_are_raised(mode, error):
    model = scripted(faithfulness_verdicts=error, combined=error)
    with pytest.raises(type(error)):
        a_judge(model, mode=mode).judge(CASE)


@pytest.mark.parametrize("mode", ["separate", "combined"])
def test_an_embedder_out_of_reach_goes_up(mode):
    with pytest.raises(Retriable):
        a_judge(scripted(), mode=mode, embedder=OutOfReach()).judge(CASE)


# --- in pieces -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "count"), [("separate", 9), ("combined", 7)])
def test_the_tasks_run_side_by_side_give_what_judge_gives(mode, count):
    judge = a_judge(scripted(), mode=mode)
    tasks = judge.tasks(CASE)
    assert len(tasks) == count
    with ThreadPoolExecutor(count) as pool:
        found = [judgement for part in pool.map(lambda task: task(), tasks) for judgement in part]
    assert sorted(found, key=lambda judgement: NAMES.index(judgement.metric)) == judge.judge(CASE)


def test_a_task_that_fails_leaves_the_others():
    tasks = a_judge(scripted(faithfulness_statements=Retriable("busy"))).tasks(CASE)
    done, failed = [], 0
    for task in tasks:
        try:
            done += task()
        except Retriable:
            failed += 1
    assert (len(done), failed) == (8, 1)


def test_the_deadline_reaches_every_call():
    model = PricedModel(scripted(), Spend(calls=1))
    a_judge(model, mode="separate").judge(CASE, deadline=12.5)
    a_judge(model, mode="combined").judge(CASE, deadline=12.5)
    assert set(model.deadlines) == {12.5}


def test_a_reply_that_comes_later_gives_the_same_judgements():
    judge = a_judge(scripted(), *TOGETHER, mode="combined")
    value = PROMPT.form.model_validate(GOOD["combined.v1"])
    reply = Reply(value=value, model="scripted", spend=Spend(calls=1, input_tokens=1, output_tokens=1))
    assert judge.from_reply(CASE, reply) == judge.judge(CASE)
    assert {judgement.prompt_hash for judgement in judge.judge(CASE)} == {PROMPT.hash}


def test_a_batch_without_an_answer_is_told_the_same_way():
    spent = Spend(calls=1, input_tokens=8)
    judgements = a_judge(scripted(), *TOGETHER, mode="combined").from_reply(CASE, NoAnswer("truncated", "", spent))
    assert [judgement.outcome.reason for judgement in judgements] == ["truncated"] * 3
    assert total(judgements) == spent


# --- what it costs ---------------------------------------------------------------------------------------------------


def test_one_call_is_shared_out_in_whole_tokens():
    used = Spend(calls=1, input_tokens=1000, output_tokens=101, cost=0.3)
    first, second, third = a_judge(PricedModel(scripted(), used), *TOGETHER, mode="combined").judge(CASE)
    assert first.spend == Spend(calls=1, input_tokens=334, output_tokens=35, cost=pytest.approx(0.1))
    assert second.spend == third.spend == Spend(calls=0, input_tokens=333, output_tokens=33, cost=pytest.approx(0.1))


amounts = st.integers(0, 10**9)
costs = st.none() | st.floats(0, 1e6)
spends = st.builds(Spend, calls=amounts, input_tokens=amounts, output_tokens=amounts, cost=costs)


@given(spends, st.integers(2, 3))
def test_shares_sum_to_the_whole(spend: Spend, count: int):
    parts = shares(spend, count)
    summed = reduce(add, parts)
    assert len(parts) == count
    for counted in ("calls", "input_tokens", "output_tokens"):
        assert getattr(summed, counted) == getattr(spend, counted)
    assert summed.cost == (None if spend.cost is None else pytest.approx(spend.cost))


def test_a_metric_is_a_plain_function_of_case_and_asking():
    assert all(isinstance(metric, Callable) and metric.__doc__ for metric in METRICS.values())
