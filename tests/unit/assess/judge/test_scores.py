"""Every answer of a model gives a score in its range, or no score and a reason."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.judge.combined import Combined
from monitor.assess.judge.metrics.answer_relevance import mean_similarity
from monitor.assess.judge.metrics.chunk_relevance import Verdicts as Relevances
from monitor.assess.judge.metrics.context_entity_recall import Entities
from monitor.assess.judge.metrics.context_precision import Verdicts as Usefulness
from monitor.assess.judge.metrics.context_precision import average_precision
from monitor.assess.judge.metrics.context_recall import Attribution
from monitor.assess.judge.metrics.context_relevance import Choice, needed_share, sentences_of
from monitor.assess.judge.metrics.faithfulness import Statements, Verdicts
from monitor.assess.judge.metrics.summarization import Questions, conciseness
from monitor.assess.judge.metrics.summarization import Verdicts as Answers
from monitor.assess.judge.registry import METRICS
from tests.factories.assess.judge import a_case, a_judge, scripted

REASONS = {
    "empty_question",
    "empty_answer",
    "no_documents",
    "no_reference",
    "refusal",
    "no_statements",
    "no_questions",
    "no_entities",
    "incomplete",
}
words = st.sampled_from(["", " ", "A.", "a.", "Is it?", "ß", "SS"])
texts = st.sampled_from(["", "\n", "One. Two.", "短い。長い。", "Open from nine."])
numbers = st.integers(-1, 4)


def form(of, **fields):
    return st.fixed_dictionaries(fields).map(of.model_validate).map(lambda value: value.model_dump_json())


def rows(**fields):
    return st.lists(st.fixed_dictionaries(fields), max_size=4)


relevances = form(
    Relevances,
    chunks=rows(number=numbers, why=words, score=st.floats(-0.1, 1.1))
    | st.lists(st.floats(0, 1), max_size=4).map(
        lambda scores: [{"number": n, "why": "", "score": score} for n, score in enumerate(scores, start=1)]
    ),
)
stated = rows(statement=words, why=words, supported=st.booleans())
answers = st.fixed_dictionaries(
    {
        "faithfulness_statements": form(Statements, statements=st.lists(words, max_size=4)),
        "faithfulness_verdicts": form(Verdicts, verdicts=rows(number=numbers, why=words, supported=st.booleans())),
        "answer_relevance": form(Questions, questions=st.lists(words, max_size=4)),
        "context_relevance": form(Choice, needed=st.lists(numbers, max_size=4), insufficient=st.booleans()),
        "context_recall": form(Attribution, statements=stated),
        "context_usefulness": form(Usefulness, verdicts=rows(number=numbers, why=words, useful=st.booleans())),
        "context_entity_recall": form(
            Entities, reference=st.lists(words, max_size=4), documents=st.lists(words, max_size=4)
        ),
        "summarization_questions": form(Questions, questions=st.lists(words, max_size=4)),
        "summarization_answers": form(Answers, answers=rows(number=numbers, yes=st.booleans())),
        "chunk_relevance_first": relevances,
        "chunk_relevance_reflection": relevances,
        "chunk_relevance_critic": relevances,
        "combined": form(
            Combined,
            statements=stated,
            questions=st.lists(words, max_size=4),
            needed=st.lists(numbers, max_size=4),
            insufficient=st.booleans(),
        ),
    }
)
cases = st.builds(
    a_case,
    question=texts,
    answer=texts,
    documents=st.lists(texts, max_size=3).map(tuple),
    reference=st.none() | texts,
    refuses=st.booleans(),
)


@given(cases, answers, st.sampled_from(["separate", "combined"]))
def test_a_score_in_its_range_or_none_and_a_reason(case, given_answers, mode):
    model = scripted(**given_answers)
    judgements = a_judge(model, mode=mode).judge(case)
    assert [judgement.metric for judgement in judgements] == list(METRICS)
    for judgement in judgements:
        outcome = judgement.outcome
        if outcome.score is None:
            assert outcome.reason in REASONS
        else:
            assert outcome.reason is None
            assert outcome.parts
            lowest = -1 if judgement.metric == "answer_relevance" else 0
            assert lowest <= outcome.score <= 1
    assert sum(judgement.spend.calls for judgement in judgements) == len(model.asked)


@given(
    st.lists(st.booleans(), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=6),
    st.randoms(),
    st.booleans(),
)
def test_faithfulness_is_a_share_exactly_where_each_statement_has_one_verdict(truth, noise, random, whole):
    verdicts = [*enumerate(truth, start=1)] if whole else noise
    random.shuffle(verdicts)
    model = scripted(
        faithfulness_statements={"statements": [f"Statement {n}." for n in range(len(truth))]},
        faithfulness_verdicts={"verdicts": [{"number": n, "why": "", "supported": yes} for n, yes in verdicts]},
    )
    (judgement,) = a_judge(model, "faithfulness").judge(a_case())
    if sorted(n for n, _ in verdicts) == [*range(1, len(truth) + 1)]:
        assert judgement.outcome.score == sum(yes for _, yes in verdicts) / len(truth)
    else:
        assert (judgement.outcome.score, judgement.outcome.reason) == (None, "incomplete")


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_average_precision_is_the_textbook_sum(useful):
    gains = np.array(useful, float)
    precision = np.cumsum(gains) / np.arange(1, len(gains) + 1)
    expected = float((precision * gains).sum() / gains.sum()) if gains.any() else 0.0
    assert average_precision(useful) == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=2, max_size=8).filter(lambda useful: True in useful[1:]))
def test_a_useful_document_that_moves_up_never_lowers_average_precision(useful):
    place = useful.index(True, 1)
    better = [*useful]
    better[place - 1], better[place] = better[place], better[place - 1]
    assert average_precision(better) >= average_precision(useful) - 1e-12


@given(st.lists(texts.filter(str.strip), min_size=1, max_size=3), st.data())
def test_context_relevance_is_the_share_of_the_sentences_chosen(documents, data):
    sentences = sentences_of(documents)
    chosen = data.draw(st.lists(st.integers(1, len(sentences)), min_size=1))
    outcome = needed_share(sentences, chosen, insufficient=False)
    assert outcome.score == len(set(chosen)) / len(sentences)
    for part in outcome.parts["sentences"]:
        assert documents[part["document"]][part["start"] : part["end"]] == part["text"]


def test_rounding_takes_no_similarity_past_one():
    outcome = mean_similarity("q", ["a", "b"], lambda _, others: [1.0000001] * len(others))
    assert outcome.score == 1.0
    outcome = mean_similarity("q", ["a"], lambda _, others: [-1.0000001] * len(others))
    assert outcome.score == -1.0


@given(st.text(), st.text(min_size=1))
def test_conciseness_lies_between_nothing_said_and_nothing_left_out(summary, text):
    value = conciseness(summary, text)
    assert 0 <= value <= 1
    assert (value == 0) == (len(summary) >= len(text))
    assert (value == 1) == (not summary)
    assert math.isclose(value * len(text), max(len(text) - len(summary), 0), abs_tol=1e-9)
