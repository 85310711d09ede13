"""The names of months and days in the seven languages, from CLDR, the register of how languages write them."""

from __future__ import annotations

from babel.core import Locale

_LOCALES = ("en", "de", "de_AT", "fr", "es", "pt", "it", "nl")
_CONTEXTS = ("format", "stand-alone")
# Abbreviations that are words of their own: "three out of five", "two days ago", "ich mag". Read only in whole dates.
_ONLY_IN_DATES = frozenset(("set", "out", "ago", "mag"))
# Forms in use that CLDR does not list.
_MORE_MONTHS = {"fevr": 2, "setiembre": 9}
_MORE_WEEKDAYS = {"sonnabend": 5}


def _months() -> dict[str, int]:
    found = dict(_MORE_MONTHS)
    for locale in map(Locale.parse, _LOCALES):
        for context in _CONTEXTS:
            for width in ("wide", "abbreviated"):
                found |= {name.lower().rstrip("."): month for month, name in locale.months[context][width].items()}
    return found


def _weekdays() -> dict[str, int]:
    found = dict(_MORE_WEEKDAYS)
    for locale in map(Locale.parse, _LOCALES):
        found |= {name.lower(): day for day, name in locale.days["stand-alone"]["wide"].items()}
    return found


_EVERY_MONTH = _months()
MONTHS = {name: month for name, month in _EVERY_MONTH.items() if name not in _ONLY_IN_DATES}  # January is 1
ABBREVIATED_MONTHS = {name: month for name, month in _EVERY_MONTH.items() if name in _ONLY_IN_DATES}
WEEKDAYS = _weekdays()  # Monday is 0
