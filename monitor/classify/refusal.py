"""Whether an answer refuses, from its wording.

An answer is a *full* refusal when it opens with one and little else follows, courtesy and talk about the documents
("they only mention …") left aside, or when more than SHARE of its words refuse. It is *partial* when it refuses
something and answers the rest.
"""

from __future__ import annotations

import re

from monitor.classify.lexicon import ANY_CUE, WORDINGS
from monitor.model import RefusalKind
from monitor.sentences import sentences

SHARE = 0.4  # of the words
OPENING_CONTENT = 2.0  # words of other content for each refusing word, after an opening refusal
LONGEST = 4_000  # characters looked at: a refusal that comes later than that does not make the answer one

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "`": "'"})
_WORD = re.compile(r"\w+")


def refusal_kind(answer: str) -> RefusalKind:
    """How much of the answer refuses, by its wording in the languages of `lexicon.WORDINGS`."""
    said = answer[:LONGEST].translate(_APOSTROPHES)
    if not ANY_CUE.search(said.lower()):
        return RefusalKind.NONE
    spoken = [s.lower() for s in sentences(said)]
    refuses = [_refuses(sentence) for sentence in spoken]
    if not any(refuses):
        return RefusalKind.NONE
    words = [len(_WORD.findall(sentence)) for sentence in spoken]
    courtesy = [any(w.courtesy.search(sentence) for w in WORDINGS) for sentence in spoken]
    refusing = sum(n for n, r in zip(words, refuses, strict=True) if r)
    content = sum(n for n, r, c in zip(words, refuses, courtesy, strict=True) if not r and not c)
    opens = next(r for n, r, c in zip(words, refuses, courtesy, strict=True) if r or (n and not c))
    full = content <= OPENING_CONTENT * refusing if opens else refusing > SHARE * sum(words)
    return RefusalKind.FULL if full else RefusalKind.PARTIAL


def _refuses(sentence: str) -> bool:
    if not ANY_CUE.search(sentence):
        return False
    return any(w.cue.search(sentence) and w.refusing.search(sentence) for w in WORDINGS)
