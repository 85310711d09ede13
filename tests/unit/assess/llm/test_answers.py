"""The answers of a model: the form asked for is accepted, wherever it is in the text, and nothing else."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.llm.exchange import Form, NoAnswer, Spend
from monitor.assess.llm.parse import Completion, InvalidCompletion, completion_of, read
from tests.factories.assess.llm import ASKED, GOOD, OPINION, Opinion, agree, failure
from tests.servers.llm import completed

ANOTHER = '{"supported": false, "why": "it says nothing of it"}'


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


# --- repairs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        "what?",
        "",
        '{"supported": "true", "why": "x"}',
        '{"supported": true, "why": "x", "more": 1}',
        f"{GOOD}{ANOTHER}",
        "{" * 2_000,
    ],
)
def test_an_answer_that_does_not_fit_is_sent_back_once_with_what_is_wrong(server, budget, make, first):
    server.chat_script.append(completed(first))
    reply = make().ask(ASKED)
    assert (reply.value, reply.repaired, reply.spend.calls) == (OPINION, True, 2)
    before, after = server.chats
    assert after.messages[: len(before.messages)] == before.messages
    assert [message["role"] for message in after.messages[len(before.messages) :]] == ["assistant", "user"]
    assert after.messages[-2]["content"] == first
    assert '"supported"' in after.messages[-1]["content"]
    assert after.max_tokens == before.max_tokens
    agree(server, budget, reply.spend)


def test_an_error_names_at_most_three_fields(server, make):
    server.chat_script.append(completed(json.dumps({"supported": "yes", **{f"field {n}": n for n in range(9)}})))
    make().ask(ASKED)
    words = server.chats[1].messages[-1]["content"]
    assert "supported: " in words
    assert words.count("field ") == 1


def test_an_answer_that_does_not_fit_twice_is_none(server, budget, make):
    server.chat_script.extend([completed("what?"), completed("I said: what?")])
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == "malformed"
    assert len(server.chats) == 2
    agree(server, budget, error.spend)


def test_an_answer_that_is_cut_off_gets_twice_the_room(server, budget, make):
    server.chat_script.append(completed('{"supported": true, "why": "it sa', "length"))
    reply = make(max_output_tokens=100).ask(ASKED)
    assert (reply.value, reply.repaired) == (OPINION, True)
    assert [chat.max_tokens for chat in server.chats] == [100, 200]
    assert server.chats[0].messages == server.chats[1].messages
    agree(server, budget, reply.spend)


@pytest.mark.parametrize("second", [completed('{"supp', "length"), completed("what?", "length")])
@pytest.mark.parametrize("first", [completed('{"supp', "length"), completed("what?")])
def test_an_answer_that_is_cut_off_again_is_none(server, budget, make, first, second):
    server.chat_script.extend([first, second])
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == "truncated"
    assert "MONITOR_LLM__MAX_OUTPUT_TOKENS" in str(error)
    assert len(server.chats) == 2
    agree(server, budget, error.spend)


def test_an_answer_that_is_refused_at_the_second_attempt_is_none(server, budget, make):
    server.chat_script.extend([completed("what?"), completed("", "content_filter")])
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == "content_filter"
    agree(server, budget, error.spend)


@pytest.mark.parametrize(
    "first", ['"\ud800"', '{"\ud800": "\ud800"}', r'{"\ud800": 1, "\u0000": 2}', "a\0b", '{"\0": 1}']
)
def test_the_repair_request_holds_only_characters_that_can_be_sent(server, make, first):
    server.chat_script.append(completed(first))
    assert make().ask(ASKED).repaired


@pytest.mark.parametrize("name", [r"\u0000", r"\ud800"])
def test_errors_hold_only_characters_that_can_be_stored(server, make, name):
    server.chat_script.extend([completed(f'{{"{name}": 1}}')] * 2)
    words = str(failure(make()))
    assert "\0" not in words
    words.encode()


# --- replies that came by another way --------------------------------------------------------------------------------


RESERVED = Spend(calls=1, input_tokens=20, output_tokens=30)


def body_of(content: str) -> dict[str, object]:
    message = {"role": "assistant", "content": content, "refusal": None}
    usage = {"prompt_tokens": 300, "completion_tokens": 100}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def test_a_reply_of_a_batch_has_its_discount(make, budget):
    reply = make().read(ASKED, body_of(GOOD), reserved=RESERVED, discount=0.5)
    assert reply.value == OPINION
    assert reply.spend == Spend(calls=1, input_tokens=300, output_tokens=100, cost=400 * 2 / 1e6 / 2)
    assert (budget.reserved, budget.counted) == ([], {})  # whoever sent the batch has reserved it, and settles


@pytest.mark.parametrize(("body", "spent"), [(None, 50), ([], 50), ({"choices": []}, 50), (body_of("what?"), 400)])
def test_a_reply_of_a_batch_that_does_not_fit_is_none(make, body, spent):
    with pytest.raises(NoAnswer) as caught:
        make().read(ASKED, body, reserved=RESERVED, discount=0.5)
    assert caught.value.reason == "malformed"
    assert caught.value.spend.input_tokens + caught.value.spend.output_tokens == spent


OTHER = '{"supported": false, "why": "the document says so"}'


@pytest.mark.parametrize(
    "content",
    [
        f"The set {{a, b}} and the set {{}} matter little.\n{GOOD}",
        f'I was asked for {{"supported": true}} with a reason, so: {GOOD}',
        f"{GOOD}\n{GOOD}",
        f'The document says {OTHER}, but my answer is {{"supported": "yes", "why": "no"}}',
        f"The document says {OTHER}, but my answer is {{",
        f"<think>The document says {OTHER}",
        f'{{"answer": {OTHER}}}',
        '{"supported": false, "supported": true, "why": "it says so"}',
    ],
)
def test_a_possible_quotation_is_not_taken_as_the_answer(content):
    assert unfit(content).reason == "malformed"


def test_a_truncated_answer_is_refused_whatever_it_quotes():
    assert unfit(f"The document says {OTHER}", finish_reason="length").reason == "truncated"
