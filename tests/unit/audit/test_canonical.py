"""RFC 8785: its own samples, and random values against a writer that follows its text step by step."""

from __future__ import annotations

import json
import re
import struct
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.audit.canonical import LARGEST_INTEGER, canonical, canonical_of_json, draft

# Appendix B: a double's bits, and what is written.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}
OURS = {1.0: "1", 1e-07: "1e-7", 1e16: "10000000000000000", 1e-05: "0.00001", -0.0: "0", -2.5e-9: "-2.5e-9", 0.1: "0.1"}
INTEGERS = st.integers(-LARGEST_INTEGER, LARGEST_INTEGER)
SCALARS = st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)
# Numbers that encoders write differently, and texts and keys in which such numbers stand, as if they were values.
ODD_NUMBERS = st.sampled_from(
    (
        *(
            0.0,
            -0.0,
            1.0,
            -1.0,
            9.0,
            10.0,
            0.5,
            1e-4,
            1e-5,
            9.5e-6,
            1e-7,
            5e-324,
            1e15,
            1e16,
            1e20,
            1e21,
            1e22,
            1.7e308,
        ),
        *(2**53, -(2**53), 10**15, 10**16 - 1.0, 1234567890123456, 0.30000000000000004, 123456789012345.6),
    )
)
ODD_TEXTS = st.text(
    st.sampled_from('":.,0123e-+[]{}\\ab\u00e9\u20ac\ud7ff\ue000\uffff\U00010000\U0001f600'), max_size=9
)
ODD_VALUES = st.recursive(
    SCALARS | ODD_NUMBERS | ODD_TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ODD_TEXTS | st.sampled_from("abz"), inner, max_size=4),
    max_leaves=12,
)
BEYOND = st.integers(-(2**70), 2**70) | st.sampled_from([2**53 + 1, -(2**53) - 1, 2**63, 2**64])
ANY_JSON = st.recursive(ODD_VALUES | BEYOND, lambda inner: st.lists(inner) | st.dictionaries(ODD_TEXTS, inner))
SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


@pytest.mark.parametrize(("bits", "written"), NUMBERS.items())
def test_a_number_is_written_as_appendix_b_has_it(bits, written):
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(number) == written.encode()
    assert canonical({"a": [number, "1.0"]}) == f'{{"a":[{written},"1.0"]}}'.encode()


@pytest.mark.parametrize(("number", "written"), OURS.items())
def test_a_number_that_python_writes_otherwise_is_put_right(number, written):
    assert canonical([number, number]) == f"[{written},{written}]".encode()


def test_keys_stand_in_the_order_of_utf_16():
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
    expected = ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    written = canonical({"in": [dict.fromkeys(names)]})
    assert list(json.loads(written)["in"][0]) == expected


def test_the_sample_of_section_3_2_2():
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert (
        canonical(value)
        == (
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
        ).encode()
    )


def test_numbers_within_texts_are_left_alone():
    text = 'version 1.0, "1e-7" and 12345678901234567890, \\'
    assert json.loads(canonical({"a": text, text: -0.0})) == {"a": text, text: 0}


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [-float("inf")], 2**53 + 1, {"a": -(2**60)}, "\ud800", {"\udfff": 1}]
)
def test_what_i_json_has_not_is_refused(value):
    with pytest.raises(ValueError):  # noqa: PT011  its kinds are json's and str.encode's
        canonical(value)


def test_an_integer_that_a_double_holds_is_not():
    assert canonical([2**53, -(2**53)]) == b"[9007199254740992,-9007199254740992]"


@given(VALUES | ODD_VALUES)
def test_it_writes_what_the_rfc_says_step_by_step(value):
    assert canonical(value) == canonical_of_json(value) == slowly(value).encode()


@pytest.mark.parametrize(
    "text",
    ['a":1.0,', '":1.0,', '\\":1.0,"', '":1.0}', "{:1.0,", "[1.0,", ",1.0]", "1e-7,", "1e+22]", ":12345678901234567,"],
)
def test_a_text_that_looks_like_a_number_is_left_alone(text):
    for value in ([text], {text: text}, {"a": {"b": text, text: 1.0, "c": 2.0}, f"x{text}": [f"{text}x", 0.0]}):
        written = slowly(value).encode()
        assert canonical(value) == canonical_of_json(value) == written
        assert draft(value) == written or canonical(json.loads(draft(value))) == written


@given(ANY_JSON)
def test_a_draft_is_json_of_the_value_and_the_canonical_form_of_no_other(value):
    try:
        written = draft(value)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  as above
            canonical(value)
        return
    read = json.loads(written)
    assert repr(as_numbers(read)) == repr(as_numbers(value))  # True is not 1
    try:
        form = canonical(read)
    except ValueError:  # an integer beyond 2**53: it is the form of nothing
        return
    assert written == form or form == canonical(value)


@pytest.mark.parametrize("value", [[float("nan")], [float("inf"), "a"], [None, float("nan")], float("-inf"), "\ud800"])
def test_no_draft_says_null_of_a_column_whose_type_was_changed(value):
    with pytest.raises(ValueError):  # noqa: PT011  as above
        draft(value)


@pytest.mark.parametrize(
    "value", [UUID(int=7), [UUID(int=7)], [None, UUID(int=7)], b"a", [Decimal(1)], {"a": UUID(int=7)}]
)
def test_a_type_that_json_has_not_is_refused(value):
    with pytest.raises(TypeError):
        canonical(value)
    if not isinstance(value, dict):  # no column of another type gives objects
        with pytest.raises(TypeError):
            draft(value)


@given(VALUES)
def test_what_is_read_back_is_written_the_same(value):
    written = canonical(value)
    assert canonical(json.loads(written, parse_int=as_a_double)) == written


def as_numbers(value):
    """The value with its numbers as decimals, which 1 and 1.0 are the same of, and its keys in order."""
    match value:
        case bool():
            return value
        case float() | int():
            return Decimal(repr(value)).normalize() + 0
        case list():
            return list(map(as_numbers, value))
        case dict():
            return [(name, as_numbers(value[name])) for name in sorted(value)]
    return value


def as_a_double(text):
    return float(text) if abs(int(text)) > LARGEST_INTEGER else int(text)


def slowly(value):
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return '"' + re.sub(r'[\x00-\x1f"\\]', lambda m: SHORT.get(m[0]) or f"\\u{ord(m[0]):04x}", value) + '"'
        case list():
            return f"[{','.join(map(slowly, value))}]"
        case dict():
            names = sorted(value, key=lambda name: [*struct.iter_unpack(">H", name.encode("utf-16-be"))])
            return f"{{{','.join(slowly(name) + ':' + slowly(value[name]) for name in names)}}}"
        case int():
            return str(value)
    return in_ecmascript(value)


def in_ecmascript(value):
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    s, k = "".join(map(str, digits)), len(digits)
    n = exponent + k  # ECMA-262: s * 10**(n - k)
    if value == 0:
        text, sign = "0", 0
    elif k <= n <= 21:
        text = s + "0" * (n - k)
    elif 0 < n <= 21:
        text = f"{s[:n]}.{s[n:]}"
    elif -6 < n <= 0:
        text = "0." + "0" * -n + s
    else:
        text = s[0] + (f".{s[1:]}" if k > 1 else "") + f"e{'+' if n > 0 else '-'}{abs(n - 1)}"
    return "-" * sign + text
