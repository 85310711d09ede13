"""What is taken out of a text, and what is left alone."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban, luhn

from monitor.privacy.masking import CARD, E_MAIL, IBAN, KEY, PHONE, redact, redact_head, redact_part


def test_a_part_is_masked_as_it_is_in_the_whole():
    text = "call +49 30 901820 or ada@example.org"
    assert redact_part(text, 9, 13) == PHONE
    assert redact_part(text, 0, 10) == f"call {PHONE}"
    assert redact_part(text, 19, len(text)) == f"or {E_MAIL}"
    assert redact_part(text, 0, 4) == "call"


def test_a_head_does_not_end_in_half_an_address():
    assert redact_head("call ada@example.org now", 8) == f"call {E_MAIL}"
    assert redact_head("short", 8) == "short"


# --- e-mail addresses ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to jane.doe+shop@mail.example.co.uk.", f"Write to {E_MAIL}."),
        ("<müller@straße.example>", f"<{E_MAIL}>"),
        ("卡4111111111111111号和+49 30 1234567号", f"卡{CARD}号和{PHONE}号"),
        ("请联系foo@bar.example谢谢", f"请联系{E_MAIL}谢谢"),
        ("mailto:a@b.example,c_d@e.example", f"mailto:{E_MAIL},{E_MAIL}"),
        ("meet @noon, user@localhost, a @ b", "meet @noon, user@localhost, a @ b"),
    ],
)
def test_addresses_go_and_other_signs_stay(text, expected):
    assert redact(text) == expected


LOCAL = st.text(string.ascii_letters + string.digits, min_size=1, max_size=30)


@given(LOCAL, LOCAL, st.sampled_from(["com", "example", "de"]), st.text(max_size=20), st.text(max_size=20))
def test_no_address_is_left_whatever_stands_around_it(local, domain, top, before, after):
    assert f"{local}@{domain}.{top}" not in redact(f"{before} {local}@{domain}.{top} {after}")


# --- cards ---


def with_check_digit(digits):
    return next(digits + str(check) for check in range(10) if luhn.is_valid(digits + str(check)))


def grouped(digits, gap, size=4):
    return gap.join(digits[place : place + size] for place in range(0, len(digits), size))


@pytest.mark.parametrize("number", ["4111111111111111", "5500005555555559", "378282246310005", "6011000990139424"])
@pytest.mark.parametrize("gap", ["", " ", "-", "\u00a0"])
def test_cards_go_however_they_are_grouped(number, gap):
    assert redact(f"My card {grouped(number, gap)}, please.") == f"My card {CARD}, please."


def test_a_card_goes_from_among_other_groups_of_digits():
    assert redact("12 4111 1111 1111 1111 123") == f"12 {CARD} 123"


def test_a_number_without_the_check_digit_stays():
    assert redact("Order 4111111111111112") == "Order 4111111111111112"


def test_a_number_that_no_issuer_gives_stays():
    assert luhn.is_valid("1000000000000008")
    assert redact("Order 1000000000000008") == "Order 1000000000000008"


@given(st.integers(min_value=0, max_value=10**14 - 1), st.sampled_from("45"), st.sampled_from(["", " ", "-"]))
def test_no_card_is_left(rest, first, gap):
    number = with_check_digit(f"{first}{rest:014d}")
    assert redact(f"({grouped(number, gap)})") == f"({CARD})"


# --- IBANs ---


def an_iban(country, account):
    return country + iban.calc_check_digits(f"{country}00{account}") + account


@pytest.mark.parametrize("gap", ["", " "])
@pytest.mark.parametrize("number", ["DE89370400440532013000", "GB82WEST12345698765432", "NO9386011117947"])
def test_ibans_go_with_what_follows_them_left(number, gap):
    assert redact(f"IBAN {grouped(number, gap)} please pay") == f"IBAN {IBAN} please pay"


@given(
    st.text(string.digits, min_size=11, max_size=28), st.sampled_from(["DE", "FR", "gb"]), st.sampled_from(["", " "])
)
def test_no_iban_is_left(account, country, gap):
    assert redact(f"to {grouped(an_iban(country, account), gap)}.") == f"to {IBAN}."


def test_two_ibans_in_a_row_both_go():
    assert redact("DE89370400440532013000 DE89370400440532013000") == f"{IBAN} {IBAN}"


def test_a_reference_that_does_not_check_out_stays():
    assert redact("Ref DE00370400440532013000") == "Ref DE00370400440532013000"


# --- telephone numbers ---


@pytest.mark.parametrize(
    "number",
    [
        "+49 (0)30 123456-7",
        "+442079460958",
        "(555) 123-4567",
        "555-123-4567",
        "1-800-555-0199",
        "0049 30 1234567",
        "020 7946 0958",
        "01 23 45 67 89",
        "0171/1234567",
        "(030) 1234567",
    ],
)
def test_telephone_numbers_go(number):
    assert redact(f"Call me: {number}, today") == f"Call me: {PHONE}, today"


def test_a_number_that_is_called_one_goes_whatever_its_form():
    assert redact("Phone no. 5551234 or Tel: 12345678") == f"Phone no. {PHONE} or Tel: {PHONE}"


@pytest.mark.parametrize(
    "text",
    [
        "from 2019-2023",
        "on 2024-01-15 at 10:30",
        "on 05 11 2024 14:00",
        "on 01.02.2024",
        "order 0012345678",
        "order 1234567890",
        "order A-302-5518841",
        "invoice 2024-000123",
        "1 000 000 000 EUR",
        "costs 12,345,678.90",
        "version 10.15.7, build 19H2",
        "a 3-in-10 is not a 30-in-100",
        "192.168.100.200",
        "ISO 27001:2022, RFC 9110",
    ],
)
def test_dates_years_amounts_and_order_numbers_stay(text):
    assert redact(text) == text


# --- keys ---


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdefghijklmnop1234",
        "sk_live_abcdefghijklmnop1234",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "xoxb-1234567890-abcdefghij",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123",
        "Bearer abcdef0123456789.~+/==",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/=\nAAA\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEow",
    ],
)
def test_keys_go(key):
    assert redact(f"Use {key} now" if "END" in key or "BEGIN" not in key else f"Use {key}").startswith(f"Use {KEY}")
    assert key not in redact(f"Use {key}")


@pytest.mark.parametrize(
    "text", ["a task-force-of-many-people met", "the bearer of bad news", "sk-1", "risk-free-returns-policy"]
)
def test_words_that_only_look_like_keys_stay(text):
    assert redact(text) == text


# --- any text ---

PIECES = st.sampled_from(
    [
        "4111 1111 1111 1111",
        "a@b.example",
        "DE89 3704 0044 0532 0130 00",
        "+49 30 1234567",
        "2024",
        " ",
        "-",
        "sk-",
        "x",
    ]
)


@given(st.lists(PIECES | st.text(max_size=5)).map(" ".join))
def test_what_is_redacted_once_stays_as_it_is(text):
    once = redact(text)
    assert redact(once) == once


@given(st.text("abcdefghij ,.!?äöüßéñ漢字", max_size=300))
def test_plain_words_stay(text):
    assert redact(text) == text


def test_the_same_text_gives_the_same_placeholders():
    text = "a@b.example and +49 30 1234567"
    assert redact(text) == redact(text) == f"{E_MAIL} and {PHONE}"


@pytest.mark.parametrize(
    "piece",
    [
        "1 ",
        "1",
        "1-",
        "a",
        "a@",
        "a.",
        "@a.a",
        "%40",
        "%2b",
        "a%40",
        "%2ba.",
        "+1",
        "(0",
        "00 ",
        "DE89",
        "DE89 ",
        "sk-",
        "eyJaaaaaaaaa.",
        "4 ",
        "-----BEGIN PRIVATE KEY-----",
        "phone ",
        "bearer ",
        "0 1 ",
        "\\",
        "\\n",
        "\\u0040",
        "\\u005c",
        "u005c",
        "-----BEGIN PRIVATE KEY-----\\n",
        "-----BEGIN PRIVATE KEY-----a: b",
    ],
)
def test_a_hostile_megabyte_comes_to_an_end(piece):
    assert redact(piece * (200_000 // len(piece)))
