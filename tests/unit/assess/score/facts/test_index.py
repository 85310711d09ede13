from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.score.facts import FactIndex, FactKind, facts, missing


def lacking(answer, *documents):
    return [fact.text for fact in missing(answer, FactIndex.of(documents))]


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It takes 30 days.", "It takes 30 days."),
        ("It takes 30.", "It takes 30 days."),
        ("It takes 30 days.", "Days: 30"),
        ("It takes thirty days.", "It takes 30 days."),
        ("It takes 30 days.", "Es dauert dreißig Tage und ist gut."),
        ("It takes 30 days.", "有効期間は三十日間です。"),
        ("It holds 5 GB.", "It holds 5GB."),
        ("It holds 5 gigabytes.", "It holds 5,000 MB."),
        ("It holds 1 GB.", "It holds 1,024 MB."),
        ("It takes 90 minutes.", "It takes one and a half hours."),
        ("It takes 2 weeks.", "It takes 14 days."),
        ("It takes 24 hours.", "It takes a day."),
        ("It is 5 miles.", "It is 8 km."),
        ("It is 8 km.", "It is 5 miles."),
        ("It weighs 10 pounds.", "It weighs 4.5 kg."),
        ("It costs 10 pounds.", "It costs £10."),
        ("It is 20 °C.", "It is 68 °F."),
        ("It costs $5.", "It costs 5 dollars."),
        ("Half of the users left.", "50% of the users left."),
        ("50% of the users left.", "1/2 of the users left."),
        ("About 1.2 million left.", "1,234,567 left."),
        ("Nearly 50% left.", "49.7% left."),
        ("More than 1,200 left.", "1,234 left."),
        ("It is 3.1.", "It is 3.14."),
        ("It costs 1.234,50 €.", "It costs €1,234.50."),
        ("It takes 10 to 20 days.", "It takes 10-20 days."),
        ("Set it to 30.", "Set `timeout=30`."),
        ("It listens on port 8080.", "Open http://localhost:8080/start in a browser."),
        ("It holds 5000 mAh.", "Battery: 5000mAh"),
        ("Each one takes one month.", "It is billed per month: a month is the least."),
    ],
)
def test_numbers_that_are_held(answer, document):
    assert lacking(answer, document) == []


@pytest.mark.parametrize(
    ("answer", "document", "fact"),
    [
        ("It takes 60 days.", "It takes 30 days.", "60 days"),
        ("It takes 30 days.", "It takes 30 minutes.", "30 days"),
        ("It is 3.14.", "It is 3.1.", "3.14"),
        ("It takes 15 days.", "It takes 10-20 days.", "15 days"),
        ("It takes 2 hours.", "It takes 90 minutes.", "2 hours"),
        ("It listens on port 8081.", "Open http://localhost:8080/start in a browser.", "8081"),
        ("It costs $5.", "It costs 5 €.", "$5"),
        ("It is 5 km.", "It is 5 miles.", "5 km"),
        ("About 2 million left.", "1,234,567 left.", "2 million"),
        ("60% left.", "50% left.", "60%"),
        ("It holds 5 GB.", "It holds 5 MB.", "5 GB"),
        ("It takes sixty days.", "It takes thirty days.", "sixty days"),
    ],
)
def test_numbers_that_are_not_held(answer, document, fact):
    assert lacking(answer, document) == [fact]


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It opened in May 2020.", "It opened on 3 May 2020."),
        ("It opened on May 3rd, 2020.", "It opened on 2020-05-03."),
        ("It opened on 3 May.", "It opened on 3 May 2020."),
        ("It opened on 3 May 2020.", "In 2020, on 3 May, it opened."),
        ("It opened in the 1990s.", "It opened in 1994."),
        ("It opened in the nineties.", "It opened in 1994."),
        ("It opened in the 20th century.", "It opened in 1994."),
        ("It opened in Q2 2020.", "It opened in June 2020."),
        ("It opened in 2020.", "Opened: 2020-05-03"),
        ("It opens at 5 pm.", "It opens at 17:00."),
        ("It opens at 5:30.", "Es öffnet um 17.30 Uhr."),
        ("It opens on Monday.", "Open Mon to Fri"),
        ("It has 2000 rows, as in 2000.", "It has 2,000 rows."),
    ],
)
def test_dates_that_are_held(answer, document):
    assert lacking(answer, document) == []


