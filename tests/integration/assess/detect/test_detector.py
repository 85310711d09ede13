"""The adapter with real files: tiny models, written by the tests and run by onnxruntime."""

from __future__ import annotations

import json

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, load, save_model
from onnx.external_data_helper import set_external_data

from monitor.assess.detect import onnx
from monitor.assess.detect.detection import Claim, DetectedSpan, Detection
from monitor.assess.detect.onnx import OnnxDetector
from monitor.core.errors import Retriable, WrongSettings
from tests.factories.assess.tiny_model import TinyModel, byte_tokenizer, word_tokenizer
from tests.rig.assess.recorded import recorded

SURE, SURE_PAIR = 1 / (1 + np.exp(-8)), 1 - 1 / (1 + 2 * np.exp(8))  # of two labels at ±4, of three
PLAIN = "{documents}"
TOKENS = TinyModel(tokenizer=word_tokenizer())
BYTES = TinyModel(tokenizer=byte_tokenizer())
PAIRS = TinyModel(tokenizer=word_tokenizer(), pairs=True)
MONDAY, PAYS = "The shop opens on Monday.", "Zoë pays 42 euros."


@pytest.fixture
def detector(tmp_path):
    """Writes a model and loads it."""

    def loaded(model, **options):
        return OnnxDetector(model.write(tmp_path / "model"), **{"threads": 1, "device": "cpu"} | options)

    return loaded


def claim(answer, *documents, question="Which day?"):
    return Claim(question=question, answer=answer, documents=documents)


def flagged(found, answer):
    return [answer[span.start : span.end] for span in found.spans]


