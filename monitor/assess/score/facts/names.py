"""Recognises names by their capitals: people, places, products, acronyms, identifiers."""

from __future__ import annotations

import re
import unicodedata

from monitor.assess.score.facts.calendar.names import MONTHS, WEEKDAYS
from monitor.assess.score.facts.language import Language, listed
from monitor.assess.score.facts.roman import roman
from monitor.assess.score.facts.tokens import Tokens
from monitor.core.text.words import few_marks

Name = tuple[str, ...]

_LINKS = listed("of the de la le du del di da do dos von van")
_TITLES = listed(
    """mr mrs ms dr prof professor sir madam lord lady st saint president king queen prince princess pope captain
    general minister senator judge herr frau monsieur madame mme señor señora sr sra signor signora dom"""
)
# Words with a capital at the start of a sentence, or always, that are not names.
_NO_NAMES = listed(
    """i i'm i've i'd i'll the a an this that these those it its he she they we you my your our their his her in on at
    by for from with as if when while after before although however but and or so yes no not there here what which who
    how why where according to of additionally also note overall finally another some many most all both each since
    during der die das ein eine einer und im am auf mit von zu bei für es er sie ist sind wenn aber oder ja nein den
    dem des le la les un une et en dans il elle ce cette ces nous vous je oui non el los las una y de del o os um uma
    em na se sim gli lo uno di da ok okay bc ad bce ce pm mr mrs then now later
    today only even still once until"""
)
# A country, its people and its short forms, if they share no stem.
_KIN = [
    listed(group)
    for group in (
        *("us usa america american americans", "uk britain british", "eu europe european", "un nations"),
        *("england english", "scotland scottish", "wales welsh", "ireland irish", "france french", "germany german"),
        *("spain spanish", "italy italian italians", "netherlands dutch holland", "greece greek greeks"),
        *("switzerland swiss", "denmark danish", "poland polish", "sweden swedish", "norway norwegian"),
        *("china chinese", "turkey turkish", "egypt egyptian", "india indian", "kenya kenyan", "peru peruvian"),
        *("iraq iraqi", "cuba cuban"),
    )
]
_RELATED = {word: group for group in _KIN for word in group}
# Standards whose number is part of the name: RFC 2616, ISO 9001.
_STANDARDS = frozenset(("RFC", "ISO", "IEC", "IEEE", "DIN", "EN", "ANSI", "CVE", "KB", "ICD", "DSM"))
_NO_PREFIX = frozenset(("mid", "pre", "post", "early", "late", "non", "us", *MONTHS))  # mid-2020 is a year
_DATED = frozenset((*MONTHS, *WEEKDAYS)) - {"may", "mars", "march", "april", "june", "august", "jan", "mai"}
_SENTENCE_END = re.compile(r"[.!?:;…\n。！？|]|[*#•>-]|[\"“”„«»(\[]")
_INITIALS = re.compile(r"(?<!\w)(?:[^\W\d_]\.){2,}")
_WORD = re.compile(r"[^\W_]++")
_ACRONYM = re.compile(r"\b[^\W\d_a-zß-öø-ÿ]{2,10}\b")
_CAPITALISED = re.compile(
    r"\b[^\W\d_a-zß-öø-ÿ]\w*+(?:[ -](?:(?:of|the|of the|for|and|de|du|des|la|del|di) )?[^\W\d_a-zß-öø-ÿ]\w*+){0,7}+"
)
_SEPARATOR = re.compile(r"[^\w.]|_")
_VERSION = re.compile(r"^v(?=\d)")
LONGEST = 8  # words of a name
LETTERS = 2  # the least letters of an acronym
_TITLE_CASE = 0.7  # the share of capitalised longer words that makes a line a heading, whose capitals mean nothing
_LONG_FORM = 80  # the most characters of the words that an acronym stands for
_LONG = 4  # letters; shorter words have no capital in titles
_HEADING = 200  # the most characters of a heading


def fold(text: str) -> str:
    """`text` in lower case without accents."""
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFKD", few_marks(text.casefold())) if not unicodedata.combining(c))


