from __future__ import annotations

import json

import pytest

from monitor.assess.detect.model_folder import model_folder
from monitor.core.errors import WrongSettings

TOKENS, PAIRS = ["ModernBertForTokenClassification"], ["DebertaV2ForSequenceClassification"]
NLI = {"0": "contradiction", "1": "entailment", "2": "neutral"}


@pytest.fixture
def folder(tmp_path):
    """Writes a folder whose graph and tokenizer are never read."""

    def write(place="model", **config):
        path = tmp_path / place
        path.mkdir(exist_ok=True)
        (path / "model.onnx").write_bytes(b"graph")
        (path / "tokenizer.json").write_bytes(b"tokenizer")
        (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
        return path

    return write


def test_a_token_classifier_whose_labels_have_no_names_is_a_lettucedetect(folder):
    found = model_folder(
        folder(architectures=TOKENS, max_position_embeddings=8192, vocab_size=50368, pad_token_id=50283)
    )
    assert (found.kind, found.label_count, found.labels) == ("token classifier", 2, (1,))
    assert (found.positions, found.vocabulary, found.padding) == (8192, 50368, 50283)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["LABEL_0", "LABEL_1"], (1,)),
        (["supported", "hallucinated"], (1,)),
        (["Hallucination", "O"], (0,)),
        (["O", "B-HALLUCINATION", "I-HALLUCINATION"], (1, 2)),
        (["not_hallucinated", "hallucinated"], (1,)),
        (["UNSUPPORTED", "SUPPORTED"], (0,)),
        (["grounded", "not grounded"], (1,)),
    ],
)
def test_labels_of_tokens_that_are_not_carried_are_found_by_name(folder, names, labels):
    found = model_folder(folder(architectures=TOKENS, id2label=dict(enumerate(names))))
    assert found.labels == labels
    assert found.label_count == len(names)


@pytest.mark.parametrize(
    "names",
    [["O", "B-PER", "I-PER"], ["LABEL_0", "LABEL_1", "LABEL_2"], ["hallucinated"], ["unsupported", "not supported"]],
)
def test_labels_that_cannot_be_told_are_refused(folder, names):
    with pytest.raises(WrongSettings, match=r"config\.json: id2label is .*give those"):
        model_folder(folder(architectures=TOKENS, id2label=dict(enumerate(names))))


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (["contradiction", "entailment", "neutral"], 1),
        (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], 0),
        (["entailment", "not_entailment"], 0),
        (["non-entailment", "Entailed"], 1),
    ],
)
def test_the_label_of_entailment_is_found_by_name(folder, names, label):
    found = model_folder(folder(architectures=PAIRS, id2label=dict(enumerate(names))))
    assert (found.kind, found.label_count, found.labels) == ("cross-encoder", len(names), (label,))


@pytest.mark.parametrize("names", [["LABEL_0", "LABEL_1"], ["entailment"], ["entailed", "entails"], ["no", "yes"]])
def test_a_cross_encoder_without_it_is_refused(folder, names):
    with pytest.raises(WrongSettings, match=r"config\.json: id2label is .*`entailment`"):
        model_folder(folder(architectures=PAIRS, id2label=dict(enumerate(names))))


def test_labels_without_names_are_refused(folder):
    with pytest.raises(WrongSettings, match="id2label is LABEL_0, LABEL_1"):
        model_folder(folder(architectures=PAIRS))


@pytest.mark.parametrize("id2label", [{"1": "entailment", "2": "neutral"}, ["entailment"], "entailment"])
def test_labels_are_numbered_from_zero(folder, id2label):
    with pytest.raises(WrongSettings, match="each label by its number"):
        model_folder(folder(architectures=PAIRS, id2label=id2label))


@pytest.mark.parametrize("architectures", [None, [], ["BertForMaskedLM"], "BertForTokenClassification"])
def test_a_model_of_another_kind_is_refused(folder, architectures):
    with pytest.raises(WrongSettings, match=r"config\.json: architectures is .*ForTokenClassification"):
        model_folder(folder(architectures=architectures))


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named(folder, name):
    path = folder(architectures=TOKENS)
    (path / name).unlink()
    with pytest.raises(WrongSettings, match=f"MONITOR_DETECTOR__PATH: .*{name} is missing.*optimum"):
        model_folder(path)


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(WrongSettings, match=r"nowhere/model\.onnx is missing"):
        model_folder(tmp_path / "nowhere")


@pytest.mark.parametrize("text", ["", "{", "[]", "\udcff"])
def test_a_config_that_is_none_is_refused(folder, text):
    path = folder(architectures=TOKENS)
    (path / "config.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(WrongSettings, match=r"config\.json: .*export it with optimum"):
        model_folder(path)


@pytest.mark.parametrize(
    ("config", "positions"),
    [
        ({}, None),
        ({"max_position_embeddings": -1}, None),
        ({"max_position_embeddings": 512, "model_type": "deberta-v2", "pad_token_id": 0}, 512),
        ({"max_position_embeddings": 514, "model_type": "roberta", "pad_token_id": 1}, 512),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1}, 512),
    ],
)
def test_how_much_it_reads_at_a_time(folder, config, positions):
    assert model_folder(folder(architectures=TOKENS, **config)).positions == positions


def test_the_name_is_that_of_the_exported_model(folder):
    assert (
        model_folder(folder(architectures=TOKENS, _name_or_path="KRLabsOrg/lettucedect-base")).name
        == "lettucedect-base"
    )
    assert model_folder(folder(architectures=TOKENS, _name_or_path="/models/mine/")).name == "mine"
    assert model_folder(folder(architectures=TOKENS)).name == TOKENS[0]


def test_the_digest_depends_on_the_files_and_not_on_their_folder(folder):
    path, other = (folder(place, architectures=TOKENS) for place in ("here", "there"))
    digest = model_folder(path).digest
    assert model_folder(other).digest == digest
    (path / "README.md").write_text("words", encoding="utf-8")
    assert model_folder(path).digest == digest
    for name in ("model.onnx", "tokenizer.json", "model.onnx_data"):
        (path / name).write_bytes(b"another")
        assert (before := digest) != (digest := model_folder(path).digest), name
        assert len(before) == 64
