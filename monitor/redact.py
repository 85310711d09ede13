"""Personal numbers, addresses and keys in a text, each replaced by a word for what stood there.

Where a form is ambiguous a check decides: cards by the Luhn digit, IBANs by their remainder modulo 97, telephone
numbers by how they are written. So years, dates, amounts and most order numbers stay. Every pattern is bounded or
possessive: a hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from itertools import accumulate

E_MAIL = "[e-mail]"
PHONE = "[phone]"
CARD = "[card]"
IBAN = "[IBAN]"
KEY = "[key]"

_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts whose words touch what they stand beside
_LETTER = rf"[^\W_{_UNSPACED}]"
_LOCAL = rf"(?:{_LETTER}|[_%+.~-])"
_KEY = re.compile(
    r"""-----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY-----[A-Za-z0-9+/=\s]*+(?:-----END\ [A-Z ]{0,40}PRIVATE\ KEY-----)?
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
_E_MAIL = re.compile(
    rf"(?<!{_LOCAL}){_LOCAL}{{1,256}}+@(?:{_LETTER}(?:{_LETTER}|-){{0,62}}+\.){{1,8}}{_LETTER}{{2,24}}+"
)
_GAP = r"[ \u00a0\u202f-]"
_IBAN = re.compile(rf"(?<![A-Za-z0-9])[A-Za-z]{{2}}[0-9]{{2}}(?:{_GAP}?[A-Za-z0-9]){{11,30}}")
_IBAN_LENGTHS = range(15, 35)
_NAMED_PHONE = re.compile(
    r"""(?<![^\W_])
        (?P<name>(?i:telephone|telefon|tel|phone|mobile|fax|whatsapp)\.?(?:[ ]?(?i:number|no|nr)\.?)?[ ]?:?[ ]?)
        (?P<number>[(+]{0,2}[0-9](?:[ ().\-/\u00a0]{0,3}[0-9]){6,14})(?![0-9])""",
    re.VERBOSE,
)
_PHONE = re.compile(
    r"""(?<![\w+])\+[(]?[1-9](?:[ ().\-/\u00a0\u202f]{0,3}[0-9]){7,14}(?![0-9])            # +49 (0)30 123456
      | (?<![\w.,/+-])\([2-9][0-9]{2}\)[ ]?[0-9]{3}[ .-][0-9]{4}(?![\w-])                  # (555) 123-4567
      | (?<![\w.,/+-])(?:1[ .-])?[2-9][0-9]{2}(?P<gap>[ .-])[0-9]{3}(?P=gap)[0-9]{4}(?![\w-])
      | (?<![\w.,/+-])00[1-9][0-9]{0,2}[ ./-](?:[ ().\-/]{0,2}[0-9]){6,12}(?![\w-])         # 0049 30 123456
      | (?<![\w.,/+-])(?![0-3][0-9](?P<cut>[ .-])[01][0-9](?P=cut)(?:19|20)[0-9]{2})        # no date
        (?:\(0[1-9][0-9]{0,4}\)[ ]?|0[1-9][0-9]{0,4}[ ./-])[0-9]{2,8}(?:[ .-][0-9]{2,6}){0,4}(?![\w-]) # 020 7946 0958
    """,
    re.VERBOSE,
)
_NATIONAL_DIGITS = range(9, 14)  # of a number that begins with a single 0
_DIGITS = re.compile(rf"(?<![\w.,])[0-9]++(?:{_GAP}[0-9]++)*+")
_GROUP = re.compile(r"[0-9]+")
_CARD_LENGTHS = range(13, 20)
_CARD_FIRST = re.compile(r"3[0-9]|4|5|6|2[2-7]")  # what the issuers' numbers begin with


def redact(text: str) -> str:
    """`text` with `[e-mail]`, `[phone]`, `[card]`, `[IBAN]` and `[key]` in place of what they name."""
    text = _KEY.sub(KEY, text)
    if "@" in text:
        text = _E_MAIL.sub(E_MAIL, text)
    text = _IBAN.sub(_iban, text)
    text = _DIGITS.sub(_cards, text)
    text = _NAMED_PHONE.sub(lambda found: found["name"] + PHONE, text)
    return _PHONE.sub(_phone, text)


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of those before it (ISO/IEC 7812-1)."""
    values = [int(digit) for digit in reversed(digits)]
    doubled = [sum(divmod(2 * value, 10)) for value in values[1::2]]
    return (sum(values[::2]) + sum(doubled)) % 10 == 0


def mod97(account: str) -> bool:
    """Whether an IBAN without its spaces has a remainder of 1 modulo 97 (ISO 13616): letters count from A = 10."""
    moved = account[4:] + account[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


def _iban(found: re.Match[str]) -> str:
    """The longest beginning that ends with a group and checks out is the number; what follows it is text again."""
    whole = found.group()
    ends = [place for place in range(len(whole), 0, -1) if place == len(whole) or not whole[place].isalnum()]
    for end in ends:
        account = "".join(filter(str.isalnum, whole[:end]))
        if len(account) in _IBAN_LENGTHS and mod97(account):
            return IBAN + whole[end:]
    return whole


def _cards(found: re.Match[str]) -> str:
    """Of a run of groups of digits, those neighbouring groups that make up a card's number."""
    whole = found.group()
    groups = [match.span() for match in _GROUP.finditer(whole)]
    totals = [0, *accumulate(end - start for start, end in groups)]
    pieces: list[str] = []
    done = first = 0
    while first < len(groups):
        last = _card_end(whole, groups, totals, first)
        if last is None:
            first += 1
            continue
        pieces += [whole[done : groups[first][0]], CARD]
        done, first = groups[last][1], last + 1
    return "".join([*pieces, whole[done:]])


def _card_end(whole: str, groups: list[tuple[int, int]], totals: list[int], first: int) -> int | None:
    """The last group of the longest card number that begins with group `first`."""
    if not _CARD_FIRST.match(whole, groups[first][0]):
        return None
    best = None
    for last in range(first, min(first + _CARD_LENGTHS.stop, len(groups))):
        length = totals[last + 1] - totals[first]
        if length >= _CARD_LENGTHS.stop:
            break
        if length in _CARD_LENGTHS:
            digits = "".join(whole[start:end] for start, end in groups[first : last + 1])
            best = last if luhn(digits) else best
    return best


def _phone(found: re.Match[str]) -> str:
    number = found.group()
    digits = sum(character.isdigit() for character in number)
    national = number.lstrip("(").startswith("0") and not number.startswith("00")
    return number if national and digits not in _NATIONAL_DIGITS else PHONE
