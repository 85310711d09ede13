"""Reads figures and signs of other scripts and widths as ASCII, one character as one, so that places stay the same."""

from __future__ import annotations

from monitor.privacy.redaction.spans import Finder

_FULL_WIDTH = range(0xFF01, 0xFF5F)  # ！ to ～
# The zeros of the figures that texts of today use: Arabic, Persian, Devanagari, Bengali, Tamil, Thai.
_ZEROS = (0x660, 0x6F0, 0x966, 0x9E6, 0xBE6, 0xE50)
_NARROW = (
    {full: full - 0xFEE0 for full in _FULL_WIDTH}
    | {zero + figure: ord("0") + figure for zero in _ZEROS for figure in range(10)}
    | {0x3000: ord(" "), 0x2010: ord("-"), 0x2011: ord("-")}  # a wide space; hyphens, one of which does not break
)


def narrow(text: str) -> str:
    """`text` with its figures and signs in ASCII, at the same length; the same object if all of it is ASCII."""
    return text if text.isascii() else text.translate(_NARROW)


def reading_narrow(find: Finder) -> Finder:
    """The finder, reading each text in its narrow form."""
    return lambda text: find(narrow(text))
