"""Finds addresses, numbers and keys by their form alone, whatever the country.

A check decides where a form is ambiguous: the Luhn digit for cards, the remainder modulo 97 for IBANs, the notation for
telephone numbers. So years, dates, amounts and most order numbers stay. Every pattern is bounded or possessive: a
hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from monitor.privacy.redaction.spans import Span

UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts without spaces between words
_LETTER = rf"[^\W_{UNSPACED}]"
_LOCAL = rf"(?:{_LETTER}|[_%+.~-])"
_KEY = re.compile(
    r"""-----BEGIN\ [A-Z0-9 ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----
            (?:(?:\s|\\++[nrt])*+[A-Za-z][A-Za-z-]{0,40}:[ ][^\n\\]{0,200}+){0,8}+  # Proc-Type: 4,ENCRYPTED
            (?:[A-Za-z0-9+/=\s]|\\++[nrt])*+  # line ends may be written as escapes, at any depth
            (?:-----END\ [A-Z0-9 ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----)?
      | (?i:\bbearer)[ \t]{1,4}[A-Za-z0-9._~+/-]{16,}+=*+
      | (?<![A-Za-z0-9_-])(?:
            (?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}+
          | (?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])
          | gh[pousr]_[A-Za-z0-9]{20,}+ | github_pat_[A-Za-z0-9_]{20,}+
          | xox[abeprs]-[A-Za-z0-9-]{10,}+ | xapp-[A-Za-z0-9-]{10,}+
          | AIza[A-Za-z0-9_-]{30,}+
          | eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]++)?
        )""",
    re.VERBOSE,
)
_DOMAIN = rf"(?:{_LETTER}(?:{_LETTER}|-){{0,62}}+\.){{1,8}}{_LETTER}{{2,24}}+"
_E_MAIL = re.compile(rf"(?<!{_LOCAL}){_LOCAL}{{1,256}}+@{_DOMAIN}")
_ENCODED = r"%[0-9A-Fa-f]{2}"
_IN_ADDRESS = re.compile(  # ?to=ann%40example.org
    rf"(?:(?<!{_LOCAL})|(?<={_ENCODED}))(?:(?!{_ENCODED}){_LOCAL}|%2[Bb]){{1,256}}+%40{_DOMAIN}"
)
_GAP = r"[ \t\u00a0\u202f-]"
_IBAN = re.compile(rf"(?<![A-Za-z0-9])[A-Za-z]{{2}}[0-9]{{2}}(?:{_GAP}?[A-Za-z0-9]){{11,30}}")
_IBAN_LENGTHS = range(15, 35)
_NAMED_PHONE = re.compile(
    r"""(?<![^\W_])
        (?i:telephone|telefon|tel|phone|mobile|fax|whatsapp)\.?(?:[ ]?(?i:number|no|nr)\.?)?[ ]?:?[ ]?
        (?P<number>[(+]{0,2}[0-9](?:[ \t().\-/\u00a0]{0,3}[0-9]){6,14})(?![0-9])""",
    re.VERBOSE,
)
_BEFORE = rf"(?<!{_LETTER}|[_.,/+-])"  # before and after a number in its national notation
_AFTER = rf"(?!{_LETTER}|[_-])"
_PHONE = re.compile(
    rf"""(?<!{_LETTER}|[_+])\+[(]?[1-9](?:[ \t().\-/\u00a0\u202f]{{0,3}}[0-9]){{7,14}}(?![0-9])  # +49 (0)30 123456
      | {_BEFORE}\([2-9][0-9]{{2}}\)[ ]?[0-9]{{3}}[ .-][0-9]{{4}}{_AFTER}                  # (555) 123-4567
      | {_BEFORE}(?:1[ .-])?[2-9][0-9]{{2}}(?P<gap>[ .-])[0-9]{{3}}(?P=gap)[0-9]{{4}}{_AFTER}
      | {_BEFORE}00[1-9][0-9]{{0,2}}[ ./-](?:[ ().\-/]{{0,2}}[0-9]){{6,12}}{_AFTER}         # 0049 30 123456
      | {_BEFORE}(?![0-3][0-9](?P<cut>[ .-])[01][0-9](?P=cut)(?:19|20)[0-9]{{2}})        # 020 7946 0958, no date
        (?:\(0[1-9][0-9]{{0,4}}\)[ ]?|0[1-9][0-9]{{0,4}}[ ./-])[0-9]{{2,8}}(?:[ .-][0-9]{{2,6}}){{0,4}}{_AFTER}
    """,
    re.VERBOSE,
)
_NATIONAL_DIGITS = range(9, 14)  # in a number that begins with a single 0
_DIGITS = re.compile(rf"(?<!{_LETTER}|[_.,])[0-9]++(?:{_GAP}[0-9]++)*+")
_GROUP = re.compile(r"[0-9]+")
_CARD_LENGTHS = range(13, 20)
# Signs that a text may hold a match at all. They are searched for first, since most texts hold none.
_IBAN_SIGN = re.compile(r"[A-Za-z]{2}[0-9]{2}")
DIGITS_SIGN = re.compile(r"[0-9](?:[^0-9A-Za-z]{0,3}[0-9]){5}")
_CARD_FIRST = re.compile(r"3[0-9]|4|5|6|2[2-7]")  # first digits that card issuers use


def keys(text: str) -> Iterator[Span]:
    """Secret keys and tokens of well-known vendors, and private keys in PEM format."""
    return (match.span() for match in _KEY.finditer(text))


def e_mails(text: str) -> Iterator[Span]:
    """E-mail addresses, also as they stand in the address of a page."""
    if "@" in text:
        yield from (match.span() for match in _E_MAIL.finditer(text))
    if "%40" in text:
        yield from (match.span() for match in _IN_ADDRESS.finditer(text))


def ibans(text: str) -> Iterator[Span]:
    """IBANs: of each candidate, the longest beginning that ends with a group and passes the check."""
    first = _IBAN_SIGN.search(text)
    place = len(text) if first is None else first.start()
    while (match := _IBAN.search(text, place)) is not None:
        length = _iban_length(match.group())
        place = match.start() + (length or 1)
        if length:
            yield match.start(), place


def cards(text: str) -> Iterator[Span]:
    """Card numbers: neighbouring groups of digits that together pass the check."""
    if DIGITS_SIGN.search(text) is None:
        return
    for match in _DIGITS.finditer(text):
        whole = match.group()
        groups = [group.span() for group in _GROUP.finditer(whole)]
        totals = [0, *accumulate(end - start for start, end in groups)]
        first = 0
        while first < len(groups):
            last = _card_end(whole, groups, totals, first)
            if last is None:
                first += 1
                continue
            yield match.start() + groups[first][0], match.start() + groups[last][1]
            first = last + 1


def phones(text: str) -> Iterator[Span]:
    """Telephone numbers, recognised by their notation or by a word before them."""
    if DIGITS_SIGN.search(text) is None:
        return
    for match in _NAMED_PHONE.finditer(text):
        yield match.span("number")
    for match in _PHONE.finditer(text):
        number = match.group()
        digits = sum(character.isdigit() for character in number)
        national = number.lstrip("(").startswith("0") and not number.startswith("00")
        if not national or digits in _NATIONAL_DIGITS:
            yield match.span()


def _iban_length(written: str) -> int:
    """The number of leading characters that form an IBAN, 0 if none do."""
    for end in range(len(written), 0, -1):
        if end == len(written) or not written[end].isalnum():
            account = "".join(filter(str.isalnum, written[:end]))
            if len(account) in _IBAN_LENGTHS and _is_account(account):
                return end
    return 0


def _card_end(whole: str, groups: list[Span], totals: list[int], first: int) -> int | None:
    """Index of the last group of the longest card number that begins with group `first`."""
    if not _CARD_FIRST.match(whole, groups[first][0]):
        return None
    best = None
    for last in range(first, min(first + _CARD_LENGTHS.stop, len(groups))):
        length = totals[last + 1] - totals[first]
        if length >= _CARD_LENGTHS.stop:
            break
        if length in _CARD_LENGTHS:
            digits = "".join(whole[start:end] for start, end in groups[first : last + 1])
            best = last if _is_card(digits) else best
    return best


def _is_account(account: str) -> bool:
    """Whether the check digits of an IBAN are right: ISO 7064, MOD 97-10, with letters from A = 10."""
    return int("".join(str(int(character, 36)) for character in account[4:] + account[:4])) % 97 == 1


def _is_card(digits: str) -> bool:
    """Whether the last digit is the right check digit: ISO/IEC 7812-1, annex B (Luhn)."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0
