"""The word pieces are those of the library `tokenizers`, numbers and places, whatever the text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from benchmarks.embedding.word_pieces import labelled_texts
from monitor.assess.embed.weights import CHARACTERS, TOKENIZER, shipped
from monitor.assess.embed.word_pieces import CACHED_WORDS, LONGEST_CACHED, WordPieces
from tests.rig.recorded import DATA
from tools.build_characters import SURROGATES, characters

STEP = 2_000  # words of a text
EACH = 5  # of the planes with letters, one character in so many: the table is compared for all
SAMPLE = 20  # one labelled text in so many; benchmarks/embedding/word_pieces.py compares all
MUSIC, TIBETAN = "\U0001d15e\U0001d160\U0001d165\U0001d16d\U0001d1bc\U0001d1bd", "\u0f73\u0f75\u0f81\u0fb2"
MARKS = f"\u0301\u0323\u0327\u0334\u0340\u0344\u034f\u035e\u1dfb\u302e\ua953\u1b44{MUSIC}{TIBETAN}"
ODD = (
    "aE[]#'\0\x01\t\x7f\x85\xa0\xad\u1680\u200b\u2028\u3000\ufffd\ue000\U000f0000Iİıßẞſ≠\u037e中﨑\U00020000ᄒ한각ﬁ½ΣςǄᾳ😀"
    f"{MARKS}"
)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@pytest.fixture(scope="module")
def ours():
    return WordPieces()


@pytest.fixture(scope="module")
def theirs():
    library = Tokenizer.from_file(str(shipped(TOKENIZER)))
    library.no_truncation()
    library.no_padding()

    def pieces(text):
        found = library.encode(text, add_special_tokens=False)
        return [[number, *span] for number, span in zip(found.ids, found.offsets, strict=True)]

    return pieces


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\r\n",
        "Hello, World! don't — stop; 3.5%",
        "Café nai\u0308ve Ünïcödé",
        "İstanbul'da ışık, straße ẞ, ﬁ ½",
        "中文字 ok 한국어 नमस्ते тест Ёж",
        "a\0b \x01 c\ufffdd zero\u200bwidth \ue000x \u2028y",
        "[CLS]x[SEP] [MASK][UNK] [[PAD]] [cls] [SEP",
        "𝔘𝔫𝔦 😀 𠀀 Ａ",
        "a" * 100 + " " + "a" * 101,
        "e\u0301" * 100 + " " + "é" * 101,
        "\u0301\u0301a ab\u0301 =\u0338 ≠",
        "the" * LONGEST_CACHED,
    ],
)
def test_pieces_and_places_are_those_of_the_library(ours, theirs, text):
    assert ours.pieces(text).tolist() == theirs(text)


def test_a_character_within_a_word_is_read_as_the_library_does_it(ours, theirs):
    every = [chr(code) for code in range(0, 0x3_4000, EACH) if code not in SURROGATES]
    for at in range(0, len(every), STEP):
        text = " ".join(f"a{it}b" for it in every[at : at + STEP])
        assert ours.pieces(text).tolist() == theirs(text)


@given(
    text=st.text()
    | st.text(ODD)
    | st.text(MARKS)
    | st.text("abc de.F")
    | st.lists(st.sampled_from([*SPECIAL, *ODD])).map("".join)
)
def test_no_text_is_read_otherwise_than_by_the_library(ours, theirs, text):
    assert ours.pieces(text).tolist() == theirs(text)


def test_labelled_texts_are_read_as_the_library_does_it(ours, theirs):
    if not DATA.is_dir():
        pytest.skip("no labelled texts: they are no part of the project; MONITOR_DATA_DIR names their folder")
    texts = labelled_texts(DATA)[::SAMPLE]
    assert len(texts) > 1_000
    for text in texts:
        assert ours.pieces(text).tolist() == theirs(text)


def test_made_up_words_fill_no_more_memory_than_the_cache_may_take(ours):
    for number in range(0, 2 * CACHED_WORDS, STEP):
        ours.pieces(" ".join(f"word{number + it}" for it in range(STEP)))
    held = ours._cached.cache_info().currsize
    ours.pieces(" ".join("x" * (LONGEST_CACHED + 1 + it) for it in range(STEP // 10)))
    assert held == ours._cached.cache_info().currsize == CACHED_WORDS


def test_the_table_that_ships_is_made_of_the_library():
    assert characters() == shipped(CHARACTERS).read_bytes()


def test_the_library_would_read_the_file_in_the_same_way():
    """What `WordPieces` does without looking: were the file another one, this would say what else to change."""
    read = json.loads(shipped(TOKENIZER).read_bytes())
    assert read["normalizer"] == {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    assert read["pre_tokenizer"] == {"type": "BertPreTokenizer"}
    assert {name: value for name, value in read["model"].items() if name != "vocab"} == {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    assert [token["content"] for token in read["added_tokens"]] == SPECIAL
    assert not any(
        token[name] for token in read["added_tokens"] for name in ("single_word", "lstrip", "rstrip", "normalized")
    )
