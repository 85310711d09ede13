from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.text.sentences import sentence_pieces, sentence_spans, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t ", []),
        ("One.", ["One."]),
        ("One", ["One"]),
        ("  One.  ", ["One."]),
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        ("Wait... Now.", ["Wait...", "Now."]),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("(See above.) Go on.", ["(See above.)", "Go on."]),
        ("»Ja.« „Nein.“ Gut.", ["»Ja.« „Nein.“ Gut."]),
        ("ends in small. letters follow", ["ends in small. letters follow"]),
        ("Go to example.com. It is there.", ["Go to example.com.", "It is there."]),
    ],
)
def test_sentences_end_at_their_marks(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It costs 3.50 euros.",
        "Version 1.2.3 is out.",
        "Dr. Miller and Mrs. Jones met Prof. Lee.",
        "J. R. R. Tolkien wrote it.",
        "See Fig. 3 and Eq. 4.",
        "It closes at 6 p.m. Eastern time.",
        "The U.S. Senate met.",
        "Acme Inc. Berlin made it.",
        "Use water, e.g. Evian.",
        "Siehe Abs. 2 und Art. 5.",
        "Man nimmt z. B. Wasser oder z.B. Milch.",
        "Das gilt i. d. R. und u. U. nicht, z. T. aber doch.",
        "Äpfel, Birnen usw. Alle reif.",
        "M. Dupont et Mme. Durand.",
        "Véase pág. 12 y núm. 3.",
        "Il Sig. Rossi e il Dott. Bianchi.",
        "approx. 5 kg",
        "vs. Berlin",
    ],
)
def test_a_full_stop_inside_a_sentence_ends_none(text):
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("First:\n- one\n- two\n* three", ["First:", "- one", "- two", "* three"]),
        ("Steps:\n1. Open it.\n2. Close it.", ["Steps:", "1. Open it.", "2. Close it."]),
        ("1) Open\n2) Close", ["1) Open", "2) Close"]),
        ("• one\n• two", ["• one", "• two"]),
        ("A heading\n\nA paragraph that\ngoes on.", ["A heading", "A paragraph that\ngoes on."]),
        ("A heading\nThe text", ["A heading", "The text"]),
        ("a\n \t\nb", ["a", "b"]),
        ("line one\r\n\r\nline two", ["line one", "line two"]),
    ],
)
def test_lists_headings_and_paragraphs_are_apart(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今天下雨。明天晴。", ["今天下雨。", "明天晴。"]),
        ("真的？是的！好", ["真的？", "是的！", "好"]),
        ("他说「好。」然后走了。", ["他说「好。」", "然后走了。"]),
        ("雨です。晴れです｡", ["雨です。", "晴れです｡"]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("Привет. Как дела?", ["Привет.", "Как дела?"]),
        ("비가 온다. 맑다.", ["비가 온다.", "맑다."]),
    ],
)
def test_other_scripts_have_their_own_marks(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "\u200b",
        "\ufeffOne.",
        "A\u00a0B. C",
        "A.\u2028B",
        "e\u0301. X",
        "\ud800. X",
        "🤷. 🤷",
        "A\x00. B",
        "İ. I",
        "\x1c.\x1d",
    ],
)
def test_unicode_oddities_lose_nothing(text):
    assert covered(text) == "".join(text.split())


def covered(text):
    spans = sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    between = [0, *(place for span in spans for place in span), len(text)]
    gaps = [text[a:b] for a, b in zip(between[::2], between[1::2], strict=True)]
    assert not any(gap.strip() for gap in gaps)
    return "".join("".join(text[start:end].split()) for start, end in spans)


odd = st.text(alphabet=st.sampled_from("aA1éÄ.!?…。？'\")]»” \n\t\r-*•–(Dr文\u00a0\u2028\x1c"), max_size=40)


@given(odd | st.text())
def test_spans_cover_all_but_white_space_once_and_in_order(text):
    assert covered(text) == "".join(text.split())


@given(odd | st.text())
def test_sentences_are_the_text_of_the_spans(text):
    assert sentences(text) == [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize("unit", [".", "?!", "!'", ". ", ".\n", "\n", "\n ", " ", "…", "。", "1.", '."', "\r"])
@pytest.mark.parametrize("end", ["", "a", " a", " A"])
def test_a_long_run_of_marks_is_cut_in_one_pass(unit, end):
    # A run of full stops that ended no sentence was once looked at from each of its places.
    text = unit * (200_000 // len(unit)) + end
    assert covered(text) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        ("", 4, []),
        ("One. Two.", 4, ["One.", "Two."]),
        ("One two three", 8, ["One two", "three"]),  # at the last white space of the second half
        ("a bcdefgh", 8, ["a bcdefg", "h"]),  # not at one in the first half
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("ab  cd", 4, ["ab", "cd"]),
        ("文文文文文", 2, ["文文", "文文", "文"]),
        ("abcdef. Gh", 4, ["abcd", "ef.", "Gh"]),
    ],
)
def test_a_long_sentence_is_cut(text, longest, expected):
    assert [text[start:end] for start, end in sentence_pieces(text, longest)] == expected


@given(odd | st.text(), st.integers(1, 12))
def test_pieces_cover_what_the_sentences_cover_and_none_is_too_long(text, longest):
    pieces = sentence_pieces(text, longest)
    assert all(0 < end - start <= longest for start, end in pieces)
    assert all(before[1] <= after[0] for before, after in pairwise(pieces))
    assert all(text[start:end] == text[start:end].strip() for start, end in pieces)
    assert "".join("".join(text[start:end].split()) for start, end in pieces) == "".join(text.split())
    ends = {end for _, end in sentence_spans(text)}
    assert ends <= {end for _, end in pieces}


@given(odd | st.text())
def test_sentences_that_are_short_enough_stay_whole(text):
    assert sentence_pieces(text, len(text) + 1) == sentence_spans(text)
