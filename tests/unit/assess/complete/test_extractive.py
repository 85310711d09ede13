from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.complete import extractive
from monitor.assess.complete.extractive import MOST_SENTENCES, ExtractiveCompleter, extract
from monitor.core.model import Document, Origin, SupportingDocument
from monitor.core.text.sentences import sentence_spans
from tests.factories.assess.interactions import interaction

PARKING = Document(
    id="parking",
    text="The car park opens at six. Parking costs 2 euros per hour, at most 14 euros a day. Bicycles are free.",
)
MUSEUM = Document(
    id="museum",
    text="The museum shows ships.\n\n- Children under 12 get in free.\n- Dogs stay outside.\n\n"
    "It closes at 6 p.m. on Mondays.",
)


def texts(question, answer, *documents):
    return [piece.text for piece in extract(question, answer, documents)]


@pytest.mark.parametrize(
    ("question", "answer", "sentence"),
    [
        ("How much is parking?", "2 euros per hour.", "Parking costs 2 euros per hour, at most 14 euros a day."),
        ("When does the car park open?", "At six.", "The car park opens at six."),
        ("What about my bicycle?", "Bicycles park for free.", "Bicycles are free."),
        ("May I bring my dog?", "No, dogs have to stay outside.", "- Dogs stay outside."),
        ("When do you close?", "It closes at 6 p.m.", "It closes at 6 p.m. on Mondays."),
    ],
)
def test_the_sentence_that_carries_the_answer_is_among_the_support(question, answer, sentence):
    assert sentence in texts(question, answer, PARKING, MUSEUM)


def test_the_question_finds_the_sentence_of_a_short_answer():
    assert texts("Can dogs come along?", "Yes, you can.", PARKING, MUSEUM) == ["- Dogs stay outside."]


def test_an_answer_from_two_documents_gets_support_from_both():
    pieces = extract("?", "Parking costs 2 euros per hour. Children under 12 get in free.", (MUSEUM, PARKING))
    assert {piece.document_id for piece in pieces} == {"museum", "parking"}


def test_a_second_sentence_that_says_the_same_adds_nothing():
    twice = Document(id="twice", text="The fee is 40 euros. The fee is 40 euros. Pay at the desk.")
    assert texts("?", "The fee is 40 euros.", twice) == ["The fee is 40 euros."]


def test_inflected_words_count_as_the_same():
    document = Document(id="d", text="Trains run hourly. Cancellations are refunded. Seats are blue.")
    assert texts("?", "You will be refunded if you have cancelled.", document) == ["Cancellations are refunded."]


def test_sentences_keep_their_own_order():
    document = Document(id="d", text="Alpha opens doors. Beta paints walls. Gamma drives lorries. Delta bakes bread.")
    answer = "Delta bakes bread, Gamma drives lorries, Alpha opens doors."
    assert texts("?", answer, document) == ["Alpha opens doors.", "Gamma drives lorries.", "Delta bakes bread."]


@pytest.mark.parametrize("seed", range(20))
def test_the_first_of_two_equally_good_sentences_is_taken(seed, monkeypatch):
    # Sets have no fixed order, so a plain sum of their weights differs in its last digit from process to process.
    monkeypatch.setattr(extractive, "MOST_SENTENCES", 1)
    random = Random(seed)
    left, right = ([f"{random.randrange(10**6):06d}" for _ in range(5)] for _ in range(2))
    rest = [f"{a} {b}." for n, (a, b) in enumerate(zip(left, right, strict=True)) for _ in range(n)]
    document = Document(id="d", text="\n\n".join([" ".join(left), " ".join(right), *rest]))
    assert texts("?", " ".join(left + right), document) == [" ".join(left)]


def test_documents_keep_their_own_order():
    ids = [piece.document_id for piece in extract("?", "Bicycles are free. The museum shows ships.", (MUSEUM, PARKING))]
    assert ids == ["museum", "parking"]


def test_at_most_five_sentences_are_taken():
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    document = Document(id="d", text=" ".join(f"The {name} stands here." for name in map(str.title, names)))
    assert len(texts("?", " ".join(names), document)) == MOST_SENTENCES == 5


def test_an_answer_that_nothing_carries_still_gets_one_sentence():
    assert texts("Qui?", "Zwölf Boxkämpfer.", PARKING) == ["The car park opens at six."]


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_has_no_support(answer):
    assert texts("When?", answer, PARKING) == []


@pytest.mark.parametrize("documents", [[], [""], [" \n", "\t"]])
def test_documents_without_text_give_none(documents):
    assert texts("When?", "At six.", *(Document(id="d", text=text) for text in documents)) == []


