"""The answers of a model: the form asked for is accepted, wherever it is in the text, and nothing else."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.llm.exchange import Form
from monitor.assess.llm.parse import Completion, InvalidCompletion, completion_of, read
from tests.factories.assess.llm import ANOTHER, ASKED, GOOD, OPINION, Opinion
from tests.servers.llm import completed


def answered(content: str | None, **over) -> Completion:
    usual = {"content": content, "refusal": None, "finish_reason": "stop", "input_tokens": 1, "output_tokens": 1}
    return Completion(**{**usual, **over})


def unfit(content: str | None, **over) -> InvalidCompletion:
    with pytest.raises(InvalidCompletion) as caught:
        read(answered(content, **over), Opinion)
    return caught.value


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        f"\n\n  {GOOD}\n",
        json.dumps(json.loads(GOOD), indent=4),
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\nI hope this helps!",
        f"Sure, here is what you asked for: {GOOD} Anything else?",
        f"<think>{{hm, {{{{</think>{GOOD}",
        f"\ufeff{GOOD}",
        '{"why": "it says so", "supported": true}',
        f"[{GOOD}]",
    ],
)
def test_the_form_is_found_among_other_words(content):
    assert read(answered(content), Opinion) == OPINION


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        " ",
        "supported",
        "true",
        "null",
        "[]",
        "{}",
        '"supported"',
        '{"supported": true}',
        '{"why": "it says so"}',
        '{"supported": "true", "why": "it says so"}',
        '{"supported": 1, "why": "it says so"}',
        '{"supported": null, "why": "it says so"}',
        '{"supported": true, "why": 5}',
        '{"supported": true, "why": ["it says so"]}',
        '{"supported": true, "why": "it says so", "confidence": 1}',
        '{"Supported": true, "why": "it says so"}',
        '{"answer": {"supported": true, "why": "it says so"}}',
        '[true, "it says so"]',
        "{'supported': True, 'why': 'it says so'}",
        '{"supported": true, "why": "it says so",}',
        '{"supported": true, "why": "it says so"',
        '{"supported": true "why": "it says so"}',
        f"{GOOD}\n{ANOTHER}",
        f"At first I thought {ANOTHER} but it has to be {GOOD}.",
    ],
)
def test_nothing_but_the_form_is_taken(content):
    error = unfit(content)
    assert (error.reason, error.final) == ("malformed", False)


class Numbers(Form):
    whole: int
    share: float


@pytest.mark.parametrize(
    "content", ['{"whole": 1.0, "share": 1}', '{"whole": true, "share": 1}', '{"whole": "1", "share": 1}']
)
def test_numbers_are_not_guessed(content):
    with pytest.raises(InvalidCompletion):
        read(answered(content), Numbers)


def test_an_enormous_number_is_malformed():
    with pytest.raises(InvalidCompletion):
        read(answered('{"whole": ' + "9" * 5_000 + ', "share": 1}'), Numbers)


@pytest.mark.parametrize("opening", ['{"why":', "[", "{", '{"supported": true, "why": [', "{ "])
@pytest.mark.parametrize("times", [300, 2_000, 100_000])
def test_endless_nesting_is_malformed(opening, times):
    assert unfit(opening * times).reason == "malformed"


@pytest.mark.parametrize("deep", [100, 330, 480, 600, 900, 990, 5_000])
def test_deep_nesting_is_malformed_even_if_it_is_closed(deep):
    assert unfit('{"supported": true, "why": ' + "[" * deep + "]" * deep + "}").reason == "malformed"
    assert unfit('{"why":' * deep + "1" + "}" * deep).reason == "malformed"


def test_the_form_is_found_behind_what_is_nested_too_deeply():
    assert read(answered("[" * 5_000 + GOOD), Opinion) == OPINION


def test_a_very_long_value_is_read():
    why = "x" * 20 * 2**20
    assert read(answered(json.dumps({"supported": True, "why": why})), Opinion).why == why


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (r"a\u0000b", "a\ufffdb"),
        (r"a\ud800b", "a\ufffdb"),
        (r"\udfff\ud83d", "\ufffd\ufffd"),
        (r"\ud83d\ude00", "😀"),
        ("a\ud800b", "a\ufffdb"),
    ],
)
def test_characters_that_cannot_be_stored_are_replaced_one_by_one(server, make, written, kept):
    server.chat_script.append(completed(f'{{"supported": true, "why": "{written}"}}'))
    assert make().ask(ASKED).value == Opinion(supported=True, why=kept)


class Nested(Form):
    parts: list[list[Opinion]]


def test_characters_that_cannot_be_stored_are_replaced_at_every_depth():
    value = read(answered(r'{"parts": [[{"supported": true, "why": "\u0000"}]]}'), Nested)
    assert value.parts == [[Opinion(supported=True, why="\ufffd")]]


words = st.text(st.characters(exclude_characters="{"))


@given(words, words)
def test_the_form_is_found_whatever_words_stand_around_it(before, after):
    assert read(answered(before + GOOD + after), Opinion) == OPINION


@given(st.text(st.sampled_from('{}[]",: a')), st.text(st.sampled_from('{}[]",: a')))
def test_other_characters_around_the_answer_never_change_it(before, after):
    with suppress(InvalidCompletion):
        assert read(answered(before + GOOD + after), Opinion) == OPINION


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_other_json_is_never_taken(value):
    assert unfit(json.dumps(value)).reason == "malformed"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_other_bodies_are_no_completions(value):
    with pytest.raises(ValueError, match="no chat completion"):
        completion_of(value)


@pytest.mark.parametrize("content", [GOOD, None, "no"])
def test_a_refused_or_filtered_answer_is_final(content):
    error = unfit(content, refusal="no")
    assert (error.reason, error.final) == ("model_refused", True)
    error = unfit(content, finish_reason="content_filter")
    assert (error.reason, error.final) == ("content_filter", True)


@pytest.mark.parametrize(
    "content",
    [
        f"The set {{a, b}} and the set {{}} matter little.\n{GOOD}",
        f'I was asked for {{"supported": true}} with a reason, so: {GOOD}',
        f"{GOOD}\n{GOOD}",
        f'The document says {ANOTHER}, but my answer is {{"supported": "yes", "why": "no"}}',
        f"The document says {ANOTHER}, but my answer is {{",
        f"<think>The document says {ANOTHER}",
        f'{{"answer": {ANOTHER}}}',
        '{"supported": false, "supported": true, "why": "it says so"}',
    ],
)
def test_a_possible_quotation_is_not_taken_as_the_answer(content):
    assert unfit(content).reason == "malformed"


def test_a_truncated_answer_is_refused_whatever_it_quotes():
    assert unfit(f"The document says {ANOTHER}", finish_reason="length").reason == "truncated"
