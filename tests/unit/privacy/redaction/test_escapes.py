"""No escape hides anything, however deep it is nested, and what is not hidden stays as it came."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.privacy.masking import CARD, E_MAIL, IBAN, KEY, PHONE, redact, redact_head, redact_part
from monitor.privacy.redaction.escapes import TOO_DEEP

PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + 3 * "MIIEowIBAAKCAQEA7bq0\n" + "-----END RSA PRIVATE KEY-----\n"


def escaped(text, levels):
    for _ in range(levels):
        text = json.dumps({"said": text})
    return text


@pytest.mark.parametrize("levels", range(1, 7))
@pytest.mark.parametrize(
    ("text", "secret", "placeholder"),
    [
        (PEM, "MIIEowIBAAKCAQEA7bq0", KEY),
        ("-----BEGIN PRIVATE KEY-----\r\nMIIEow\r\n", "MIIEow", KEY),
        ("my card\t4111\t1111\t1111\t1111", "1111", CARD),
        ("two\nada@example.org\nlines", "example.org", E_MAIL),
        ("für müller@straße.example", "stra", E_MAIL),
        ("😀\u00a0+49\u00a030\u00a0901820", "901820", PHONE),
        ("IBAN\tDE89 3704\u202f0044 0532 0130 00", "0532", IBAN),
    ],
)
def test_no_escape_hides_anything_however_deep_it_is_nested(text, secret, placeholder, levels):
    masked = redact(escaped(text, levels))
    assert placeholder in masked
    assert secret not in masked


def test_an_escape_in_an_escape_is_decoded_in_turn():
    assert redact(r"ada\u005cu0040example.org") == E_MAIL
    assert redact(r"ada\u0040example.org") == E_MAIL
    assert redact(r"ada\\u0040example.org") == E_MAIL


def test_what_is_not_hidden_stays_as_it_came():
    assert redact(r'{"a": "f\u00fcr\nada\u0040example.org", "b": "C:\\new"}') == (
        rf'{{"a": "f\u00fcr\n{E_MAIL}", "b": "C:\\new"}}'
    )
    for text in (r"\ud83d \u12 \x40 \q", "ends in \\", r"\n\t\u0041 \\\\ \ud83d\ude00"):
        assert redact(text) == text


def test_a_part_of_an_escape_is_masked_as_it_is_in_the_whole():
    text = r"to ada\u0040example.org"
    assert redact_part(text, 0, 9) == f"to {E_MAIL}"
    assert redact_head(text, 8) == f"to {E_MAIL}"


def test_a_key_with_lines_before_it_goes_whole():
    lines = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3F17F5316E2BAC89\n\n"
    for key in (PEM.replace("KEY-----\nMII", f"KEY-----\n{lines}MII"), PEM.replace("KEY-----", "KEY BLOCK-----")):
        assert redact(f"Use {key}now") == f"Use {KEY}\nnow"
        assert "MIIE" not in redact(escaped(key, 2))


def test_what_is_nested_too_deeply_to_be_read_is_not_shown():
    deep = "\\" + "u005c" * 40 + "u0040"
    assert redact(f"ada{deep}example.org") == TOO_DEEP
    assert redact(f"ada{deep}example.org" * 1_000) == TOO_DEEP


@given(st.text(st.sampled_from('\\"nut04dD8eaE@.x '), max_size=60), st.integers(0, 3))
def test_any_escapes_come_to_an_end_without_a_loss(before, levels):
    address = escaped("ada@example.org", levels)
    assert "ada@example.org" not in redact(f"{before} {address}")
