r"""Reads texts as JSON strings, and as JSON strings within JSON strings, so that no escape hides personal data.

Every level of nesting is read once, and there are at most `MOST_LEVELS`: a hostile text costs time in proportion to its
length. A text that is nested deeper is one finding as a whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from monitor.privacy.redaction.spans import Finder, Finding, Span, find_all, merged

MOST_LEVELS = 16
TOO_DEEP = "[nested too deeply]"
_ESCAPE = re.compile(
    r'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])'  # a pair is one
)
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A text with its escapes decoded once. Piece i is `text[starts[i]:starts[i + 1]]`, from `origins[i]` on.

    The pieces are the escapes, of one character each, and what is between them.
    """

    text: str
    starts: Sequence[int]
    origins: Sequence[int]

    def origin(self, start: int, end: int) -> Span:
        """Where `text[start:end]` was before it was decoded; it is not empty."""
        return self._piece(start)[0], self._piece(end - 1)[1]

    def _piece(self, place: int) -> Span:
        """Where the character at `place` was."""
        piece = bisect_right(self.starts, place) - 1
        origin, after = self.origins[piece], self.origins[piece + 1]
        if after - origin != self.starts[piece + 1] - self.starts[piece]:
            return origin, after
        moved = origin + place - self.starts[piece]
        return moved, moved + 1


def find_everywhere(text: str, finders: Sequence[tuple[str, Finder]]) -> list[Finding]:
    """What is found in `text` as it is, and where its escapes are decoded; in order, without overlaps."""
    return merged([*find_all(text, finders), *find_decoded(text, finders)])


def find_decoded(text: str, finders: Sequence[tuple[str, Finder]]) -> list[Finding]:
    """What is found where escapes are decoded, once or several times, as places in `text`; overlaps are possible."""
    found: list[Finding] = []
    levels: list[Level] = []
    for level in _levels(text):
        if len(levels) == MOST_LEVELS:
            return [Finding(start=0, end=len(text), placeholder=TOO_DEEP)]
        levels.append(level)
        for finding in find_all(level.text, finders):
            start, end = finding.start, finding.end
            for each in reversed(levels):
                start, end = each.origin(start, end)
            found.append(Finding(start=start, end=end, placeholder=finding.placeholder))
    return found


def _levels(text: str) -> Iterator[Level]:
    while _ESCAPE.search(text):
        level = _decoded(text)
        yield level
        text = level.text


def _decoded(text: str) -> Level:
    pieces, starts, origins = [], [0], [0]
    done = length = 0
    for match in _ESCAPE.finditer(text):
        for piece, end in ((text[done : match.start()], match.start()), (_character(match.group()), match.end())):
            if piece:
                pieces.append(piece)
                length += len(piece)
                starts.append(length)
                origins.append(end)
        done = match.end()
    pieces.append(text[done:])
    return Level(text="".join(pieces), starts=[*starts, length + len(text) - done], origins=[*origins, len(text)])


def _character(escape: str) -> str:
    if escape[1] != "u":
        return _SIMPLE.get(escape[1], escape[1])
    return bytes.fromhex(escape.replace("\\u", "")).decode("utf-16-be", "replace")
