from __future__ import annotations

import pytest
from babel.core import Locale

from monitor.assess.score.facts.calendar.names import ABBREVIATED_MONTHS, MONTHS, WEEKDAYS

LOCALES = ("en", "de", "de_AT", "fr", "es", "pt", "it", "nl")


@pytest.mark.parametrize("name", LOCALES)
def test_every_name_of_a_language_is_known(name):
    locale = Locale.parse(name)
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for month, word in locale.months[context][width].items():
                known = word.lower().rstrip(".")
                assert (MONTHS | ABBREVIATED_MONTHS)[known] == month
    for day, word in locale.days["stand-alone"]["wide"].items():
        assert WEEKDAYS[word.lower()] == day


def test_what_is_known_beside_them_are_spellings_in_use():
    listed = {
        word.lower().rstrip(".")
        for locale in map(Locale.parse, LOCALES)
        for context in ("format", "stand-alone")
        for words in (*locale.months[context].values(), *locale.days[context].values())
        for word in words.values()
    }
    assert {*MONTHS, *WEEKDAYS} - listed == {"fevr", "setiembre", "sonnabend"}


def test_a_month_that_is_a_word_of_its_own_is_read_in_dates_only():
    assert not MONTHS.keys() & ABBREVIATED_MONTHS.keys()
    assert ABBREVIATED_MONTHS == {"mag": 5, "ago": 8, "set": 9, "out": 10}
