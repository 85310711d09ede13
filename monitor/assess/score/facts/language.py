"""Detects the language of a text, one of seven, by its commonest words. Number words and capitals depend on it."""

from __future__ import annotations

from enum import StrEnum


def listed(words: str) -> frozenset[str]:
    """The words of a list that is written for people."""
    return frozenset(words.split())


class Language(StrEnum):
    """The languages that facts are read in, by their tags (BCP 47)."""

    ENGLISH = "en"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"
    PORTUGUESE = "pt"
    ITALIAN = "it"
    DUTCH = "nl"
    UNKNOWN = "und"


# Frequent words of one language that are rare in the other six.
_BY_LANGUAGE = {
    Language.ENGLISH: """
        the of and is are was were to that for with it this by from as has have not you which be at or if can""",
    Language.GERMAN: """
        der die das und ist sind nicht ein eine einen einer den dem mit von auf für im wird werden sich auch zu wir ihr
        ihre ihnen ich sie haben kein keine kann können muss müssen dass wenn oder aber nur bis nach bei zum zur vom
        beim unter über innerhalb einem eines unser unsere bitte""",
    Language.FRENCH: """
        le les et est sont des du dans pour une pas sur avec qui au aux ce cette il elle vous nous par être ou""",
    Language.SPANISH: """
        el los las y es son del para una con por no se lo su está como más pero al este esta puede""",
    Language.PORTUGUESE: """
        o os as e é são do da dos das em para uma com não por um no na se ao mais você pode foi""",
    Language.ITALIAN: """
        il gli è sono di della del per una con che non le lo la dei nel alla dal più si può questo anche""",
    Language.DUTCH: """
        het een voor dat zijn wordt worden naar ook uit deze uw heeft hebben kunt kan wij jullie onze bij moet""",
}
_WORDS = {language: listed(words) for language, words in _BY_LANGUAGE.items()}
COMMON = frozenset(word for words in _WORDS.values() for word in words)
_ENOUGH = 2  # words of another language that it takes to choose it


def language_of(text: str) -> Language:
    """The likeliest of the seven languages; Language.UNKNOWN if nothing indicates one."""
    present = set(text.lower().split())
    english = len(present & _WORDS[Language.ENGLISH])
    best, most = Language.ENGLISH if english else Language.UNKNOWN, max(english, _ENOUGH - 1)
    for language, words in _WORDS.items():
        shared = len(present & words)
        if shared > most:
            best, most = language, shared
    return best