def close(found, others):
    for one, other in zip(found, others, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.score == pytest.approx(other.score, abs=1e-6)
            assert [(it.start, it.end) for it in one.spans] == [(it.start, it.end) for it in other.spans]


@pytest.mark.parametrize("typed", [True, False])
def test_a_token_classifier_flags_what_no_document_carries(detector, typed):
    answer = "The shop opens on Tuesday at nine."
    (found,) = detector(TOKENS.but(typed=typed), prompt=PLAIN).detect([claim(answer, MONDAY, PAYS)])
    assert found == Detection(
        score=pytest.approx(SURE),
        spans=(DetectedSpan(start=18, end=33, probability=pytest.approx(SURE)),),
    )
    assert flagged(found, answer) == ["Tuesday at nine"]


@pytest.mark.parametrize("typed", [True, False])
def test_a_cross_encoder_flags_sentences_that_no_document_entails(detector, typed):
    answer = f"{PAYS} The shop opens on Tuesday. {MONDAY}"
    (found,) = detector(PAIRS.but(typed=typed)).detect([claim(answer, MONDAY, PAYS)])
    assert found.score == pytest.approx(SURE_PAIR)
    assert flagged(found, answer) == ["The shop opens on Tuesday."]


@pytest.mark.parametrize("model", [TOKENS, BYTES, PAIRS])
def test_a_carried_answer_is_not_flagged(detector, model):
    (found,) = detector(model).detect([claim(f"{PAYS} {MONDAY}", f"{MONDAY} {PAYS}")])
    assert found.score < 0.001
    assert found.spans == ()


def test_entailment_is_where_the_config_says(detector):
    labels = ("contradiction", "entailment", "neutral")
    loaded = detector(PAIRS.but(labels=labels, entailed=1))
    good, bad = loaded.detect([claim(MONDAY, MONDAY), claim(PAYS, MONDAY)])
    assert (good.spans, flagged(bad, PAYS)) == ((), [PAYS])


def test_labels_of_tokens_are_where_the_config_says(detector):
    good, bad = detector(TOKENS.but(labels=("hallucinated", "supported")), prompt=PLAIN).detect(
        [claim("Tuesday", MONDAY), claim("Monday", MONDAY)]
    )
    assert (good.spans, flagged(bad, "Monday")) == ((), ["Monday"])


@pytest.mark.parametrize(
    ("answer", "documents", "expected"),
    [
        ("Zoë\u0301 páys 🎉 on Tuesday, Zoé.", ["Zoe pays on , ."], ["🎉", "Tuesday"]),
        ("店舗は火曜日に開きます。", ["店舗は月曜日に開きます。"], ["火"]),
        ("  Zoë\n\n🚚\tpays ", ["Zoe"], ["🚚\tpays"]),
        ("pays\ud800 Zoë", ["Zoe"], ["pays"]),  # a tokeniser that drops what it cannot read
    ],
)
def test_offsets_are_those_of_the_answers_characters(detector, answer, documents, expected):
    (found,) = detector(TOKENS, prompt=PLAIN).detect([claim(answer, *documents)])
    assert flagged(found, answer) == expected


def test_offsets_are_right_where_characters_are_several_tokens(detector):
    answer = "Zoë 🎉 店舗"
    (found,) = detector(BYTES, prompt=PLAIN).detect([claim(answer, "Zo \u00eb")])
    assert flagged(found, answer) == ["🎉 店舗"]  # white space is neither carried nor not


def test_a_token_is_carried_where_any_window_carries_it(detector):
    documents = ["Parcels arrive on Tuesday. " * 40, "Returns are free. " * 40, f"{PAYS} " * 2]
    answer = "Zoë pays. Returns are free on Monday."
    loaded = detector(TOKENS, prompt=PLAIN, max_tokens=96)
    assert loaded._classifier.claim_inputs(claim(answer, *documents)).count > 3
    assert flagged(loaded.detect([claim(answer, *documents)])[0], answer) == ["Monday"]


def test_a_sentence_is_carried_where_any_window_entails_it(detector):
    document = "Parcels arrive on Tuesday. " * 40 + f"{PAYS} " + "Returns are free. " * 40
    answer = f"Returns are free. {PAYS} Zoë arrive at nine."
    (found,) = detector(PAIRS, max_tokens=64).detect([claim(answer, document)])
    assert flagged(found, answer) == ["Zoë arrive at nine."]


def test_the_models_own_reach_is_never_passed(detector):
    loaded = detector(TOKENS.but(config={"max_position_embeddings": 96}), prompt=PLAIN)
    shapes = recorded(loaded)
    loaded.detect([claim(f"{PAYS} " * 50, f"{MONDAY} " * 50)])
    assert max(width for _, width in shapes) <= 96


@pytest.mark.parametrize("model", [TOKENS, BYTES, PAIRS])
def test_claims_together_give_the_same_as_one_by_one(detector, model):
    loaded = detector(model, max_tokens=480)
    claims = [
        claim(f"{PAYS} The shop opens at ten." * (number % 5), *[f"{MONDAY} {PAYS}"[number:]] * (number % 7))
        for number in range(40)
    ]
    together = loaded.detect(claims)
    assert sum(found is not None for found in together) > 20
    close(together, [loaded.detect([it])[0] for it in claims])


def test_no_run_is_larger_than_the_budget_unless_it_is_one_input(detector):
    loaded = detector(TOKENS)
    shapes = recorded(loaded)
    loaded.detect([claim(f"{PAYS} " * count, f"{MONDAY} " * count) for count in range(1, 40)])
    assert all(rows == 1 or rows * width <= loaded._model.budget for rows, width in shapes)
    assert max(rows for rows, _ in shapes) > 1


def test_many_claims_are_read_in_groups(detector, monkeypatch):
    loaded = detector(PAIRS)
    claims = [claim(f"{PAYS} {MONDAY}", *[MONDAY] * (number % 4)) for number in range(30)]
    whole = loaded.detect(claims)
    monkeypatch.setattr(onnx, "_INPUTS_PER_GROUP", 5)
    close(loaded.detect(claims), whole)


@pytest.mark.parametrize("model", [TOKENS, PAIRS])
def test_claims_without_documents_or_answer_get_no_detection(detector, model):
    loaded = detector(model)
    assert loaded.detect([]) == []
    empty = [claim("", MONDAY), claim(" \n", MONDAY), claim(PAYS), claim(PAYS, "", " ")]
    assert loaded.detect([*empty, claim(PAYS, PAYS), *empty])[:4] == [None] * 4
    assert loaded.detect([*empty, claim(PAYS, PAYS), *empty])[4].spans == ()


@pytest.mark.parametrize("model", [TOKENS, BYTES, PAIRS])
def test_texts_too_long_are_not_read_and_do_no_harm(detector, model):
    loaded = detector(model, max_inputs=20)
    hostile = [
        claim("a. " * 60_000, MONDAY),
        claim(PAYS, "a" * 190_000),
        claim("a" * 190_000, MONDAY),
        claim("." * 190_000, "." * 9_000),
        claim(PAYS, *["b" * 100_000] * 30),
        claim(PAYS, MONDAY, question="?" * 190_000),
    ]
    found = loaded.detect([*hostile, claim(MONDAY, MONDAY)])
    assert found[4] is None
    assert found[-1].spans == ()
    assert all(it is None or 0 <= it.score <= 1 for it in found)
    if model is not PAIRS:
        assert found[5] is not None  # a question may be as long as it likes


@pytest.mark.parametrize("chars", [42, 43])
def test_the_longest_claim_is_a_setting(detector, chars):
    (found,) = detector(TOKENS, max_input_chars=chars).detect([claim("Zoë.", MONDAY, "123", question="?" * 11)])
    assert (found is None) == (chars < 43)


def test_a_model_that_returns_no_number_gives_no_detection(detector):
    loaded = detector(TOKENS)
    session = loaded._model.session

    class Overflowing:
        def run(self, names, feed):
            return [np.full_like(session.run(names, feed)[0], np.nan)]

    loaded._model.session = Overflowing()
    assert loaded.detect([claim(MONDAY, MONDAY)]) == [None]


def test_a_run_that_fails_may_be_tried_again(detector):
    loaded = detector(TOKENS)

    class OutOfMemory:
        def run(self, *_):
            raise RuntimeError("Failed to allocate memory")

    loaded._model.session = OutOfMemory()
    with pytest.raises(Retriable, match=r"tiny/[0-9a-f]{12} failed to run: Failed to allocate"):
        loaded.detect([claim(MONDAY, MONDAY)])


def test_the_name_changes_with_everything_that_the_scores_depend_on(detector):
    plain = detector(TOKENS).model
    assert plain.startswith("tiny/")
    assert detector(TOKENS, max_inputs=7, threads=2).model == plain
    others = {detector(TOKENS, max_tokens=200).model, detector(TOKENS, prompt=PLAIN).model, detector(BYTES).model}
    assert len({plain, *others}) == 4
    assert detector(TOKENS, max_tokens=512).model == plain  # the model reads no more


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_model_without_numbers_is_refused(detector, value):
    with pytest.raises(WrongSettings, match="returns no numbers"):
        detector(TOKENS.but(constant=value))


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (
            TOKENS.but(input_names=("ids", "attention_mask", "token_type_ids")),
            "has the inputs attention_mask, ids, token_type",
        ),
        (TOKENS.but(batch=1), "fails to run"),
        (TOKENS.but(config={"vocab_size": 30}), "do not belong together"),
        (TOKENS.but(config={"architectures": ["TinyForSequenceClassification"]}), "`entailment`"),
        (PAIRS.but(config={"architectures": ["TinyForTokenClassification"]}), "which labels"),
        (TOKENS.but(labels=("O", "unsupported", "unsure")), "fails to run .*shape"),
        (PAIRS.but(labels=("entailment", "other")), "fails to run .*shape"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(detector, model, problem):
    with pytest.raises(WrongSettings, match=problem):
        detector(model)


def test_the_only_output_may_have_any_name(detector):
    assert detector(TOKENS.but(output_name="scores")).detect([claim(MONDAY, MONDAY)])[0].spans == ()


def test_one_of_several_outputs_must_be_the_logits(tmp_path):
    folder = TOKENS.but(output_name="scores").write(tmp_path / "model")
    graph = load(str(folder / "model.onnx"))
    graph.graph.output.append(helper.make_tensor_value_info("carried", TensorProto.FLOAT, None))
    graph.graph.node.append(helper.make_node("Identity", ["scores"], ["carried"]))
    save_model(graph, str(folder / "model.onnx"))
    with pytest.raises(WrongSettings, match="has the outputs scores, carried but no logits"):
        OnnxDetector(folder)


def test_weights_may_be_in_a_file_next_to_the_graph(tmp_path):
    folder = TOKENS.write(tmp_path / "model")
    whole = OnnxDetector(folder)
    graph = load(str(folder / "model.onnx"))
    for weight in graph.graph.initializer:
        if weight.data_type == TensorProto.FLOAT:  # the others say how, which onnxruntime wants in the graph
            set_external_data(weight, "model.onnx_data")
    save_model(graph, str(folder / "model.onnx"))
    assert (folder / "model.onnx_data").stat().st_size > 0
    apart = OnnxDetector(folder)
    assert apart.model != whole.model
    close(apart.detect([claim("Tuesday", MONDAY)]), whole.detect([claim("Tuesday", MONDAY)]))
    (folder / "model.onnx_data").unlink()
    with pytest.raises(WrongSettings, match="cannot load it"):
        OnnxDetector(folder)


@pytest.mark.parametrize("content", [b"", b"no graph", b"\x08\x09"])
def test_a_file_that_is_no_graph_is_refused(tmp_path, content):
    folder = TOKENS.write(tmp_path / "model")
    (folder / "model.onnx").write_bytes(content)
    with pytest.raises(WrongSettings, match=r"model\.onnx"):
        OnnxDetector(folder)


def test_a_tokenizer_of_another_model_is_refused(tmp_path):
    folder = TOKENS.write(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    byte_tokenizer().save(str(folder / "tokenizer.json"))
    assert config["vocab_size"] < byte_tokenizer().get_vocab_size()
    with pytest.raises(WrongSettings, match="do not belong together"):
        OnnxDetector(folder)


class TestDevice:
    def test_without_a_gpu_the_detector_runs_on_the_cpu(self, detector, monkeypatch):
        monkeypatch.setattr(ort, "get_available_providers", lambda: ["AzureExecutionProvider", "CPUExecutionProvider"])
        assert detector(TOKENS, device="auto").device == "cpu"

    def test_a_gpu_that_onnxruntime_does_not_know_is_an_error(self, detector, monkeypatch):
        monkeypatch.setattr(ort, "get_available_providers", lambda: ["CPUExecutionProvider"])
        with pytest.raises(WrongSettings, match=r"DEVICE is cuda.*rag-monitor\[gpu\]"):
            detector(TOKENS, device="cuda")

    @pytest.mark.filterwarnings("ignore:Specified provider")
    @pytest.mark.skipif("CUDAExecutionProvider" in ort.get_available_providers(), reason="this machine has one")
    def test_a_gpu_out_of_reach_is_an_error_if_the_settings_ask_for_it(self, detector, monkeypatch, caplog):
        monkeypatch.setattr(ort, "get_available_providers", lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"])
        monkeypatch.setattr(ort, "preload_dlls", lambda: None)
        with pytest.raises(WrongSettings, match=r"DEVICE is cuda.*CUDA or cuDNN is missing"):
            detector(TOKENS, device="cuda")
        assert detector(TOKENS, device="auto").device == "cpu"
        assert "runs on the CPU" in caplog.text
