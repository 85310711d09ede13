"""Makes text from outside safe to show, and formats shares, amounts and times."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from unicodedata import category

ELLIPSIS = "…"
NOTHING = "(empty)"
# Control, format (bidi marks and overrides, zero-width space, tags) and surrogate characters.
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})
_JOINERS = frozenset("\u200c\u200d")  # ZWNJ and ZWJ, which many scripts and emoji need
_SMALL = 0.01
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """`text` on one line: white space is folded; control, bidi and other invisible characters are removed.

    `NOTHING` if nothing visible is left. Idempotent.
    """
    folded = " ".join(text.split())
    if folded.isascii() and folded.isprintable():
        return folded or NOTHING
    seen = "".join(c for c in folded if c in _JOINERS or category(c) not in _UNSEEN)
    seen = " ".join(seen.split())
    return seen if seen.strip(" \u200c\u200d") else NOTHING


def shortened(text: str, limit: int, escape: Callable[[str], str] = str) -> str:
    """`plain(text)`, escaped character by character and cut to `limit`, with … at the end if it was cut.

    The limit counts UTF-16 units after escaping, the strictest way in which a service may count. No character and no
    escape is ever cut in two.
    """
    pieces: list[str] = []
    used = 0
    kept = 0  # the number of pieces that leave room for the ellipsis
    for character in plain(text):
        piece = escape(character)
        used += units(piece)
        if used > limit:
            return "".join(pieces[:kept]).rstrip() + ELLIPSIS
        pieces.append(piece)
        if used <= limit - len(ELLIPSIS):
            kept = len(pieces)
    return "".join(pieces)


def units(text: str) -> int:
    """The length of `text` in UTF-16 units: two for a character beyond the Basic Multilingual Plane."""
    return len(text) + sum(character > "\uffff" for character in text)


def percent(rate: float) -> str:
    """A share as a percentage: `0.3818` → `38.2 %`, `0.0042` → `0.42 %`."""
    return f"{rate * 100:.{2 if 0 < rate < _SMALL else 1}f} %"


def plural(count: int, noun: str, plural_noun: str | None = None) -> str:
    """`1 answer`, `2,000 answers`."""
    return f"{count:,} {noun if count == 1 else plural_noun or f'{noun}s'}"


def money(value: float) -> str:
    """An amount of money without its currency: `1,204.50`, `0.0042`; below 1 three digits count."""
    return f"{value:,.2f}" if value >= 1 or value <= 0 else f"{Decimal(f'{value:.3g}'):f}"


def without_prefix(message: str) -> str:
    """A message of pydantic's without the words that it puts before those of a check of ours."""
    return message.removeprefix("Value error, ")


def moment(time: datetime) -> str:
    """The time in UTC to the minute, since readers are in several time zones."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def readable(text: str) -> str:
    """Text from outside, safe for a terminal: control characters, which could control it, become U+FFFD."""
    return _CONTROL.sub("\ufffd", text)
