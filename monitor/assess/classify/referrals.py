"""Recognises sentences that only say where to read more, with a link."""

from __future__ import annotations

import re
from typing import Final

from monitor.assess.classify.clauses import UNSPACED_WORD
from monitor.assess.classify.lexicon.wording import words

LONGEST = 400  # characters, including the addresses
MOST_AROUND = 8  # words around the links

_POINTING: Final = words(
    "see visit refer check read more details source sources link links documentation siehe mehr quelle quellen lesen "
    "voir consulter consultez lire plus savoir véase ver consulte consultar leer más veja consulta leia mais vedi "
    "consultare leggi più zie bekijk meer bron bronnen lees "
    "zobacz więcej źródło sprawdź см смотрите подробнее источник bkz daha kaynak läs mer källa læs mere kilde les 参照 "
    "详见 参考 참고 참조"
)
_ADDRESS = re.compile(r"https?://[^\s)]+")
_LINK = re.compile(r"\[[^\]\n]{1,80}\]\([^)\s]{1,300}\)|https?://[^\s)]+")
_FIGURE = re.compile(r"\d")


def points_elsewhere(sentence: str) -> bool:
    """Whether the sentence, in lower case, has a link, a word that points to it, few other words, and no figure."""
    if len(sentence) > LONGEST or "://" not in sentence:
        return False
    around = set(UNSPACED_WORD.findall(_LINK.sub(" ", sentence)))
    if len(around) > MOST_AROUND or around.isdisjoint(_POINTING):
        return False
    return _FIGURE.search(_ADDRESS.sub(" ", sentence)) is None
