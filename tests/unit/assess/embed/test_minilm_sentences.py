"""Vectors of sentences from MiniLM's pass over the whole text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.assess.embed import minilm
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.sentences import sentences_of

SENTENCES = (
    "The museum opens at ten on weekdays.",
    "Children under twelve get in free.",
    "Parking behind the building costs two euros per hour.",
    "Dogs have to stay outside, but guide dogs may come in.",
    "The warranty on all laptops runs for two years.",
    "Refunds are paid to the card that you paid with.",
)
CHINESE = "今天下雨了明天晴后天"
NEAR = 0.8
SAME = 0.999  # half precision


@pytest.fixture(scope="module")
def encoder(encoder_cache):
    return MiniLMEmbedder(cache_dir=encoder_cache, threads=1)


def vectors(encoder, text):
    return encoder.sentences([text])[0].astype(np.float32)


def test_a_sentence_among_others_is_nearest_to_itself_alone(encoder):
    """Near, not the same: it has seen the sentences around it, here of five other subjects."""
    among = vectors(encoder, " ".join(SENTENCES))
    alone = np.concatenate([vectors(encoder, sentence) for sentence in SENTENCES])
    cosines = among @ alone.T
    others = np.where(np.eye(len(SENTENCES), dtype=bool), -1, cosines)
    assert (cosines.diagonal() - others.max(axis=1)).min() > 0.1
    assert cosines.diagonal().min() > 0.4


def test_sentences_on_one_subject_are_nearer_in_their_text_than_alone(encoder):
    text = (
        "Deleted snapshots are kept for 30 days. After that they cannot be restored. The trash is emptied every night."
    )
    among = vectors(encoder, text)
    alone = np.concatenate([vectors(encoder, text[slice(*span)]) for span in sentences_of(text)])
    assert ((among[:-1] * among[1:]).sum(axis=1) > (alone[:-1] * alone[1:]).sum(axis=1) + 0.1).all()


def test_the_vector_of_a_single_sentence_is_near_that_of_its_text(encoder):
    for sentence, embedded in zip(SENTENCES, encoder.embed(SENTENCES), strict=True):
        assert float(vectors(encoder, sentence)[0] @ embedded) > 0.9


def test_the_sentences_of_several_windows_are_all_there_and_near_themselves_alone(encoder):
    text = " ".join(SENTENCES * 12)  # about 800 word pieces
    among = vectors(encoder, text)
    alone = np.concatenate([vectors(encoder, sentence) for sentence in SENTENCES])
    assert len(among) == len(SENTENCES) * 12
    assert (among @ alone.T).argmax(axis=1).tolist() == list(range(len(SENTENCES))) * 12


def test_a_sentence_that_a_window_cuts_is_made_of_both_parts(encoder):
    text = CHINESE * 48  # one sentence of 480 characters, each a word piece
    assert len(sentences_of(text)) == 1
    windows = encoder._windows([text])
    assert len(windows.pieces) == 2
    first, rest = (text[spans[0, 0] : spans[-1, 1]] for spans in windows.spans)
    whole, parts = vectors(encoder, text)[0], [vectors(encoder, part)[0] for part in (first, rest)]
    assert float(whole @ parts[0]) > NEAR
    assert np.linalg.norm(whole - parts[0]) > 1e-3  # the second part counts too
    assert float(whole @ parts[1]) > NEAR


@pytest.mark.parametrize("unit", [f"{SENTENCES[0]} {SENTENCES[3]} ", f"{CHINESE}。", "Café crème, s'il vous plaît! "])
def test_a_text_in_several_segments_has_the_sentences_of_one(encoder, monkeypatch, unit):
    text = unit * 3
    whole = vectors(encoder, text)
    monkeypatch.setattr(minilm, "_SEGMENT_BYTES", len(unit.encode()) + 8)
    found = vectors(encoder, text)
    assert found.shape == whole.shape
    assert (found * whole).sum(axis=1).min() > NEAR


def test_one_pass_gives_the_sentences_that_are_asked_for_alone(encoder):
    texts = [" ".join(SENTENCES), "", CHINESE, SENTENCES[1]]
    for together, alone in zip(encoder.embed_and_encode(texts)[2], encoder.sentences(texts), strict=True):
        np.testing.assert_allclose(together.astype(np.float32), alone.astype(np.float32), atol=2e-3)


def test_a_text_s_sentences_do_not_depend_on_the_texts_beside_it(encoder):
    text = " ".join(SENTENCES)
    found = encoder.sentences([SENTENCES[2] * 30, text, "?"])[1].astype(np.float32)
    assert (found * vectors(encoder, text)).sum(axis=1).min() > SAME


@pytest.mark.parametrize("text", ["\x00", "\u200b", "One. \x00\x00"])
def test_a_sentence_without_a_token_has_a_row_of_zeros(encoder, text):
    found = vectors(encoder, text)
    assert len(found) == len(sentences_of(text))
    assert not found[-1].any()


@settings(max_examples=25)
@given(st.text(max_size=60) | st.text(alphabet=st.sampled_from("aB.\n 文。\x00\ud800\u0301🙂"), max_size=60))
def test_any_text_has_a_row_for_each_sentence(encoder, text):
    found = vectors(encoder, text)
    assert len(found) == len(sentences_of(text))
    lengths = np.linalg.norm(found, axis=1)
    assert ((np.abs(lengths - 1) < 2e-3) | (lengths == 0)).all()
