"""Personal data in the figures and signs of other scripts and widths, and in the addresses of pages."""

from __future__ import annotations

import pytest

from monitor.core.text.personal_data import PersonalData
from monitor.privacy.masking import CARD, E_MAIL, PHONE, redact
from monitor.privacy.redaction.narrow import narrow
from monitor.privacy.redaction.redactor import redactor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("カードは４１１１ １１１１ １１１１ １１１１です", f"カードは{CARD}です"),
        ("ｊａｎｅ．ｄｏｅ＠ｅｘａｍｐｌｅ．ｃｏｍまで", f"{E_MAIL}まで"),
        ("jane＠example.com", E_MAIL),
        ("اتصل بـ +٤٩ ٣٠ ١٢٣٤٥٦٧", f"اتصل بـ {PHONE}"),
        ("फ़ोन +९१ ९८७६५ ४३२१०", f"फ़ोन {PHONE}"),
        ("call 555\u2011123\u20114567", f"call {PHONE}"),
    ],
)
def test_other_figures_and_widths_hide_nothing(text, expected):
    assert redact(text) == expected


def test_what_is_left_keeps_its_own_figures_and_signs():
    assert redact("（２０２４年） ٢٠٢٤") == "（２０２４年） ٢٠٢٤"


def test_the_places_stay_the_same():
    text = "".join(map(chr, range(0x20, 0xD800)))
    assert len(narrow(text)) == len(text)


def test_a_national_number_is_found_in_full_width():
    only = redactor([PersonalData.NATIONAL_ID], ["US"])
    assert only.text("ＳＳＮ ５３６－９０－４３９９") == f"ＳＳＮ {PersonalData.NATIONAL_ID.placeholder}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://shop.example/?to=john%40example.com&x=1", f"https://shop.example/?to={E_MAIL}&x=1"),
        ("?q=to%3Djane.doe%2Bshop%40mail.example.org", f"?q=to%3D{E_MAIL}"),
        ("100%40 of them", "100%40 of them"),
        ("50%40.5", "50%40.5"),
    ],
)
def test_an_address_that_is_encoded_for_another_goes(text, expected):
    assert redact(text) == expected
