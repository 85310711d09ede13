"""Answers that refuse one thing and answer another."""

from __future__ import annotations

import pytest

from monitor.assess.classify.refusal import Role, read_answer
from monitor.core.model import RefusalKind

PARTIAL = {
    "en": [
        (
            "The documents do not say whether ski rental is paid. Ski accidents abroad are covered: winter "
            "sports accidents are covered worldwide, treatment costs abroad are paid without limit, and "
            "rescue from the slope is paid up to 15,000 euros."
        ),
        (
            "The museum opens at ten and closes at six, on Thursdays at nine in the evening. Children under "
            "twelve get in free. I have no information about parking."
        ),
        (
            "Standard delivery takes three working days and costs 4.90 euros; express delivery arrives the "
            "next day and costs 12 euros. The sources don't mention deliveries to Norway. Returns are free "
            "within 30 days."
        ),
        (
            "You can change your tariff once a month in the app, and the new one applies from the first of "
            "the next month. Unfortunately, I couldn't find the fee for doing so in the documents."
        ),
        "The manual does not give the price, but the battery lasts 8 hours.",
        "Although the documents do not mention the price, the battery lasts eight hours on one charge.",
    ],
    "de": [
        (
            "Zu den Gebühren enthalten die Unterlagen keine Angaben. Den Tarif können Sie einmal im Monat in "
            "der App wechseln, und der neue Tarif gilt ab dem ersten Tag des folgenden Monats für alle "
            "Karten Ihres Vertrags."
        ),
        (
            "Das Museum öffnet um zehn Uhr und schließt um achtzehn Uhr, donnerstags um einundzwanzig Uhr. "
            "Kinder unter zwölf Jahren haben freien Eintritt. Zum Parken habe ich keine Informationen."
        ),
        "Das Handbuch nennt den Preis nicht, aber der Akku hält acht Stunden.",
        "Obwohl die Unterlagen keinen Preis nennen, hält der Akku acht Stunden.",
    ],
    "fr": [
        (
            "Le musée ouvre à dix heures et ferme à dix-huit heures, le jeudi à vingt et une heures. "
            "L'entrée est gratuite pour les enfants de moins de douze ans. Les documents ne précisent pas où "
            "se garer."
        ),
        "Le manuel ne donne pas le prix, mais la batterie tient huit heures.",
        "Bien que les documents ne précisent pas le prix, la batterie tient huit heures.",
    ],
    "es": [
        (
            "El museo abre a las diez y cierra a las seis, los jueves a las nueve de la noche. La entrada es "
            "gratuita para los menores de doce años. No tengo información sobre el aparcamiento."
        ),
        "El manual no indica el precio, pero la batería dura ocho horas.",
        "Aunque los documentos no mencionan el precio, la batería dura ocho horas.",
    ],
    "pt": [
        (
            "O museu abre às dez e fecha às dezoito, à quinta-feira às vinte e uma. A entrada é gratuita "
            "para menores de doze anos. Os documentos não indicam onde estacionar."
        ),
        "O manual não indica o preço, mas a bateria dura oito horas.",
        "Embora os documentos não mencionem o preço, a bateria dura oito horas.",
    ],
    "it": [
        (
            "Il museo apre alle dieci e chiude alle diciotto, il giovedì alle ventuno. L'ingresso è gratuito "
            "per i bambini sotto i dodici anni. I documenti non indicano dove parcheggiare."
        ),
        "Il manuale non indica il prezzo, ma la batteria dura otto ore.",
        "Sebbene i documenti non indichino il prezzo, la batteria dura otto ore.",
    ],
    "zh": [
        "手册没有给出价格，但电池可以使用八小时。",
        "虽然资料没有提到价格，但电池续航为八小时。",
    ],
    "ja": [
        "マニュアルには価格の記載がありませんが、バッテリーは八時間持ちます。",
    ],
    "ko": [
        "설명서에는 가격이 나와 있지 않지만, 배터리는 여덟 시간 지속됩니다.",
    ],
}


def flat(by_language):
    return [
        pytest.param(text, id=f"{language}-{n}") for language, ts in by_language.items() for n, text in enumerate(ts)
    ]


@pytest.mark.parametrize("answer", flat(PARTIAL))
def test_an_answer_that_leaves_something_open_refuses_in_part(answer):
    reading = read_answer(answer)
    assert reading.kind is RefusalKind.PARTIAL
    assert {s.role for s in reading.sentences} >= {Role.REFUSING, Role.CONTENT}


# The sentence, what of it refuses, what of it answers.
CLAUSES = [
    (
        "The manual does not give the price, but the battery lasts 8 hours.",
        "The manual does not give the price,",
        "but the battery lasts 8 hours.",
    ),
    (
        "The battery lasts 8 hours, but the manual does not give the price.",
        "but the manual does not give the price.",
        "The battery lasts 8 hours,",
    ),
    (
        "The guide does not say who built the bridge; it was opened in 1932.",
        "The guide does not say who built the bridge;",
        "it was opened in 1932.",
    ),
    (
        "Although the documents do not mention the price, the battery lasts eight hours.",
        "Although the documents do not mention the price,",
        "the battery lasts eight hours.",
    ),
    (
        "Das Handbuch nennt den Preis nicht, aber der Akku hält acht Stunden.",
        "Das Handbuch nennt den Preis nicht,",
        "aber der Akku hält acht Stunden.",
    ),
    (
        "Le manuel ne donne pas le prix, mais la batterie tient huit heures.",
        "Le manuel ne donne pas le prix,",
        "mais la batterie tient huit heures.",
    ),
    ("手册没有给出价格，但电池可以使用八小时。", "手册没有给出价格，", "但电池可以使用八小时。"),
    (
        "マニュアルには価格の記載がありませんが、バッテリーは八時間持ちます。",
        "マニュアルには価格の記載がありませんが、",
        "バッテリーは八時間持ちます。",
    ),
]


@pytest.mark.parametrize(("answer", "refuses", "says"), CLAUSES)
def test_a_clause_that_answers_beside_one_that_refuses_is_a_sentence_of_its_own(answer, refuses, says):
    found = {s.role: answer[s.start : s.end] for s in read_answer(answer).sentences}
    assert found == {Role.REFUSING: refuses, Role.CONTENT: says}


@pytest.mark.parametrize(
    "answer",
    [
        "I looked through the notes, but I did not find any reference to dark mode.",
        "The guide does not mention the price, so I cannot say what it costs.",
        "I'm sorry, but the guide does not mention the price, and it does not name a shop.",
        "I can't answer that, but I'd be happy to help with your ticket.",
    ],
)
def test_a_sentence_without_a_clause_of_content_is_not_split(answer):
    (sentence,) = read_answer(answer).sentences
    assert (sentence.start, sentence.end, sentence.role) == (0, len(answer), Role.REFUSING)


def test_text_beyond_the_searched_part_of_a_sentence_is_content():
    answer = "I don't know" + ", and the ticket is valid in zone 5" * 40
    *_, last = read_answer(answer).sentences
    assert (last.end, last.role) == (len(answer), Role.CONTENT)
