"""Decodes bytes and foreign text so that nothing in them stays hidden: invisible characters are written out."""

from __future__ import annotations

from unicodedata import category

_MAX_UTF8_BYTES = 4  # of one character
_CONTINUATION_MASK, _CONTINUATION = 0xC0, 0x80  # a byte that continues a UTF-8 character
_KEPT_CONTROLS = "\n\t"
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # many scripts and emoji need them


def escape_invisible(text: str) -> str:
    """`text` with characters that cannot be seen, or that steer how others are shown, as `⟨U+202E⟩`.

    Line feeds and tabs stay, and the joiners that many scripts need.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(character) for character in text)


def decode_head(value: bytes, most: int) -> tuple[str, int]:
    r"""The first `most` bytes of `value` as text, bytes that are not UTF-8 as `\xff`; and the number of bytes left.

    A character that the limit would cut in two is left out.
    """
    end = min(most, len(value))
    for _ in range(_MAX_UTF8_BYTES - 1):
        if 0 < end < len(value) and value[end] & _CONTINUATION_MASK == _CONTINUATION:
            end -= 1
    return value[:end].decode("utf-8", "backslashreplace"), len(value) - end


def _escape(character: str) -> str:
    if character in _KEPT_CONTROLS or character in _JOINERS:
        return character
    return f"⟨U+{ord(character):04X}⟩" if category(character) in _INVISIBLE else character
