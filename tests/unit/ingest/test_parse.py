from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from monitor.core.errors import InvalidMessage
from monitor.ingest.parse import parse_object, path_of, shown

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def refused(raw):
    with pytest.raises(InvalidMessage) as caught:
        parse_object(raw)
    return caught.value.path, caught.value.problem


@pytest.mark.parametrize(
    ("raw", "path", "problem"),
    [
        (b"", "$", "is empty"),
        (b"\xef\xbb\xbf", "$", "is empty"),
        (b" \n\t", "$", "is empty"),
        (b"[]", "$", "must be a JSON object, got a list"),
        (b"null", "$", "must be a JSON object, got null"),
        (b'"{}"', "$", "must be a JSON object, got a string"),
        (b"1.5", "$", "must be a JSON object, got a number"),
        (b'{"a": 1', "$", "is not JSON: Expecting ',' delimiter at character 7"),
        (b'{"a": 1} {}', "$", "is not JSON: Extra data at character 9"),
        (b"{'a': 1}", "$", "is not JSON: Expecting property name enclosed in double quotes at character 1"),
        (b'{"a": "x\x00y"}', "$", "is not JSON: Invalid control character at character 8"),
        (b'{"a": "\xff"}', "$", "is not UTF-8: bad byte at offset 7"),
        (b'\xef\xbb\xbf{"a": "\xff"}', "$", "is not UTF-8: bad byte at offset 10"),
        (b'{"a": "\xed\xa0\x80"}', "$", "is not UTF-8: bad byte at offset 7"),  # a surrogate, encoded
        ('{"a": 1}'.encode("utf-16"), "$", "is not UTF-8: bad byte at offset 0"),
        (b'{"a": NaN}', "a", "must be a finite number: NaN is not JSON"),
        (b'{"a": [1, {"b": -Infinity}]}', "a[1].b", "must be a finite number: -Infinity is not JSON"),
        (b'{"a": [0, 1e999]}', "a[1]", "must be a finite number: it is beyond what a double holds"),
        (b'{"a": {"b c": -1e999}}', 'a["b c"]', "must be a finite number: it is beyond what a double holds"),
        (b'{"a": 1, "a": 1}', "a", "occurs twice in one object"),
        (b'{"x": [{}, {"a": 1, "b": 2, "a": 3}]}', "x[1].a", "occurs twice in one object"),
        (b'{"a": [' + b"9" * 5000 + b"]}", "a[0]", "is a whole number of 5,000 digits, which is too long"),
        (b'{"a": NaN, "b": ', "$", "is not JSON: Expecting value at character 16"),
        (b'{"a": NaN, "b": ' + b"[" * 100_000, "$", "is nested too deeply"),
        (b"[" * 100_000, "$", "is nested too deeply"),
        (b'{"a":' * 100_000, "$", "is nested too deeply"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "$", "is nested too deeply"),
    ],
)
def test_what_is_no_json_object_is_refused_with_its_place(raw, path, problem):
    assert refused(raw) == (path, problem)


def test_the_first_flaw_in_the_text_is_named():
    assert refused(b'{"b": [1, NaN], "a": 1e999}')[0] == "b[1]"


def test_a_byte_order_mark_is_let_pass():
    assert parse_object(b'\xef\xbb\xbf{"a": 1}') == ({"a": 1}, False)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'{"a": "x\u0000y"}', {"a": "x\ufffdy"}),
        (rb'{"a": ["\ud83d", "\uDe00"]}', {"a": ["\ufffd", "\ufffd"]}),
        (rb'{"a\u0000": {"\udfff": 1}}', {"a\ufffd": {"\ufffd": 1}}),
        (rb'{"a": "\ude00\ud83d"}', {"a": "\ufffd\ufffd"}),
        (rb'{"a": "\ud83d\ud83d\ude00"}', {"a": "\ufffd\U0001f600"}),
    ],
)
def test_what_postgres_cannot_store_is_replaced_one_for_one(raw, value):
    assert parse_object(raw) == (value, True)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'{"a": "\ud83d\ude00"}', {"a": "\U0001f600"}),
        (rb'{"a": "\\u0000 \\ud83d"}', {"a": r"\u0000 \ud83d"}),
        (rb'{"a": "\u0001\u00e9\ue000"}', {"a": "\x01\xe9\ue000"}),
    ],
)
def test_storable_characters_stay_however_they_are_escaped(raw, value):
    assert parse_object(raw) == (value, False)


def test_keys_that_become_the_same_by_replacement_are_refused():
    assert refused(rb'{"m": {"\u0000": 1, "\ud800": 2}}') == (
        'm["\\ufffd"]',
        "occurs twice once U+0000 and lone surrogates are replaced",
    )


@given(st.dictionaries(st.text(), JSON_VALUES), st.booleans())
def test_a_json_object_comes_back_as_it_was(value, ascii_only):
    value = json.loads(json.dumps(value).replace("\\u0000", "?"))
    raw = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8")
    assert parse_object(raw) == (value, False)


@given(st.binary())
@example(b'{"\\ud800": 1')
def test_any_bytes_give_an_object_or_invalid_message(raw):
    try:
        value, _ = parse_object(raw)
    except InvalidMessage:
        return
    json.dumps(value, ensure_ascii=False).encode()


@given(st.text(alphabet='{}[]":,\\ud8u0019eE-+.aNIftrn \ufeff', max_size=60))
def test_any_text_that_looks_like_json_gives_an_object_or_invalid_message(text):
    try:
        value, _ = parse_object(text.encode())
    except InvalidMessage as error:
        (error.path + error.problem).encode()
        return
    assert "\x00" not in json.dumps(value, ensure_ascii=False).encode().decode()


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ((), "$"),
        (("retrieved_documents", 2, "text"), "retrieved_documents[2].text"),
        (("tags", "a b"), 'tags["a b"]'),
        (("tags", "é\n"), 'tags["\\u00e9\\n"]'),
        ((0,), "[0]"),
    ],
)
def test_paths(parts, path):
    assert path_of(parts) == path


def test_hostile_keys_and_values_are_never_repeated_whole():
    assert len(path_of(("x" * 10_000,))) < 100
    assert len(path_of(("x" * 50,) * 1_000)) < 600
    assert len(shown("x" * 10_000)) < 100
    assert len(shown(10**4000)) < 100
    assert shown("\x00\ud800") == '"\\u0000\\ud800"'
    assert shown({"a": 1}) == "an object"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("ada@example.org", '"[e-mail]"'),
        ("x" * 75 + " ada@example.org", '"' + "x" * 75 + ' [e-mail]"…'),
        (4111111111111111, "[card]"),
        ("sk-abcdefghijklmnop1234", '"[key]"'),
    ],
)
def test_a_value_that_is_refused_is_masked(value, said):
    assert shown(value).rstrip("…").strip('"') in said
    assert path_of(("tags", str(value))).startswith("tags[")
    for part in ("ada", "4111", "abcdefgh"):
        assert part not in shown(value) + path_of(("tags", str(value)))