@pytest.mark.parametrize(
    ("question", "answer", "document", "sentence"),
    [
        (
            "退票要多少钱？",
            "退票手续费为票价的百分之十。",
            "车站早上六点开门。退票手续费为票价的百分之十。行李可以寄存。",
            "退票手续费为票价的百分之十。",
        ),
        (
            "駐車料金はいくらですか。",
            "駐車料金は一時間三百円です。",
            "図書館は月曜日に休みます。駐車料金は一時間三百円です。犬は入れません。",
            "駐車料金は一時間三百円です。",
        ),
        (
            "ค่าจอดรถเท่าไร",
            "ค่าจอดรถชั่วโมงละสี่สิบบาท",
            "พิพิธภัณฑ์ปิดวันจันทร์\n\nค่าจอดรถชั่วโมงละสี่สิบบาท\n\nห้ามนำสุนัขเข้า",
            "ค่าจอดรถชั่วโมงละสี่สิบบาท",
        ),
        (
            "주차 요금은 얼마입니까?",
            "주차 요금은 시간당 삼천 원입니다.",
            "도서관은 월요일에 쉽니다. 주차 요금은 시간당 삼천 원입니다. 개는 들어올 수 없습니다.",
            "주차 요금은 시간당 삼천 원입니다.",
        ),
        (
            "Сколько стоит парковка?",
            "Парковка стоит двести рублей в час.",
            "Музей закрыт по понедельникам. Парковка стоит двести рублей в час. Собак не пускают.",
            "Парковка стоит двести рублей в час.",
        ),
    ],
)
def test_other_scripts_find_their_sentence(question, answer, document, sentence):
    assert texts(question, answer, Document(id="d", text=document)) == [sentence]


# --- properties ------------------------------------------------------------------------------------------------------

prose = st.text(alphabet=st.sampled_from("abcdeéßİ文字かな ด. .!?\n。\u00a0'🤷1"), max_size=60) | st.text(max_size=40)


@given(prose, prose, st.lists(prose, max_size=4))
def test_offsets_index_the_text_of_the_document_exactly(question, answer, documents):
    given_documents = [Document(id=str(n), text=text) for n, text in enumerate(documents)]
    pieces = extract(question, answer, given_documents)
    for piece in pieces:
        text = given_documents[int(piece.document_id)].text
        assert text[piece.start : piece.end] == piece.text
        assert (piece.start, piece.end) in sentence_spans(text)
    places = [(int(piece.document_id), piece.start) for piece in pieces]
    assert places == sorted(set(places))
    assert len(pieces) <= MOST_SENTENCES
    assert bool(pieces) is bool(answer.strip() and any(text.strip() for text in documents))


@given(prose, prose, st.lists(prose, max_size=3))
def test_the_same_interaction_always_gets_the_same_support(question, answer, documents):
    it = interaction(question, answer, documents)
    completer = ExtractiveCompleter()
    assert completer.complete([it]) == ExtractiveCompleter().complete([it])
    assert completer.complete([it, it]) == completer.complete([it]) * 2


# --- what the event carries ------------------------------------------------------------------------------------------


def completed(pieces, documents=(PARKING, MUSEUM)):
    (support,) = ExtractiveCompleter().complete(
        [interaction("When?", "At six.", retrieved_documents=tuple(documents), supporting_documents=pieces)]
    )
    return support


def test_support_that_was_not_asked_for_is_extracted():
    support = completed(None)
    assert support.origin is Origin.EXTRACTIVE
    assert [piece.text for piece in support.documents] == ["The car park opens at six."]


def test_a_generator_that_named_no_support_is_believed():
    support = completed(())
    assert (support.origin, support.documents) == (Origin.LOGGED, ())


def test_logged_support_is_kept_and_located():
    support = completed((SupportingDocument(text="Dogs stay outside."), SupportingDocument(text="Invented.")))
    assert support.origin is Origin.LOGGED
    found, invented = support.documents
    start = MUSEUM.text.index("Dogs")
    assert (found.document_id, found.start, found.end) == ("museum", start, start + len("Dogs stay outside."))
    assert invented == SupportingDocument(text="Invented.")


def test_supports_have_the_order_of_the_interactions():
    its = [
        interaction("?", "At six.", retrieved_documents=(PARKING,)),
        interaction("?", "At six.", retrieved_documents=(PARKING,), supporting_documents=()),
        interaction("?", "At six."),
    ]
    got = ExtractiveCompleter().complete(its)
    assert [(s.origin, len(s.documents)) for s in got] == [
        (Origin.EXTRACTIVE, 1),
        (Origin.LOGGED, 0),
        (Origin.EXTRACTIVE, 0),
    ]
    assert ExtractiveCompleter().complete([]) == []