def words_of(text: str) -> list[str]:
    """The folded words of a text in order, including figures; "U.S." is one word."""
    if "." in text:
        text = _INITIALS.sub(lambda initials: initials[0].replace(".", "") + " ", text)
    return [word for word in _WORD.findall(fold(text)) if word != "s"]


def acronyms(text: str) -> set[str]:
    """The folded acronyms of a text: those written as such, and the initials of its runs of capitalised words.

    Every tail of a run counts, since a title or the first word of the sentence may precede the name, both with and
    without the initials of words such as "of" and "the".
    """
    found = {fold(word) for word in _ACRONYM.findall(text) if not roman(word)}
    found |= {fold(word[0].replace(".", "")) for word in _INITIALS.finditer(text)}
    for run in _CAPITALISED.finditer(text):
        every = [word if roman(word) else word[0] for word in _WORD.findall(run[0])]  # WWII is not WWI
        for initials in (every, [initial for initial in every if initial[0].isupper()]):
            for at, first in enumerate(initials[: len(initials) - LETTERS + 1]):
                if first[0].isupper():
                    found.add(fold("".join(initials[at:])))
    return found


def alone(text: str) -> set[str]:
    """The folded words that a text uses as names of a single word, apart from titles: "Curry said"."""
    found: set[str] = set()
    for run in _CAPITALISED.finditer(text):
        words = [word for word in words_of(run[0]) if word not in _TITLES and word not in _NO_NAMES]
        if len(words) == 1:
            found.add(words[0])
    return found


def abbreviates(tokens: Tokens, i: int) -> bool:
    """Whether the acronym at token `i` is in brackets after its long form: "cardiothoracic ratio (CTR)".

    The letters are matched to the words before it from right to left, the first letter at the start of a word
    (Schwartz and Hearst, A simple algorithm for identifying abbreviation definitions, 2003).
    """
    letters = tokens.word(i).removesuffix("s") if tokens.raw(i)[-1:] == "s" else tokens.word(i)
    if not tokens.gap(i).endswith("(") or len(letters) < LETTERS:
        return False
    end = tokens.start(i) - 1
    before = tokens.text[max(0, end - _LONG_FORM) : end].lower()
    at = len(before)
    for rest in range(len(letters) - 1, -1, -1):
        at = before.rfind(letters[rest], 0, at)
        while rest == 0 and at > 0 and before[at - 1].isalnum():
            at = before.rfind(letters[0], 0, at)
        if at < 0:
            return False
    return len(_WORD.findall(before[at:])) <= len(letters) * 2


def is_acronym(word: str) -> bool:
    """Whether the word is all capitals, at least two of them."""
    return len(word) >= LETTERS and word.isupper() and word.isalpha()


def name(tokens: Tokens, i: int, language: Language) -> tuple[Name, int] | None:
    """The name that begins with the capitalised word at token `i`, and the token after the name; None if there is none.

    The first word of a sentence has a capital in any case: it does not count as part of the name, nor as a name of its
    own unless it has capitals throughout or within. The start of a sentence, item or line before a colon is its label.
    """
    after = _run(tokens, i)
    raw = [tokens.raw(at) for at in range(i, after)]
    opening = _opens(tokens, i)
    if opening and tokens.raw(after) == ":" and not tokens.gap(after).strip("*"):
        return None
    first = 1 if opening and not _unmistakable(raw[0]) else 0
    while first < len(raw) and _bare(raw[first]).lower() in _NO_NAMES and not is_acronym(raw[first]):
        first += 1
    kept = [word for word in raw[first:] if word.lower() not in _LINKS and word not in "-&."]
    if language == Language.GERMAN and len(kept) < LETTERS and not any(_unmistakable(word) for word in kept):
        return None
    folded = [word for part in kept for word in words_of(_bare(part)) if word not in _TITLES]
    folded = [word for word in folded if len(word) > 1 or word.isdigit()]
    return (tuple(folded), after) if folded and not (len(folded) == 1 and folded[0] in MONTHS) else None


