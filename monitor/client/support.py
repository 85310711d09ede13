"""Supporting documents from the chatbot's own generator: what to add to its prompt, and how to read what comes back."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import NamedTuple

SUPPORT_PROMPT = """\
After your answer, add one block that lists the passages of the documents which support it, in exactly this form:

<supporting_documents>
<quote>a passage of a document, copied word for word</quote>
<quote>another passage</quote>
</supporting_documents>

Copy each passage unchanged and keep it short: one to three sentences. List every passage that the answer relies on, and
nothing else. If no passage supports your answer, or if you cannot answer, leave the block empty. Do not mention the
block in your answer.
"""

_TAG = r"supporting[_ -]documents"
_FENCE_BEFORE = r"(?P<fence>^[ \t]*```\w*[ \t]*\n\s*)?"
# The block, closed or cut off, with the fence and the heading that models put around it.
_BLOCK = re.compile(
    rf"{_FENCE_BEFORE}<\s*{_TAG}\s*>(?P<inside>.*?)(?:<\s*/\s*{_TAG}\s*>(?P<after>\s*?\n[ \t]*```[ \t]*(?=\n|\Z))?|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_QUOTE = re.compile(r"<\s*quote\b[^<>]*>(.*?)(?:<\s*/\s*quote\s*>|(?=<\s*quote\b)|\Z)", re.DOTALL | re.IGNORECASE)
_HALF_TAG = re.compile(r"<[^<>]*\Z")  # a tag that the end of the text has cut
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_NOTHING = {"", "none", "none.", "n/a", "[]", "-", "(none)", "(empty)"}
_OPENING = "<supporting_documents>"
_LONGEST_TAG = 60  # characters, with some white space in it
_OPENING_TAG = re.compile(rf"{_FENCE_BEFORE}<\s*{_TAG}\s*>", re.IGNORECASE | re.MULTILINE)
_CLOSING_TAG = re.compile(rf"<\s*/\s*{_TAG}\s*>", re.IGNORECASE)
_HALF_OPENING = re.compile(
    r"(?:^[ \t]*`{1,3}\w{0,20}[ \t]*(?:\n\s{0,20})?(?:<[^<>]{0,60})?|<[^<>]{0,60})\Z", re.MULTILINE
)
_FENCE_LINE = re.compile(r"^[ \t]*```", re.MULTILINE)
_FENCE = re.compile(r"(?:\n|\A)[ \t]*(?:`{1,3}|```\w*[ \t]*\n\s*)\Z")


class Split(NamedTuple):
    """The answer as the user is to read it, and the supporting documents; None if the reply does not name any."""

    answer: str
    supporting_documents: list[str] | None


def split_support(text: str) -> Split:
    """Takes the block that `SUPPORT_PROMPT` asks for out of a model's reply.

    Also read: a block in a code fence, in other case, before the answer or more than once; quotes without end because
    the reply was cut off; a JSON list or a bulleted list instead of quotes; `&lt;` for `<`. An empty block gives no
    supporting documents, a missing one gives None: the monitor then looks for them itself.
    """
    if "<" not in text and "&lt;" in text and re.search(rf"&lt;\s*{_TAG}", text, re.IGNORECASE):
        text = html.unescape(text)
    answer: list[str] = []
    blocks: list[str] = []
    end = 0
    for match in _BLOCK.finditer(text):
        answer.append(text[end : match.start()])
        if match["fence"] and _in_code(answer):  # it ends the answer's own code
            answer += (match["fence"], match["after"] or "")
        blocks.append(match["inside"])
        end = match.end()
    if not blocks:
        return Split(_without_half_opening(text).strip(), None)
    pieces = [piece for block in blocks for piece in _pieces(block)]
    return Split("".join([*answer, text[end:]]).strip(), list(dict.fromkeys(pieces)))


def _pieces(block: str) -> list[str]:
    quotes = _QUOTE.findall(block)
    if quotes:
        return _cleaned(_HALF_TAG.sub("", quote) for quote in quotes)
    inside = _HALF_TAG.sub("", block).strip().strip("`").strip()
    try:
        listed = json.loads(inside.removeprefix("json").strip()) if inside else []
    except ValueError:
        return _cleaned(_BULLET.sub("", line) for line in inside.splitlines())
    items = listed if isinstance(listed, list) else [listed]
    texts = [item.get("text") or item.get("quote") if isinstance(item, dict) else item for item in items]
    return _cleaned(text for text in texts if isinstance(text, str))


def _cleaned(pieces: Iterable[str]) -> list[str]:
    texts = (html.unescape(piece).strip().strip('"“”').strip() for piece in pieces)
    return [text for text in texts if text.lower() not in _NOTHING]


def _in_code(pieces: Iterable[str]) -> bool:
    """Whether a text, given in pieces, ends within a code fence that is still open."""
    return len(_FENCE_LINE.findall("".join(pieces))) % 2 == 1


def _without_half_opening(text: str, before: Iterable[str] = ()) -> str:
    """`text`, which follows `before`, without the beginning of a block that its end has cut, such as `<support`."""
    at = text.rfind("<")
    if at >= 0 and len(text) - at > 1 and _OPENING.startswith(text[at:].lower()):
        fence = _FENCE.search(text[:at])
        return text[:at] if fence is None or _in_code([*before, text[: fence.start()]]) else text[: fence.start()]
    return text


class SupportStream:
    """Splits a reply while it is streamed: `feed` gives what may be shown by now, and holds back what may be the block.

    After the last piece, `end` gives what is left to show, and `supporting_documents` are as of `split_support`.
    """

    def __init__(self) -> None:
        self.supporting_documents: list[str] | None = None
        self._held = ""
        self._shown: list[str] = []
        self._block: list[str] = []
        self._inside = self._fenced = False

    def feed(self, piece: str) -> str:
        """The part of the answer that is now known not to belong to the block."""
        self._held += piece
        shown = []
        moved = True
        while moved:
            if self._inside:
                moved = self._read_block()
            elif self._fenced and "```".startswith(rest := self._held.strip()[:3]):
                moved = rest == "```"  # else more of the fence may come
                if moved:
                    self._held, self._fenced = self._held.lstrip()[3:], False
            else:
                text, moved = self._read_answer()
                shown.append(text)
        return "".join(shown)

    def end(self) -> str:
        """The rest of the answer."""
        rest = "" if self._inside else _without_half_opening(self._held, self._shown)
        if self._inside:
            self._block.append(self._held)
        if self._block:
            self.supporting_documents = split_support("".join(self._block)).supporting_documents
        self._held = ""
        return "" if self._fenced and not rest.strip("` \n") else rest

    def _read_answer(self) -> tuple[str, bool]:
        """Text to show, and whether a block begins after it."""
        self._fenced = False
        if (opening := _OPENING_TAG.search(self._held)) is not None:
            text, self._held = self._held[: opening.start()], self._held[opening.end() :]
            fence = opening["fence"] or ""
            if fence and _in_code([*self._shown, text]):  # it ends the answer's own code
                text, fence = text + fence, ""
            self._shown.append(text)
            self._block.append(_OPENING)
            self._inside, self._fenced = True, bool(fence)
            return text, True
        half = _HALF_OPENING.search(self._held)
        cut = len(self._held) if half is None else half.start()
        text, self._held = self._held[:cut], self._held[cut:]
        self._shown.append(text)
        return text, False

    def _read_block(self) -> bool:
        """Whether the block has come to its end."""
        closing = _CLOSING_TAG.search(self._held)
        cut = max(len(self._held) - _LONGEST_TAG, 0) if closing is None else closing.end()
        self._block.append(self._held[:cut])
        self._held = self._held[cut:]
        self._inside = closing is None
        return closing is not None
