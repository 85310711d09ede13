"""How refusals, courtesies and hedges are worded, in one module per language.

In: words and patterns of each language. Out: tables that find them. A new language takes a module, a place in WORDINGS
and a test.
"""

from __future__ import annotations

import re

from monitor.assess.classify.lexicon.dutch import DUTCH
from monitor.assess.classify.lexicon.english import ENGLISH
from monitor.assess.classify.lexicon.french import FRENCH
from monitor.assess.classify.lexicon.german import GERMAN
from monitor.assess.classify.lexicon.italian import ITALIAN
from monitor.assess.classify.lexicon.nordic.danish import DANISH
from monitor.assess.classify.lexicon.nordic.swedish import SWEDISH
from monitor.assess.classify.lexicon.portuguese import PORTUGUESE
from monitor.assess.classify.lexicon.slavic.polish import POLISH
from monitor.assess.classify.lexicon.slavic.russian import RUSSIAN
from monitor.assess.classify.lexicon.spanish import SPANISH
from monitor.assess.classify.lexicon.turkish import TURKISH
from monitor.assess.classify.lexicon.unspaced.chinese import CHINESE
from monitor.assess.classify.lexicon.unspaced.japanese import JAPANESE
from monitor.assess.classify.lexicon.unspaced.korean import KOREAN
from monitor.assess.classify.lexicon.wording import Wording, simplified, words

WORDINGS = (
    ENGLISH,
    GERMAN,
    FRENCH,
    SPANISH,
    PORTUGUESE,
    ITALIAN,
    DUTCH,
    SWEDISH,
    DANISH,
    POLISH,
    RUSSIAN,
    TURKISH,
    CHINESE,
    JAPANESE,
    KOREAN,
)
UNSPACED = (CHINESE, JAPANESE, KOREAN)  # their words have no spaces around them, so the search is for pieces of text
_SPACED = tuple(w for w in WORDINGS if w not in UNSPACED)


def _by_word(lists: list[tuple[Wording, frozenset[str]]]) -> dict[str, tuple[Wording, ...]]:
    every = sorted({word for _, listed in lists for word in listed})
    return {word: tuple(w for w, listed in lists if word in listed) for word in every}


def _pieces(lists: list[frozenset[str]]) -> re.Pattern[str]:
    return re.compile("|".join(sorted({re.escape(piece) for listed in lists for piece in listed})))


# A sentence of nothing but these words states nothing that could be checked: "Yes, they are."
BARE = words(
    "yes no ok okay correct true false yep nope ja nein doch nee oui non si sí sì sim não 是 否 对 不是 はい いいえ 네 "
    "아니요 아니오 tak nie да нет evet hayır "
    "i you he she it we they that there is are was were am do does did can could will would may must should has have "
    "not t"
)
CUES = _by_word([(w, w.cues | w.limit_cues) for w in _SPACED])
OPENERS = _by_word([(w, w.openers) for w in _SPACED])
CUE_PIECES = _pieces([w.cues | w.limit_cues for w in UNSPACED])
OPENER_PIECES = _pieces([w.openers for w in UNSPACED])

_UNSPACED_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def fold(text: str) -> str:
    """The text as the patterns expect it: lower case, straight apostrophes, simplified characters. Same length."""
    lower = text.lower()
    if len(lower) != len(text):  # İ
        lower = "".join(c.lower()[0] for c in text)
    lower = lower.replace("`", "'").replace("*", " ")
    if lower.isascii():
        return lower
    lower = lower.replace("’", "'").replace("‘", "'")
    return simplified(lower) if unspaced(lower) else lower


def unspaced(text: str) -> bool:
    """Whether the text holds Chinese, Japanese or Korean."""
    return not text.isascii() and _UNSPACED_SCRIPT.search(text) is not None
