from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, processors

from monitor.assess.detect.claim_windows import Input
from monitor.assess.detect.tokenizer import PairTokenizer
from monitor.core.errors import WrongSettings
from tests.factories.assess.tiny_model import CLS, PAD, SEP, byte_tokenizer, word_tokenizer

FIRST, SECOND = "The shop opens on Monday.", "Zoe pays 42 euros."


def whole(tokenizer, first, second):
    """Both texts as one input."""
    return Input(first=(tokenizer.tokens(first).ids,), second=tokenizer.tokens(second).ids)


def with_template(pair):
    tokenizer = word_tokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair=pair, special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return tokenizer


@pytest.mark.parametrize(
    "tokenizer",
    [
        word_tokenizer(),
        byte_tokenizer(),
        with_template("[CLS] $A [SEP] [SEP] $B [SEP]"),  # RoBERTa's
        with_template("[CLS]:1 $A:1 [SEP]:0 $B:0"),
        with_template("$A $B"),
        with_template("$A $B [SEP] [CLS]"),
    ],
)
@given(texts=st.tuples(st.text(), st.text()))
def test_the_feed_equals_the_librarys_encoding_of_the_pair(tokenizer, texts):
    mine = PairTokenizer(tokenizer)
    feed = mine.feed([whole(mine, *texts)])
    theirs = tokenizer.encode(*texts)
    assert feed.ids.tolist() == [theirs.ids]
    assert feed.types.tolist() == [theirs.type_ids]
    assert feed.mask.tolist() == [theirs.attention_mask]
    second = [place for place, sequence in enumerate(theirs.sequence_ids) if sequence == 1]
    assert list(range(feed.seconds[0].start, feed.seconds[0].stop)) == second
    assert len(theirs.ids) == whole(mine, *texts).size + mine.special


def test_short_inputs_are_filled_up_on_the_right():
    tokenizer = PairTokenizer(word_tokenizer(), padding=77)
    long, short = whole(tokenizer, FIRST, SECOND), whole(tokenizer, "Monday", "nine")
    feed = tokenizer.feed([long, short])
    (alone,) = tokenizer.feed([short]).ids.tolist()
    assert feed.ids.shape == feed.mask.shape == feed.types.shape == (2, long.size + 3)
    assert feed.ids[1].tolist() == alone + [77] * (long.size - short.size)
    assert feed.mask.sum(1).tolist() == [long.size + 3, short.size + 3]
    assert feed.types[1].tolist() == [0, 0, 0, 1, 1] + [0] * (long.size - short.size)


def test_a_first_sequence_in_parts_is_their_sum():
    tokenizer = PairTokenizer(word_tokenizer())
    ids = tokenizer.tokens(FIRST).ids
    parts = Input(first=(ids[:2], ids[2:2], ids[2:]), second=tokenizer.tokens(SECOND).ids)
    assert tokenizer.feed([parts]).ids.tolist() == tokenizer.feed([whole(tokenizer, FIRST, SECOND)]).ids.tolist()


def test_truncation_and_padding_of_the_file_are_off():
    tokenizer = word_tokenizer()
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=64)
    assert len(PairTokenizer(tokenizer).tokens(FIRST).ids) == 6


def test_offsets_count_characters_whatever_became_of_them():
    text = "Zoë  pay\u0301s 🎉 🚚 \ud800店舗."
    tokens = PairTokenizer(word_tokenizer()).tokens(text)
    assert [text[start:end] for start, end in tokens.offsets] == ["Zoë", "pay\u0301s", "🎉", "🚚", "店", "舗", "."]


def test_a_lone_surrogate_is_read_as_a_replacement_character():
    assert PairTokenizer(byte_tokenizer()).tokens("\ud800x").offsets == ((0, 1), (0, 1), (0, 1), (1, 2))


def test_special_tokens_in_a_text_are_text():
    tokenizer = byte_tokenizer()
    tokenizer.add_special_tokens(["[SEP]"])
    assert SEP in tokenizer.encode("a [SEP] b", add_special_tokens=False).ids
    assert SEP not in PairTokenizer(tokenizer).tokens("a [SEP] b").ids


def test_bytes_of_one_character_share_its_offsets():
    tokens = PairTokenizer(byte_tokenizer()).tokens("é🎉x")
    assert tokens.offsets == ((0, 1), (0, 1), (1, 2), (1, 2), (1, 2), (1, 2), (2, 3))


def test_the_largest_id_counts_added_tokens():
    tokenizer = word_tokenizer()
    size = tokenizer.get_vocab_size()
    tokenizer.add_special_tokens(["[NEW]"])
    assert PairTokenizer(tokenizer).largest == size
    assert np.iinfo(np.int32).max > size > PAD


def test_a_tokenizer_that_puts_the_second_first_is_refused():
    with pytest.raises(WrongSettings, match="two sequences"):
        PairTokenizer(with_template("[CLS] $B [SEP] $A [SEP]"))


def test_a_tokenizer_without_words_is_refused():
    with pytest.raises(WrongSettings, match="two plain letters"):
        PairTokenizer(Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="")))


def test_a_file_that_is_no_tokenizer_is_named(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text('{"version": "1.0"}', encoding="utf-8")
    with pytest.raises(
        WrongSettings, match=r"tokenizer\.json: not a file of the tokenizers library .* exported with the model"
    ):
        PairTokenizer.from_file(path)
