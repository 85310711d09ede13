"""Finds the telephone numbers and personal identifiers of countries, with libraries that know their forms.

A region is a country by its two letters (ISO 3166). A bounded pattern finds each candidate before it is checked, so a
hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType

from phonenumbers import Leniency, PhoneNumberMatcher

from monitor.privacy.redaction.forms import DIGITS_SIGN, UNSPACED
from monitor.privacy.redaction.spans import Finder, Span

# The notation of personal identifiers, by the module of python-stdnum that knows the check digits. If the module only
# checks the form (`us.ssn`), hyphens are required; identifiers whose form is too general are left out.
_WRITTEN: dict[str, tuple[tuple[str, str], ...]] = {
    "AT": (("at.vnr", r"[0-9]{4} ?[0-9]{6}"),),
    "AU": (("au.tfn", r"[0-9]{3} [0-9]{3} [0-9]{2,3}"),),
    "BE": (("be.nn", r"[0-9]{2}[ .]?[0-9]{2}[ .]?[0-9]{2}[ -]?[0-9]{3}[ .-]?[0-9]{2}"),),
    "BG": (("bg.egn", r"[0-9]{10}"),),
    "BR": (("br.cpf", r"[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}"),),
    "CA": (("ca.sin", r"[0-9]{3}([ -]?)[0-9]{3}\1[0-9]{3}"),),
    "CH": (("ch.ssn", r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}"),),
    "CN": (("cn.ric", r"[0-9]{17}[0-9Xx]"),),
    "CZ": (("cz.rc", r"[0-9]{6}/?[0-9]{3,4}"),),
    "DE": (("de.idnr", r"[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}"),),
    "DK": (("dk.cpr", r"[0-9]{6}[ -]?[0-9]{4}"),),
    "ES": (("es.dni", r"[0-9]{8}-?[A-Za-z]"), ("es.nie", r"[XYZxyz]-?[0-9]{7}-?[A-Za-z]")),
    "FI": (("fi.hetu", r"[0-9]{6}[-+A-FU-Ya-fu-y][0-9]{3}[0-9A-Ya-y]"),),
    "FR": (("fr.nir", r"[12] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[AaBb]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}"),),
    "GB": (("gb.nhs", r"[0-9]{3}([ -]?)[0-9]{3}\1[0-9]{4}"),),
    "HR": (("hr.oib", r"[0-9]{11}"),),
    "IE": (("ie.pps", r"[0-9]{7} ?[A-Wa-w][A-IWTXa-iwtx]?"),),
    "IN": (("in_.aadhaar", r"[0-9]{4}([ -]?)[0-9]{4}\1[0-9]{4}"), ("in_.pan", r"[A-Z]{5}[0-9]{4}[A-Z]")),
    "IT": (("it.codicefiscale", r"[A-Za-z]{6}[0-9LMNP-V]{2}[A-Za-z][0-9LMNP-V]{2}[A-Za-z][0-9LMNP-V]{3}[A-Za-z]"),),
    "KR": (("kr.rrn", r"[0-9]{6}-[0-9]{7}"),),
    "MX": (("mx.curp", r"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[0-9A-Z][0-9]"),),
    "NL": (("nl.bsn", r"[0-9]{9}|[0-9]{4}\.[0-9]{2}\.[0-9]{3}"),),
    "NO": (("no.fodselsnummer", r"[0-9]{6} ?[0-9]{5}"),),
    "PL": (("pl.pesel", r"[0-9]{11}"),),
    "PT": (("pt.cc", r"[0-9]{8} ?[0-9] ?[A-Z0-9]{2}[0-9]"), ("pt.nif", r"[0-9]{9}|[0-9]{3} [0-9]{3} [0-9]{3}")),
    "RO": (("ro.cnp", r"[0-9]{13}"),),
    "SE": (("se.personnummer", r"(?:[0-9]{2})?[0-9]{6}[-+]?[0-9]{4}"),),
    "SK": (("sk.rc", r"[0-9]{6}/?[0-9]{3,4}"),),
    "TR": (("tr.tckimlik", r"[0-9]{11}"),),
    "US": (("us.ssn", r"[0-9]{3}-[0-9]{2}-[0-9]{4}"),),
    "ZA": (("za.idnr", r"[0-9]{6} ?[0-9]{4} ?[0-9]{3}"),),
}
_MIXED = frozenset({"stdnum.in_.pan", "stdnum.it.codicefiscale"})  # few digits with letters between them
_NEITHER = r"[0-9A-Za-z]"  # not allowed next to an identifier
_RUN = re.compile(r"[(+]{0,2}[0-9](?:[ ().\-/\u00a0\u202f]{0,3}[0-9]){6,30}+")
_DATE = r"(?:[0-3]?[0-9]([ ./-])[01]?[0-9]\1(?:19|20)[0-9]{2}|(?:19|20)[0-9]{2}([ ./-])[01][0-9]\2[0-3][0-9])"
# Groups of digits that are no telephone number: dates, IPv4 addresses, numbers that begin with a year, amounts.
_OTHER = re.compile(
    rf"{_DATE}\b.*|[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}|(?:19|20)[0-9]{{2}} ?[-/] ?[0-9]+"
    r"|[1-9][0-9]{0,2}(?:[ .\u00a0\u202f][0-9]{3})+"
)
_GROUPS = re.compile("[0-9]+")
_MOST_GROUPS_PER_DIGIT = 0.6  # groups per digit: a telephone number is written in pairs at least
_NOT_BEFORE = re.compile(rf"[^\W{UNSPACED}]|[.,/+-]")  # not allowed before a national number


def national_ids(regions: Sequence[str]) -> Finder:
    """Finds personal identifiers of these countries that pass their check; none for a country that is not listed."""
    kinds = [
        (import_module(f"stdnum.{module}"), re.compile(rf"(?<!{_NEITHER})(?<![.,+-])(?:{form})(?!{_NEITHER})"))
        for region in regions
        for module, form in _WRITTEN.get(region, ())
    ]

    def find(text: str) -> Iterator[Span]:
        digits = DIGITS_SIGN.search(text) is not None
        for module, form in kinds:
            if not digits and module.__name__ not in _MIXED:
                continue
            yield from (match.span() for match in form.finditer(text) if _checks_out(module, match.group()))

    return find


def phones_in(regions: Sequence[str]) -> Finder:
    """Finds telephone numbers in the notation of these countries.

    Bare digits count only if they begin with 0: nothing else tells them from an order number.
    """

    def find(text: str) -> Iterator[Span]:
        for run in _RUN.finditer(text):
            before = text[run.start() - 1] if run.start() else " "
            if _NOT_BEFORE.match(before):
                continue
            window = text[run.start() : run.end() + 1]
            if len(_GROUPS.findall(window)) > _MOST_GROUPS_PER_DIGIT * sum(map(str.isdigit, window)):
                continue
            for region in regions:
                for number in PhoneNumberMatcher(window, region, leniency=Leniency.VALID):
                    if _is_phone(number.raw_string):
                        yield run.start() + number.start, run.start() + number.end

    return find


def _checks_out(module: ModuleType, written: str) -> bool:
    valid: bool = module.is_valid(written)
    return valid


def _is_phone(written: str) -> bool:
    if written.startswith("+"):
        return True
    return (written.startswith(("0", "(")) or not written.isdigit()) and _OTHER.fullmatch(written) is None