@pytest.mark.parametrize(
    ("answer", "document", "fact"),
    [
        ("It opened on 3 May 2020.", "It opened in May 2020.", "3 May 2020"),
        ("It opened on 3 May 2020.", "It opened on 3 May. It closed in 2020.", "3 May 2020"),
        ("It opened in May 2021.", "It opened on 3 May 2020. It closed in June 2021.", "May 2021"),
        ("It opened in 2021.", "It opened in 2020.", "2021"),
        ("It opens at 5 pm.", "It opens at 5 am.", "5 pm"),
        ("It opens on Sunday.", "It opens on Monday.", "Sunday"),
        ("It opened in the 1980s.", "It opened in 1994.", "1980s"),
    ],
)
def test_dates_that_are_not_held(answer, document, fact):
    assert lacking(answer, document) == [fact]


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("We asked Ada Lovelace.", "ada lovelace wrote it"),
        ("We asked Lovelace.", "Ada Lovelace wrote it."),
        ("We asked Ada Lovelace.", "Then Lovelace wrote it."),
        ("We asked Prof. Lovelace's friend.", "Ada Lovelace wrote it."),
        ("We went to Sao Paulo.", "We went to São Paulo."),
        ("We asked the WHO.", "Ask the World Health Organization."),
        ("We asked the World Health Organization.", "Ask the WHO."),
        ("We went to the U.S. then.", "The US Army came."),
        ("We met Americans there.", "It lies in America."),
        ("We ate French bread.", "It is from France."),
        ("We had COVID-19 then.", "Covid 19 came."),
        ("We use v1.2.3 now.", "Release 1.2.3 is out."),
        ("We like the PlayStation3 box.", "The PlayStation 3 is out."),
    ],
)
def test_names_that_are_held(answer, document):
    assert lacking(answer, document) == []


@pytest.mark.parametrize(
    ("answer", "document", "fact"),
    [
        ("We asked Ada Miller.", "Ada Lovelace wrote it.", "Ada Miller"),
        ("We asked Peter Miller.", "Adam Miller wrote it.", "Peter Miller"),
        ("We went to Scotland.", "We went to England.", "Scotland"),
        ("We use v1.2.4 now.", "Release 1.2.3 is out.", "v1.2.4"),
        ("We follow RFC 2616 now.", "We follow RFC 2617 now.", "RFC 2616"),
        ("We asked the WHO.", "We have one.", "WHO"),
    ],
)
def test_names_that_are_not_held(answer, document, fact):
    assert lacking(answer, document) == [fact]


def test_any_of_the_texts_may_hold_a_fact_and_the_question_is_one_of_them():
    assert lacking("Ada paid $5 in 2020.", "It was $5.", "Does ada know?", "That was 2020.") == []


def test_nothing_is_held_where_there_are_no_texts():
    assert lacking("We paid Ada $5 in 2020.") == ["Ada", "$5", "2020"]


def test_a_remembered_document_and_a_long_one_hold_the_same():
    text = "It takes 30 days. "
    assert lacking("It takes 60 days, not 30 days.", text) == lacking("It takes 60 days, not 30 days.", text * 1_000)


_WORDS = (
    "30 1,234.5 1.234,5 days GB % $ € 5 May 2020 3rd 17:00 - – to and between twenty one hundred million half Ada WHO "
    "World Health Organization COVID-19 v1.2.3 [1] (2) . , : ; 年 三百 日 ½ /"
)
_PIECES = st.sampled_from(_WORDS.split())
_TEXTS = st.lists(st.tuples(_PIECES, st.sampled_from(["", " ", "\n"])), max_size=30).map(
    lambda pieces: "".join(piece + gap for piece, gap in pieces)
)


@given(st.one_of(st.text(max_size=200), _TEXTS))
def test_facts_are_in_order_apart_and_where_they_say(text):
    end = 0
    for fact in facts(text):
        assert end <= fact.start < fact.end <= len(text)
        assert text[fact.start : fact.end] == fact.text
        assert hash(fact.key) is not None
        end = fact.end


@given(st.one_of(st.text(max_size=200), _TEXTS))
def test_a_text_holds_its_own_numbers_and_dates(text):
    assert [fact for fact in missing(text, FactIndex.of([text])) if fact.kind is not FactKind.NAME] == []


@pytest.mark.parametrize(
    "unit", ["1", "1,", "-", "1-", ".", "1.1.", " ", "\n", "A ", "a-", "[1,", "(", "`", "三", "@a"]
)
def test_hostile_texts_are_read_to_their_end(unit):
    text = (unit * 20_000)[:20_000] + " and then 40 days"
    assert facts(text)[-1].text == "40 days"
    assert FactIndex.of([text]).holds(facts("40 days")[0])
