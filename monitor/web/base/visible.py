"""Bytes and foreign text with nothing hidden in them: what has no shape of its own is written out."""

from __future__ import annotations

import re
from unicodedata import category

_LONGEST = 4  # bytes of a character
_PLAIN = "\n\t"
_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # many scripts and emoji need them


def visible(text: str) -> str:
    """`text` with characters that are not seen, or that steer what is, as `⟨U+202E⟩`.

    Line feeds and tabs stay, and the joiners that many scripts need.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_seen(character) for character in text)


def visible_bytes(value: bytes, most: int) -> tuple[str, int]:
    r"""The beginning of `value` as text of at most `most` bytes, bytes that are no UTF-8 as `\xff`; and how many more.

    A character that the end would cut in two is left out.
    """
    end = min(most, len(value))
    for _ in range(_LONGEST - 1):
        if 0 < end < len(value) and value[end] & 0xC0 == 0x80:  # noqa: PLR2004  a byte that continues a character
            end -= 1
    return value[:end].decode("utf-8", "backslashreplace"), len(value) - end


def unescaped(text: str) -> str:
    r"""`text` with what JSON may write as `\u0040` as the character itself, so that masking sees it."""
    return _ESCAPED.sub(lambda its: bytes.fromhex(its[0].replace(r"\u", "")).decode("utf-16-be", "replace"), text)


def _seen(character: str) -> str:
    if character in _PLAIN or character in _JOINERS:
        return character
    return f"⟨U+{ord(character):04X}⟩" if category(character) in _UNSEEN else character
