"""What an answer does, sentence by sentence: says something, refuses, is courteous or hedges; from its wording.

An answer refuses in full when nothing but courtesy stands beside its refusal, when it opens with a refusal and little
else follows, or when more than SHARE of its words refuse. What the documents talk of instead and whom else to ask
answers nothing and does not count; what they do report counts for less. It refuses in part when it answers the rest; a
clause that answers beside one that refuses ("the manual does not give the price, but …") is a sentence of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from monitor.assess.classify.clauses import UNSPACED_WORD, WORD, Clause, after_lead, refusing_clauses, word_count
from monitor.assess.classify.lexicon import (
    BARE,
    CUE_PIECES,
    CUES,
    OPENER_PIECES,
    OPENERS,
    UNSPACED,
    WORDINGS,
    fold,
    unspaced,
)
from monitor.assess.classify.lexicon.examples import EXAMPLES
from monitor.assess.classify.lexicon.wording import Wording
from monitor.assess.classify.referrals import points_elsewhere
from monitor.core.model import RefusalKind
from monitor.core.text.sentences import sentence_spans

SHARE = 0.4  # of the words
OPENING_CONTENT = 2.0  # words of content for each refusing word, after an opening refusal
REPORTED = 0.75  # of a word: "the passages do mention …" after a refusal is less than an answer
MOST_CONTENT = 50  # words beside a full refusal; what says more answers something
LONGEST = 4_000  # characters in which a refusal is looked for, and at either end of an answer a courtesy
LONGEST_SENTENCE = 600  # characters looked at in a sentence; bounds the time of the patterns
LONGEST_COURTESY = 200  # characters of a sentence without content
MOSTLY = 0.8  # of a sentence in quotation marks: then the quotation is the answer
STEM = 5  # letters by which a word of the answer is found in the question
LEAST_NEW = 4  # letters of a word that may be content
SHORT = 3  # sentences of an answer whose closeness is asked

LONGEST_HEAD = 90  # characters of a polite head before a colon
_CHECKABLE = re.compile(r"\d|@|https?:|www\.")  # a figure or an address can be wrong, so it is no courtesy
_QUOTED = re.compile(r'"[^"\n]{1,200}"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|「[^」\n]{1,200}」')


class Role(StrEnum):
    """What a sentence does in an answer."""

    CONTENT = "content"
    REFUSING = "refusing"
    COURTESY = "courtesy"
    HEDGE = "hedge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, or a clause where one refuses and its neighbour does not, as offsets `[start, end)` of the answer.

    `cue` is the span of the words that made it what it is, `language` the code of their wording; content has neither.
    """

    start: int
    end: int
    role: Role
    cue: tuple[int, int] | None
    language: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How much of an answer refuses, and the sentences that say so, in order.

    `answered` is how many words beside a refusal answer, asides and reports on what the documents say left out.
    """

    kind: RefusalKind
    sentences: tuple[Sentence, ...]
    answered: int = 0


def refusal_kind(answer: str) -> RefusalKind:
    """How much of the answer refuses, by its wording in the languages of `lexicon.WORDINGS`."""
    return read_answer(answer).kind


def read_answer(answer: str, question: str = "", *, close: bool = False) -> Reading:
    """The answer sentence by sentence, and how much of it refuses.

    Args:
        answer: the text as it was given; all offsets are its own.
        question: what was asked; an answer that only repeats its words adds nothing to a refusal.
        close: whether the answer's vector is near to one of `lexicon.examples`. It decides only short answers that
            negate something, match no pattern and say nothing that the question did not.
    """
    said = fold(answer)
    head = said[:LONGEST]
    cued = not CUES.keys().isdisjoint(WORD.findall(head)) or bool(unspaced(head) and CUE_PIECES.search(head))
    sentences: list[Sentence] = []
    contrasted: set[int] = set()  # where content begins that stands in one sentence with a refusal
    for start, end in sentence_spans(answer):
        if cued and start < LONGEST and (parts := _refusing(said, start, end)):
            contrasted.update(p.start for p in parts if p.role is Role.CONTENT)
            sentences.extend(parts)
        else:
            sentences.extend(_stating(said, start, end))
    if cued and any(s.role is Role.REFUSING for s in sentences):
        kind, answered = _kind(said, sentences, contrasted, _stems(question))
        return Reading(kind=kind, sentences=tuple(sentences), answered=answered)
    refuses = _only_apologises(said, sentences) or (
        cued and close and 0 < len(sentences) <= SHORT and not _new(said, _stems(question) | _REFUSING_STEMS)
    )
    if refuses:
        return Reading(kind=RefusalKind.FULL, sentences=tuple(_as_refusing(s) for s in sentences))
    return Reading(kind=RefusalKind.NONE, sentences=tuple(sentences))


def _content(start: int, end: int) -> Sentence:
    return Sentence(start=start, end=end, role=Role.CONTENT, cue=None, language=None)


def _as_refusing(s: Sentence) -> Sentence:
    return Sentence(start=s.start, end=s.end, role=Role.REFUSING, cue=(s.start, s.end), language=s.language)


def _stating(said: str, start: int, end: int) -> list[Sentence]:
    """The sentence as content, but for a polite head that ends in a colon ("Here is what I found: …")."""
    if polite := _polite(said, start, end):
        return [polite]
    if BARE.issuperset(WORD.findall(said, start, end)) or points_elsewhere(said[start:end]):
        return [Sentence(start=start, end=end, role=Role.COURTESY, cue=(start, end), language=None)]
    colon = said.find(":", start, min(end, start + LONGEST_HEAD))
    if 0 <= colon < end - 1 and (head := _polite(said, start, colon)):
        rest = colon + 1 + len(said[colon + 1 : end]) - len(said[colon + 1 : end].lstrip())
        return [head, _content(rest, end)]
    return [_content(start, end)]


def _polite(said: str, start: int, end: int) -> Sentence | None:
    """The sentence as a courtesy or a hedge, when that is all it is."""
    if end - start > LONGEST_COURTESY or LONGEST < start < len(said) - LONGEST:
        return None
    if not (first := WORD.search(said, start, end)):
        return None
    wordings = OPENERS.get(first.group())
    if wordings is None:
        if not unspaced(first.group()) or not OPENER_PIECES.search(said, start, end):
            return None
        wordings = UNSPACED
    for wording in wordings:
        for role, whole in ((Role.COURTESY, wording.courtesy), (Role.HEDGE, wording.hedge)):
            if whole.fullmatch(said, start, end):
                if _CHECKABLE.search(said, start, end):
                    return None
                return Sentence(start=start, end=end, role=role, cue=(start, end), language=wording.code)
    return None


def _only_apologises(said: str, sentences: list[Sentence]) -> bool:
    """Whether the answer is courtesy and no more, and a bare apology stands in it: "Sorry."."""
    if not sentences or any(s.role is not Role.COURTESY for s in sentences):
        return False
    return any(w.apology.fullmatch(said, s.start, s.end) for s in sentences for w in WORDINGS if w.code == s.language)


def _refusing(said: str, start: int, end: int) -> list[Sentence]:
    """The sentence in one part or more when a clause of it refuses, else nothing.

    What is longer than the patterns may look at goes on with content.
    """
    stop = end if end - start <= LONGEST_SENTENCE else start + LONGEST_SENTENCE
    piece = _unquoted(said[start:stop])
    found = {w.code for word in WORD.findall(piece) for w in CUES.get(word, ())}
    if unspaced(piece) and CUE_PIECES.search(piece):
        found.update(w.code for w in UNSPACED)
    for wording in WORDINGS:
        if wording.code in found and (clauses := refusing_clauses(piece, wording)):
            parts = [_part(start, clause, wording.code) for clause in clauses]
            return parts if stop == end else [*parts, _content(stop, end)]
    return []


def _part(start: int, clause: Clause, language: str) -> Sentence:
    if clause.cue is None:
        return _content(start + clause.start, start + clause.end)
    cue = start + clause.cue[0], start + clause.cue[1]
    return Sentence(start=start + clause.start, end=start + clause.end, role=Role.REFUSING, cue=cue, language=language)


def _unquoted(piece: str) -> str:
    """What is said, not cited: quotations blanked, unless they are most of it."""
    quoted = sum(len(m[0]) for m in _QUOTED.finditer(piece))
    return piece if quoted > MOSTLY * len(piece) else _QUOTED.sub(lambda m: "x" * len(m[0]), piece)


def _kind(said: str, sentences: list[Sentence], contrasted: set[int], asked: frozenset[str]) -> tuple[RefusalKind, int]:
    """How much of the answer refuses, and words that answer; `contrasted`: where content begins beside a refusal."""
    wordings = [w for w in WORDINGS if any(s.language == w.code and s.role is Role.REFUSING for s in sentences)]
    refusing = content = 0.0
    answered = 0
    opens: bool | None = None
    for s in sentences:
        text = said[s.start : s.end]
        words = word_count(text)
        if s.role is Role.REFUSING:
            refusing += words
            opens = opens is None or opens
        elif s.role is Role.CONTENT:
            weight = _weight(text, wordings, asked)
            if s.start in contrasted and weight == 1:
                return RefusalKind.PARTIAL, words
            content += words * weight
            answered += words * (weight == 1)
            opens = opens if opens is not None or not words * weight else False
    full = content <= OPENING_CONTENT * refusing if opens else refusing > SHARE * (refusing + content)
    return (RefusalKind.FULL if full and content <= MOST_CONTENT else RefusalKind.PARTIAL), answered


def _weight(text: str, wordings: list[Wording], asked: frozenset[str]) -> float:
    """How far a sentence of content answers: not when it is an aside or repeats the question, less when it reports."""
    if asked and not _new(text, asked):
        return 0
    for wording in wordings:
        body = text[after_lead(text, 0, len(text), wording) :]
        if wording.aside.match(body):
            return 0
        if wording.report.match(body):
            return REPORTED
    return 1


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in UNSPACED_WORD.findall(fold(text[:LONGEST])))


def _new(text: str, known: frozenset[str]) -> bool:
    """Whether the text has a figure or a longer word that is not among the known ones."""
    return any(
        word[:STEM] not in known and (len(word) >= LEAST_NEW or word.isdecimal() or not word.isascii())
        for word in UNSPACED_WORD.findall(text)
    )


_REFUSING_STEMS = _stems(" ".join(EXAMPLES))
