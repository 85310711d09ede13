from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, FactKind, conflicts, facts, missing
from tests.factories.number_words import FORMS
from tests.rig.assess.quantities import values

UP_TO = 10_000
# Few enough of a text's numbers are near each other for the index to look at all. One form of each language is held
# against figures with every number, the others with some; that each is read is shown for all of them.
SPREAD, ALL, SOME = 201, 1, 20
# The numbers that are more often another word ("sei": you are, "neuf": new), so that alone they are none in an answer.
ALSO_WORDS = {"fr": {9}, "it": {6}}
EVERY_FORM = [(language, form) for language, (_, forms) in FORMS.items() for form in forms]


def listed_out(language, spell, numbers):
    """A text of the language that lists the numbers, one in each line, where no mark or item stands."""
    (before, after), _ = FORMS[language]
    return f"{before} {after}.\n" + "".join(f"xy {spell(n)};\n" for n in numbers)


@pytest.mark.parametrize(("language", "form"), EVERY_FORM)
def test_every_number_is_read_in_every_form(language, form):
    spell = FORMS[language][1][form]
    expected = [n for n in range(UP_TO + 1) if n != 1 and n not in ALSO_WORDS.get(language, ())]
    assert values(listed_out(language, spell, range(UP_TO + 1))) == expected


@pytest.mark.parametrize(("language", "form"), EVERY_FORM)
def test_words_and_figures_hold_each_other(language, form):
    spell = FORMS[language][1][form]
    for first in range(2, SPREAD, ALL if form == next(iter(FORMS[language][1])) else SOME):
        numbers = range(first, UP_TO + 1, SPREAD)
        words, figures = listed_out(language, spell, numbers), listed_out(language, str, numbers)
        assert missing(figures, FactIndex.of([words])) == ()
        assert missing(words, FactIndex.of([figures])) == ()


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        ("El plan cuesta trescientos cincuenta euros al año.", "El plan cuesta 350 euros al año."),
        ("La licence est à deux cents euros pour une année.", "La licence est à 200 euros pour une année."),
        ("O plano custa duzentos euros por ano.", "O plano custa 200 euros por ano."),
        ("Der Tarif kostet zweihundertfünfzig Euro im Jahr.", "Der Tarif kostet 250 Euro im Jahr."),
        ("Il piano costa duecentocinquanta euro all'anno.", "Il piano costa 250 euro all'anno."),
        ("trescientos cincuenta euros", "350 €"),
        ("once euros", "11 euros"),
        ("six cents euros", "600 €"),
        ("treinta días", "30 días"),
    ],
)
def test_sentences_with_words_and_with_figures_hold_each_other(document, answer):
    assert missing(answer, FactIndex.of([document])) == ()
    assert missing(document, FactIndex.of([answer])) == ()
    for fact in facts(answer):
        assert fact.kind is not FactKind.NUMBER or conflicts(fact, document)  # they are of one kind, so comparable
