"""The type of the words of one language by which a question leans on earlier turns.

Lists are in lower case. Patterns are searched in the question in lower case with straight apostrophes; every gap in
them is bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaningWords:
    """The words of a language with spaces between words.

    `asking` are interrogatives, `auxiliary` the verbs that stand next to them, `function` all other words that name
    nothing, among them prepositions. `generic` are words with a meaning that name nothing to look up ("how does it
    *work*"). After one of `speaker` ("I", "to") comes a verb.
    `pronouns`, `possessives` and what `standing_for` finds lean unless something before them in the question may be
    what they stand for; a `vague` pronoun ("they") may mean anyone, and leans only in a question that names little
    else. `pointing` leans unless an earlier clause names something; `linking` and `relative` are the words between
    clauses. `setting_aside` finds uses of all these that lean on nothing ("it takes an hour to").
    `opener` begins a question that leans; `joining` begins one that leans if only a fragment follows it. A fragment may
    also begin with one of `before`. `whole` matches a question that leans from end to end, `address` one of the words
    that speak to the chatbot itself.
    """

    code: str
    asking: frozenset[str]
    auxiliary: frozenset[str]
    function: frozenset[str]
    generic: frozenset[str]
    speaker: frozenset[str]
    pronouns: frozenset[str]
    possessives: frozenset[str]
    before: frozenset[str]
    linking: frozenset[str]
    relative: frozenset[str] = frozenset()
    vague: frozenset[str] = frozenset()
    address: frozenset[str] = frozenset()
    pointing: re.Pattern[str] = NEVER
    standing_for: re.Pattern[str] = NEVER
    setting_aside: re.Pattern[str] = NEVER
    opener: re.Pattern[str] = NEVER
    joining: re.Pattern[str] = NEVER
    whole: re.Pattern[str] = NEVER

    @property
    def known(self) -> frozenset[str]:
        """Every word by which the language is recognised."""
        return self.asking | self.auxiliary | self.function | self.pronouns | self.possessives | self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaningPieces:
    """The same for a language without spaces: a question leans where `leaning` is found after `setting_aside` is cut.

    `whole` matches a question that leans from end to end.
    """

    code: str
    leaning: re.Pattern[str]
    whole: re.Pattern[str]
    setting_aside: re.Pattern[str] = NEVER


def listed(text: str) -> frozenset[str]:
    """The words of a list that is written for people."""
    return frozenset(text.split())


def found(*alternatives: str) -> re.Pattern[str]:
    """One pattern of the alternatives, in which a space matches up to three characters of white space."""
    return re.compile("|".join(f"(?:{a})" for a in alternatives).replace(" ", r"\s{1,3}"))