def _bare(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word.rstrip("'’")


def _unmistakable(word: str) -> bool:
    """Whether the word is an acronym or has capitals within (iPhone, McDonald), so that it is no ordinary word."""
    return is_acronym(word) or (word[1:] != word[1:].lower() and not word.isupper())


def _run(tokens: Tokens, i: int) -> int:
    """The token after the run of capitalised words that begins at token `i`, including short links inside it."""
    at = after = i + 1
    possessive = tokens.raw(i).endswith(("'s", "’s"))
    while at < len(tokens) and after - i < LONGEST and not possessive:
        gap = tokens.gap(at)
        initial = gap in {". ", "."} and (tokens.kind(at - 1) == "word") and _abbreviates(tokens.raw(at - 1))
        if gap not in {" ", "", " & ", "\u00a0"} and not initial:
            break
        raw = tokens.raw(at)
        if tokens.kind(at) == "word" and raw[0].isupper() and not _begins_other(tokens, at):
            at = after = at + 1
            possessive = raw.endswith(("'s", "’s"))
        elif (raw == "-" and tokens.glued(at) and tokens.glued(at + 1)) or (gap == " " and _links(tokens, at)):
            if at - after >= LETTERS:
                break
            at += 1
        else:
            break
    return after


def _links(tokens: Tokens, i: int) -> bool:
    """Whether token `i` may be a small word inside a name; "der" only after "van" and "von", since it joins nouns."""
    return tokens.raw(i) in _LINKS or (tokens.raw(i) in {"der", "den"} and tokens.raw(i - 1) in {"van", "von"})


def _begins_other(tokens: Tokens, i: int) -> bool:
    """Whether a date or a name with figures begins inside the run ("Launching August 2023")."""
    word = tokens.word(i)
    return word in _DATED or (word in MONTHS and tokens.kind(i + 1) == "digits") or tied(tokens, i) is not None


def _abbreviates(word: str) -> bool:
    return len(word) == 1 or word.lower() in _TITLES


def _opens(tokens: Tokens, i: int) -> bool:
    """Whether token `i` opens a sentence, a list item, a quotation or the like."""
    if i == 0:
        return True
    gap = tokens.gap(i)
    if gap == " " and tokens.kind(i - 1) != "sign":
        return False
    if gap == ". " and _abbreviates(tokens.raw(i - 1)):
        return False
    return bool(_SENTENCE_END.search(gap)) or (tokens.kind(i - 1) == "sign" and not tokens.glued(i)) or "\t" in gap


def kin(word: str) -> frozenset[str]:
    """The folded words that name the same country or its people."""
    return _RELATED.get(word, frozenset())


def tied(tokens: Tokens, i: int) -> int | None:
    """The token after a name with figures that begins at token `i`: COVID-19, HTTP/2, GPT-4o, RFC 2616."""
    raw = tokens.raw(i)
    if raw in _STANDARDS and tokens.kind(i + 1) == "digits" and tokens.gap(i + 1) == " ":
        return i + 2
    if not raw[0].isupper() or tokens.word(i) in _NO_PREFIX or tokens.raw(i + 1) not in {"-", "/"}:
        return None
    if not tokens.glued(i + 1) or not tokens.glued(i + 2) or tokens.kind(i + 2) not in {"digits", "number", "version"}:
        return None
    return i + 4 if tokens.glued(i + 3) and tokens.kind(i + 3) == "word" else i + 3


def heading(text: str, start: int) -> tuple[bool, int]:
    """Whether the line around `start` is in title case, so that its capitals mean nothing, and where the line ends."""
    begin = text.rfind("\n", max(0, start - _HEADING), start) + 1
    end = text.find("\n", start, start + _HEADING)
    if end < 0:
        end = min(len(text), start + _HEADING)
    if not begin and start > _HEADING:
        return False, end
    words = [word for word in text[begin:end].split() if word[:1].isalpha()]
    long = [word for word in words if len(word) >= _LONG]
    capital = sum(word[0].isupper() for word in long)
    ends_line = end < len(text) and text[end - 1] not in ".!?"
    return ends_line and len(long) > 1 and capital >= _TITLE_CASE * len(long), end


def identifier(written: str) -> Name:
    """The canonical form of a name with figures: COVID-19, covid 19 and COVID19 are one."""
    joined = _SEPARATOR.sub("", fold(written)).rstrip(".")
    return (_VERSION.sub("", joined),)
