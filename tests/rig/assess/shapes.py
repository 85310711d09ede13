"""Texts of any length and of many shapes, for tests of how work grows with the size of an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from random import Random

Shape = Callable[[int], str]  # a text of so many characters

_SYLLABLES = ("ka", "lo", "mi", "ter", "van", "su", "be", "ro", "nex", "ti")


def repeated(unit: str) -> Shape:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def words(size: int, seed: int = 1) -> str:
    """Words of two to five syllables, all by chance."""
    chance = Random(seed)
    found, length = [], 0
    while length < size:
        word = "".join(chance.choices(_SYLLABLES, k=chance.randint(2, 5)))
        found.append(word)
        length += len(word) + 1
    return " ".join(found)[:size]


def parts(text: str, least: int) -> list[str]:
    """The text in up to a thousand parts of at least so many characters; the last one may be shorter."""
    size = max(least, len(text) // 1_000 + 1)
    return [text[at : at + size] for at in range(0, len(text), size)]


def reworded(text: str, share: float = 0.3, seed: int = 2) -> str:
    """The text with about that share of its words replaced: a paraphrase."""
    chance = Random(seed)
    return " ".join("otherwise" if chance.random() < share else word for word in text.split(" "))


def _sentences(size: int) -> str:
    chance, found = Random(3), words(size).split(" ")
    text = " ".join(f"{w.capitalize()}." if chance.random() < 0.1 else w for w in found)
    return text[:size]


def _numbered(size: int) -> str:
    """Sentences with a name and a number each, no two alike."""
    found, length = [], 0
    for number in count():
        found.append(f"The Kalo {number} costs {number * 7} euros.")
        length += len(found[-1]) + 1
        if length >= size:
            return " ".join(found)[:size]
    raise AssertionError


SHAPES: Mapping[str, Shape] = {
    "one word": repeated("a"),
    "words": words,
    "sentences": _sentences,
    "numbered sentences": _numbered,
    "one-word sentences": repeated("Kalo. Mi. "),
    "the same sentence": repeated("The museum opens at ten and closes at six. "),
    "white space": repeated(" "),
    "lines": repeated("\n"),
    "blank lines": repeated(" \n\t\n"),
    "words far apart": repeated("a" + " " * 500),
    "digits": repeated("1234567890"),
    "ones and spaces": repeated("1 "),
    "figures": repeated("1,234.56 12 % 7 "),
    "dots": repeated("."),
    "commas": repeated("a, b, "),
    "brackets": repeated("([{<"),
    "closed brackets": repeated("(a) [b] "),
    "quotes": repeated("\"'“"),
    "hyphens": repeated("a-b"),
    "slashes": repeated("a/b."),
    "dates": repeated("on 3 May 2020, at 5 pm, "),
    "names": repeated("Anna Maria van Dyk "),
    "capitals": repeated("ABC D. "),
    "initials": repeated("A.B."),
    "number words": repeated("two hundred and five thousand "),
    "negations": repeated("not so, never this, "),
    "refusals": repeated("I cannot say. The documents do not mention it. "),
    "refusal without an end": repeated("the document does not "),
    "apologies": repeated("sorry, "),
    "citations": repeated("so [1], (2) and "),
    "code": repeated("`a` ``` "),
    "emphasis": repeated("**a** _b_ # "),
    "addresses": repeated("https://a.b/c see www.d.e "),
    "e-mails": repeated("a.b@c.de "),
    "telephones": repeated("+49 30 1234567, "),
    "cards": repeated("4111 1111 1111 1111 "),
    "keys": repeated("sk-abcdefghijklmnop1 "),
    "IBANs": repeated("DE89 3704 0044 0532 0130 00 "),
    "Chinese": repeated("博物馆十点开门。"),
    "Chinese without an end": repeated("博物館不開門"),
    "Japanese": repeated("わかりません。"),
    "Korean": repeated("모르겠습니다. "),
    "Thai": repeated("พิพิธภัณฑ์"),
    "combining marks": repeated("\u0316\u0301"),
    "letters with marks": repeated("e\u0301\u0323"),
    "emoji": repeated("🤷\u200d♀️"),
    "right to left": repeated("\u202eא ב. "),
    "sharp s": repeated("ßİ"),
    "surrogates": repeated("\ud800 "),
    "controls": repeated("\x00\x1f"),
}
