"""Reads from its wording what each sentence of an answer does: it states something, refuses, is courteous or hedges.

An answer refuses in full when it holds only a refusal and courtesy, when it opens with a refusal and little else
follows, or when more than SHARE of its words refuse. Asides (what the documents cover instead, whom else to ask) answer
nothing and do not count; reports of what the documents do say count for less. An answer refuses in part when it answers
the rest; after a mere limit ("I can only help with returns") whatever is stated is an answer. A clause that answers
next to one that refuses ("the manual does not give the price, but …") counts as a sentence of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
from monitor.assess.classify.repeated import repeated
from monitor.core.model import RefusalKind
from monitor.core.text.sentences import sentence_spans

SHARE = 0.4  # of the words
OPENING_CONTENT = 2.0  # words of content per refusing word, after an opening refusal
REPORTED = 0.75  # the weight of a word in a report: "the passages do mention …" after a refusal is less than an answer
MOST_CONTENT = 50  # words of content in a full refusal; a longer text answers something
LONGEST = 4_000  # characters that are searched for a refusal, and at either end of an answer for a courtesy
LONGEST_SENTENCE = 600  # characters searched in a sentence; limits the time of the patterns
LONGEST_COURTESY = 200  # characters of a sentence without content
MOSTLY = 0.8  # the share of a sentence in quotation marks from which on the quotation is the answer
STEM = 5  # letters by which a word of the answer is matched to the question
LEAST_NEW = 4  # letters of a word that may be content
SHORT = 3  # sentences of an answer whose closeness to a refusal counts

LONGEST_HEAD = 90  # characters of a polite head before a colon
_CHECKABLE = re.compile(r"\d|@|https?:|www\.")  # a figure or an address can be wrong, so it is not a courtesy
_QUOTED = re.compile(r'"[^"\n]{1,200}"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|「[^」\n]{1,200}」')
_OPENING_QUOTES = frozenset("“«「")


class Role(StrEnum):
    """The role of a sentence in an answer."""

    CONTENT = "content"
    REFUSING = "refusing"
    COURTESY = "courtesy"
    HEDGE = "hedge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """Characters `[start, end)` of the answer: a sentence, or a clause if it refuses and its neighbour does not.

    `cue` is the span of the words that give it its role, `language` the code of their wording; content has neither.
    """

    start: int
    end: int
    role: Role
    cue: tuple[int, int] | None
    language: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How much of an answer refuses, and its sentences in order.

    `answered` is the number of words that answer next to a refusal, without asides and reports.
    """

    kind: RefusalKind
    sentences: tuple[Sentence, ...]
    answered: int = 0


def refusal_kind(answer: str) -> RefusalKind:
    """How much of the answer refuses, by its wording in the languages of `lexicon.WORDINGS`."""
    return read_answer(answer).kind


def read_answer(answer: str, question: str = "", *, documents: Sequence[str] = (), close: bool = False) -> Reading:
    """The answer sentence by sentence, and how much of it refuses.

    Args:
        answer: the original text; all offsets refer to it.
        question: the question; an answer that only repeats its words adds nothing to a refusal.
        documents: the retrieved documents; refusing words that one of them says itself are an answer.
        close: whether the answer's vector is close to one of `lexicon.examples`. It decides only for short answers that
            negate something, match no pattern and say nothing that the question does not say.
    """
    folded = fold(answer)
    head = folded[:LONGEST]
    cued = not CUES.keys().isdisjoint(WORD.findall(head)) or bool(unspaced(head) and CUE_PIECES.search(head))
    sentences: list[Sentence] = []
    contrasted: set[int] = set()  # the starts of content that shares a sentence with a refusal
    for start, end in sentence_spans(answer):
        if cued and start < LONGEST and (parts := _refusing(folded, start, end)):
            contrasted.update(p.start for p in parts if p.role is Role.CONTENT)
            sentences.extend(parts)
        else:
            sentences.extend(_stating(folded, start, end))
    if documents and (said := _said_by_documents(folded, sentences, documents)):
        sentences = [_content(s.start, s.end) if s.start in said else s for s in sentences]
        close = False
    if cued and any(s.role is Role.REFUSING for s in sentences):
        kind, answered = _kind(folded, sentences, contrasted, _stems(question))
        return Reading(kind=kind, sentences=tuple(sentences), answered=answered)
    refuses = _only_apologises(folded, sentences) or (
        cued and close and 0 < len(sentences) <= SHORT and not _new(folded, _stems(question) | _REFUSING_STEMS)
    )
    if refuses:
        return Reading(kind=RefusalKind.FULL, sentences=tuple(_as_refusing(s) for s in sentences))
    return Reading(kind=RefusalKind.NONE, sentences=tuple(sentences))


def _said_by_documents(folded: str, sentences: list[Sentence], documents: Sequence[str]) -> set[int]:
    """The starts of the sentences that refuse in words that a document says itself."""
    wordings = {w.code: w for w in WORDINGS}
    refusing = [(s, wordings[s.language]) for s in sentences if s.role is Role.REFUSING and s.language is not None]
    said = [(folded[after_lead(folded, s.start, s.end, w) : s.end], w) for s, w in refusing]
    found = repeated(said, documents) if said else []
    return {s.start for (s, _), is_said in zip(refusing, found, strict=True) if is_said}


