"""The adapter with real files: tiny cross-encoders, written by the tests and run by onnxruntime."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest

from monitor.assess.rerank.onnx import OnnxReranker
from monitor.core.errors import WrongSettings
from tests.factories.assess.tiny_model import TinyModel, byte_tokenizer, word_tokenizer
from tests.rig.assess.recorded import recorded

RANKS = TinyModel(tokenizer=word_tokenizer(), ranks=True)
QUESTION = "Which day are returns free?"
HIGH, LOW = 1 / (1 + np.exp(-4)), 1 / (1 + np.exp(4))


@pytest.fixture
def reranker(tmp_path):
    """Writes a model and loads it."""

    def loaded(model, **options):
        return OnnxReranker(model.write(tmp_path / "model"), **{"threads": 1, "device": "cpu"} | options)

    return loaded


@pytest.mark.parametrize("typed", [True, False])
def test_a_score_is_the_logistic_function_of_the_logit(reranker, typed):
    scores = reranker(RANKS.but(typed=typed)).rank(QUESTION, ["Returns are free.", "Zoe pays.", ""])
    assert scores == [pytest.approx(LOW), pytest.approx(LOW), 0]
    scores = reranker(RANKS.but(typed=typed)).rank(QUESTION, ["Are returns free?", "Zoe pays."])
    assert scores == [pytest.approx(HIGH), pytest.approx(LOW)]


def test_the_best_window_of_a_long_text_counts(reranker):
    text = "Zoe pays 42 euros. " * 20 + "Returns free? " * 30 + "Parcels arrive on tuesday. " * 8
    assert reranker(RANKS, max_tokens=64).rank(QUESTION, [text, "Zoe pays 42 euros. " * 40]) == [
        pytest.approx(HIGH),
        pytest.approx(LOW),
    ]


def test_a_long_question_leaves_half_of_the_input_to_the_text(reranker):
    loaded = reranker(RANKS, max_tokens=64)
    shapes = recorded(loaded)
    assert loaded.rank("returns " * 500, ["free " * 500]) == [pytest.approx(LOW)]
    assert {width for _, width in shapes} <= {*range(65)}


def test_what_stands_for_a_separator_is_read_as_text(reranker):
    assert reranker(RANKS).rank(QUESTION, ["[SEP] Are returns free?"])[0] == pytest.approx(LOW)


def test_runs_are_no_larger_than_the_budget(reranker):
    loaded = reranker(RANKS)
    shapes = recorded(loaded)
    loaded.rank(QUESTION, ["returns are free " * count for count in range(50)])
    assert all(rows == 1 or rows * width <= loaded._model.budget for rows, width in shapes)
    assert max(rows for rows, _ in shapes) > 1


def test_a_run_that_fails_gives_no_scores_and_is_said_once(reranker, caplog):
    loaded = reranker(RANKS)
    session = loaded._model.session

    class OutOfMemory:
        def run(self, *_):
            raise RuntimeError("Failed to allocate memory")

    loaded._model.session = OutOfMemory()
    assert [loaded.rank(QUESTION, ["Returns."]) for _ in range(3)] == [None] * 3
    assert caplog.text.count("keep their order: Failed to allocate") == 1
    loaded._model.session = session
    assert loaded.rank(QUESTION, ["Returns"]) == [pytest.approx(HIGH)]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_no_number_gives_no_scores(reranker, value):
    loaded = reranker(RANKS)
    session = loaded._model.session

    class Overflowing:
        def run(self, names, feed):
            return [np.full_like(session.run(names, feed)[0], value)]

    loaded._model.session = Overflowing()
    assert loaded.rank(QUESTION, ["Returns.", ""]) is None


def test_the_name_changes_with_everything_that_the_scores_depend_on(reranker):
    plain = reranker(RANKS).model
    assert plain.startswith("tiny/")
    assert reranker(RANKS, threads=2).model == plain
    others = {reranker(RANKS, max_tokens=100).model, reranker(RANKS.but(tokenizer=byte_tokenizer())).model}
    assert len({plain, *others}) == 3


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (RANKS.but(constant=float("nan")), "returns no numbers"),
        (RANKS.but(batch=1), "fails to run"),
        (RANKS.but(config={"vocab_size": 30}), "do not belong together"),
        (RANKS.but(ranks=False, pairs=True), "a reranker has one label"),
        (RANKS.but(ranks=False), "a reranker is a …ForSequenceClassification"),
        (RANKS.but(input_names=("ids", "attention_mask", "token_type_ids")), "a reranker has input_ids"),
        (RANKS.but(ranks=False, pairs=True, labels=("relevance",)), "fails to run .*shape"),
        (RANKS.but(config={"max_position_embeddings": 50}), "MONITOR_RERANKER__MAX_TOKENS"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(reranker, model, problem):
    with pytest.raises(WrongSettings, match=problem):
        reranker(model)


def test_a_missing_file_names_the_setting_and_the_page(tmp_path):
    with pytest.raises(WrongSettings, match=r"MONITOR_RERANKER__PATH: .*is missing.*monitor docs quality/reranker"):
        OnnxReranker(tmp_path)


def test_a_gpu_that_is_not_there_names_the_setting(reranker, monkeypatch):
    monkeypatch.setattr(ort, "get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(WrongSettings, match="MONITOR_RERANKER__DEVICE is cuda"):
        reranker(RANKS, device="cuda")
