from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.score.facts.negation import contradicts, polarity


@pytest.mark.parametrize(
    ("sentence", "times"),
    [
        ("The plan includes support.", 0),
        ("The plan does not include support.", 1),
        ("The plan doesn’t include support.", 1),
        ("The plan can't include support.", 1),
        ("Never open the case.", 1),
        ("It is not only cheap but good.", 0),
        ("It takes no more than a day.", 0),
        ("It did not go without a fight.", 2),
        ("Der Plan enthält keinen Support.", 1),
        ("Le forfait n'inclut pas le support.", 1),
        ("El plan no incluye nada.", 1),
        ("O plano não inclui suporte.", 1),
        ("Il piano non include nulla.", 1),
        ("Het pakket bevat geen ondersteuning.", 1),
        ("Het pakket is niet alleen goedkoop.", 0),
        ("该套餐不包括支持。", 1),
        ("这是不同的套餐。", 0),
        ("サポートは含まれません。", 1),
        ("지원은 포함되지 않습니다.", 1),
    ],
)
def test_how_often_a_sentence_denies(sentence, times):
    assert polarity(sentence) == times


CONTRADICTING = [
    ("The plan includes phone support for customers.", "The plan does not include phone support for customers."),
    ("Files cannot be restored after deletion.", "Files can be restored after deletion."),
    ("The service always encrypts stored files.", "The service never encrypts stored files."),
    ("Guests are allowed to bring pets into the hall.", "Guests aren't allowed to bring pets into the hall."),
    ("Backups are enabled by default for new projects.", "Backups are disabled by default for new projects."),
    ("The maximum upload size is 5 GB.", "The minimum upload size is 5 GB."),
    ("The north gate opens at nine.", "The south gate opens at nine."),
    ("As said, the shop sells used books.", "The shop does not sell used books."),
    ("Der Plan enthält telefonischen Support für Kunden.", "Der Plan enthält keinen telefonischen Support für Kunden."),
    ("Le forfait inclut le support téléphonique gratuit.", "Le forfait n'inclut pas le support téléphonique gratuit."),
    ("El plan incluye soporte por teléfono.", "El plan no incluye soporte por teléfono."),
    ("Il piano include assistenza telefonica gratuita.", "Il piano non include assistenza telefonica gratuita."),
    ("O plano inclui suporte por telefone.", "O plano não inclui suporte por telefone."),
    ("Honden zijn toegestaan in het park.", "Honden zijn niet toegestaan in het park."),
    ("Het pakket bevat telefonische ondersteuning.", "Het pakket bevat geen telefonische ondersteuning."),
    ("该套餐包括电话支持服务。", "该套餐不包括电话支持服务。"),
    ("このプランには電話サポートが含まれます。", "このプランには電話サポートが含まれません。"),
]


@pytest.mark.parametrize(("answer", "source"), CONTRADICTING)
def test_contradictions(answer, source):
    assert contradicts(answer, source)
    assert contradicts(source, answer)


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("The plan includes phone support.", "The plan includes phone support."),
        ("Plan A includes phone support.", "Plan B does not include phone support."),
        ("The plan includes phone support in 2021.", "The plan did not include phone support in 2020."),
        ("Refunds are possible within 30 days.", "Refunds are not only possible within 30 days."),
        ("Pets are not allowed in the hall.", "Pets are forbidden in the hall."),
        ("The valve opens when pressure is applied.", "Unless pressure is applied, the valve does not open."),
        ("Does the plan include phone support?", "The plan does not include phone support."),
        ("The red valve is open and the blue valve is not.", "The blue valve is not open and the red valve is."),
        ("Dogs chase small cats.", "Small cats do not chase dogs."),
        ("Water the plant before sunrise and after sunset.", "Water the plant after sunset and before sunrise."),
        ("The water is not liquid.", "The fire turns snow into vapour, not liquid water."),
        ("It is unlikely that single cases lead to an outbreak.", "Single cases will not lead to an outbreak."),
        ("", "The plan does not include support."),
        ("Yes.", "No."),
    ],
)
def test_pairs_without_contradiction(answer, source):
    assert not contradicts(answer, source)
    assert not contradicts(source, answer)


@given(st.lists(st.sampled_from([s for pair in CONTRADICTING for s in pair]), min_size=1, max_size=1), st.text())
def test_no_sentence_contradicts_itself(sentence, tail):
    assert not contradicts(sentence[0] + tail, sentence[0] + tail)


def test_of_a_sentence_with_very_many_clauses_the_first_ones_are_compared():
    source = "".join(f"the red{n} lamp{n} shines, " for n in range(40))
    first = source.replace("lamp2 shines", "lamp2 never shines")
    last = source.replace("lamp39 shines", "lamp39 never shines")
    assert contradicts(first[:80], source[:80])
    assert not contradicts(last, source)


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("You can cancel free of charge within 14 days.", "You cannot cancel free of charge after 14 days."),
        ("The data is not deleted before 30 days.", "The data is deleted after 30 days."),
        ("Deliveries do not take longer than 5 days.", "Deliveries take 5 days or less."),
        (
            "Sie können innerhalb von 14 Tagen kostenlos stornieren.",
            "Sie können nach 14 Tagen nicht kostenlos stornieren.",
        ),
    ],
)
def test_what_holds_on_one_side_of_a_limit_does_not_contradict_what_holds_on_the_other(answer, source):
    assert not contradicts(answer, source)


def test_a_denial_with_the_same_limit_contradicts():
    assert contradicts("You can cancel after 14 days.", "You cannot cancel after 14 days.")