def _content(start: int, end: int) -> Sentence:
    return Sentence(start=start, end=end, role=Role.CONTENT, cue=None, language=None)


def _as_refusing(s: Sentence) -> Sentence:
    return Sentence(start=s.start, end=s.end, role=Role.REFUSING, cue=(s.start, s.end), language=s.language)


def _stating(folded: str, start: int, end: int) -> list[Sentence]:
    """The sentence as content, except for a polite head that ends in a colon ("Here is what I found: …")."""
    if polite := _polite(folded, start, end):
        return [polite]
    if all(word[0] in BARE for word in WORD.finditer(folded, start, end)) or points_elsewhere(folded[start:end]):
        return [Sentence(start=start, end=end, role=Role.COURTESY, cue=(start, end), language=None)]
    colon = folded.find(":", start, min(end, start + LONGEST_HEAD))
    if 0 <= colon < end - 1 and (head := _polite(folded, start, colon)):
        rest = colon + 1 + len(folded[colon + 1 : end]) - len(folded[colon + 1 : end].lstrip())
        return [head, _content(rest, end)]
    return [_content(start, end)]


def _polite(folded: str, start: int, end: int) -> Sentence | None:
    """The sentence as a courtesy or a hedge, if it is nothing else."""
    if end - start > LONGEST_COURTESY or LONGEST < start < len(folded) - LONGEST:
        return None
    if not (first := WORD.search(folded, start, end)):
        return None
    wordings = OPENERS.get(first.group())
    if wordings is None:
        if not unspaced(first.group()) or not OPENER_PIECES.search(folded, start, end):
            return None
        wordings = UNSPACED
    for wording in wordings:
        for role, whole in ((Role.COURTESY, wording.courtesy), (Role.HEDGE, wording.hedge)):
            if whole.fullmatch(folded, start, end):
                if _CHECKABLE.search(folded, start, end):
                    return None
                return Sentence(start=start, end=end, role=role, cue=(start, end), language=wording.code)
    return None


def _only_apologises(folded: str, sentences: list[Sentence]) -> bool:
    """Whether the answer is nothing but courtesy and includes a bare apology: "Sorry."."""
    if not sentences or any(s.role is not Role.COURTESY for s in sentences):
        return False
    return any(w.apology.fullmatch(folded, s.start, s.end) for s in sentences for w in WORDINGS if w.code == s.language)


def _refusing(folded: str, start: int, end: int) -> list[Sentence]:
    """The parts of the sentence if a clause of it refuses, else an empty list.

    Text beyond LONGEST_SENTENCE counts as content.
    """
    stop = end if end - start <= LONGEST_SENTENCE else start + LONGEST_SENTENCE
    piece = _unquoted(folded[start:stop])
    found = {w.code for word in CUES.keys() & WORD.findall(piece) for w in CUES[word]}
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
    """The piece with its quotations blanked, unless they are most of it."""
    if '"' not in piece and (piece.isascii() or _OPENING_QUOTES.isdisjoint(piece)):
        return piece
    quoted = sum(len(m[0]) for m in _QUOTED.finditer(piece))
    return piece if quoted > MOSTLY * len(piece) else _QUOTED.sub(lambda m: "x" * len(m[0]), piece)


def _kind(
    folded: str, sentences: list[Sentence], contrasted: set[int], asked: frozenset[str]
) -> tuple[RefusalKind, int]:
    """How much of the answer refuses, and the number of words that answer.

    `contrasted` are the starts of content that shares a sentence with a refusal.
    """
    wordings = [w for w in WORDINGS if any(s.language == w.code and s.role is Role.REFUSING for s in sentences)]
    refusing = content = 0.0
    answered = 0
    opens: bool | None = None
    for s in sentences:
        text = folded[s.start : s.end]
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
    if answered and _only_limits(folded, sentences, wordings):
        return RefusalKind.PARTIAL, answered
    full = content <= OPENING_CONTENT * refusing if opens else refusing > SHARE * (refusing + content)
    return (RefusalKind.FULL if full and content <= MOST_CONTENT else RefusalKind.PARTIAL), answered


def _only_limits(folded: str, sentences: list[Sentence], wordings: list[Wording]) -> bool:
    """Whether each refusal only names what the speaker can do or knows: what follows it is an answer after all."""
    limits = {w.code: w.limit for w in wordings}
    return all(
        limits[s.language].match(folded[s.cue[0] : s.end])
        for s in sentences
        if s.role is Role.REFUSING and s.cue is not None and s.language is not None
    )


def _weight(text: str, wordings: list[Wording], asked: frozenset[str]) -> float:
    """How far a sentence of content answers: 0 for an aside or a repetition of the question, REPORTED for a report."""
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
    """Whether the text has a figure or a longer word that is not in `known`."""
    return any(
        word[:STEM] not in known and (len(word) >= LEAST_NEW or word.isdecimal() or not word.isascii())
        for word in UNSPACED_WORD.findall(text)
    )


_REFUSING_STEMS = _stems(" ".join(EXAMPLES))
