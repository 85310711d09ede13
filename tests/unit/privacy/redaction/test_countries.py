"""Numbers of countries: found where they check out, and nothing else."""

from __future__ import annotations

import re

import pytest
from phonenumbers import SUPPORTED_REGIONS

from monitor.privacy.redaction.countries import national_ids, phones_in

# As python-stdnum's own pages have them.
IDS = {
    "AT": "1237 010180",
    "AU": "123 456 782",
    "BE": "85.07.30-033 28",
    "BG": "8032056031",
    "BR": "390.533.447-05",
    "CA": "123-456-782",
    "CH": "756.9217.0769.85",
    "CN": "360426199101010071",
    "CZ": "710319/2745",
    "DE": "36 574 261 809",
    "DK": "211062-5629",
    "ES": "54362315-K",
    "FI": "131052-308T",
    "FR": "2 95 10 99 126 111 93",
    "GB": "943-476-5870",
    "HR": "33392005961",
    "IE": "6433435F",
    "IN": "2341 2341 2346",
    "IT": "RCCMNL83S18D969H",
    "KR": "971013-9019902",
    "MX": "BOXW310820HNERXN09",
    "NL": "1112.22.333",
    "NO": "151086 95088",
    "PL": "44051401359",
    "PT": "501 964 843",
    "RO": "1630615123457",
    "SE": "880320-0016",
    "SK": "710319/2745",
    "TR": "17291716060",
    "US": "536-90-4399",
    "ZA": "750330 5044089",
}
EVERY = ("DE", "US", "GB", "FR", "ES", "IT", "NL", "BE", "AT", "CH", "PL", "SE", "IN", "BR")
LEFT_ALONE = [
    "from 2019-2023, on 2024-01-15 at 10:30",
    "on 05 11 2024 14:00, on 01.02.2024, on 1/2/2025",
    "order 0012345678 and A-302-5518841",
    "invoice 2024-000123",
    "1 000 000 000 EUR, 1.234.567,89 EUR, 12 345 678",
    "costs 12,345,678.90",
    "version 10.15.7, build 19H2",
    "192.168.100.200 and 169.254.10.1",
    "2024-01-15T10:30:00Z",
    "ISO 27001:2022, RFC 9110",
    "ports 8080-8090",
]


def found(find, text):
    return [text[start:end] for start, end in find(text)]


@pytest.mark.parametrize(("region", "number"), IDS.items())
def test_an_identifier_that_checks_out_is_found(region, number):
    find = national_ids([region])
    assert found(find, f"It is {number}, thanks") == [number]
    wrong = re.sub("[0-9]", lambda digit: str((int(digit[0]) + 1) % 10), number, count=1)
    assert found(find, f"x{number}") == found(find, f"{number}7") == []
    if region not in {"BR", "DK", "US"}:  # whose check lets a wrong digit pass now and then, or that have none
        assert found(find, f"It is {wrong}, thanks") == []


def test_a_foreigner_s_number_is_found_too():
    assert found(national_ids(["ES"]), "NIE X-2482300W") == ["X-2482300W"]


@pytest.mark.parametrize(
    ("region", "number"),
    [
        ("DE", "030 12345678"),
        ("DE", "(030) 123456-78"),
        ("DE", "0301 2345678"),
        ("FR", "0612345678"),
        ("GB", "020 7946 0958"),
        ("US", "212-555-0143"),
        ("ES", "612 34 56 78"),
        ("NL", "06-12345678"),
        ("US", "+49 30 12345678"),
        ("CH", "044 668 18 00"),
    ],
)
def test_a_number_that_can_be_called_from_there_is_found(region, number):
    assert found(phones_in([region]), f"Call {number}, please") == [number]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_dates_amounts_orders_and_addresses_stay(text):
    assert found(phones_in(EVERY), text) == []
    assert found(national_ids(EVERY), text) == []


def test_bare_digits_are_a_number_only_with_a_zero_before_them():
    assert found(phones_in(["US", "DE", "IT"]), "order 2125550143, case 30123456") == []


def test_the_countries_that_are_tested_are_all_that_have_a_form():
    assert set(IDS) <= SUPPORTED_REGIONS


@pytest.mark.parametrize("piece", ["1 ", "1", "1-", "+1", "(0", "0 1 ", "12345678 ", "1.", "A1"])
def test_a_hostile_text_comes_to_an_end(piece):
    text = piece * (50_000 // len(piece))
    for find in (national_ids(tuple(IDS)), phones_in(("DE", "US"))):
        assert all(end <= len(text) for _, end in find(text))
