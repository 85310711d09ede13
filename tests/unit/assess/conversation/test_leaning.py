"""Which questions lean on earlier turns, by which words, in nine languages, and which do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.conversation.leaning import LONGEST, cue_of, names_something

LEANS = [
    # it points, or stands for something that is not in the question
    ("Where can I purchase those?", "those"),
    ("Does that cover the battery?", "Does that"),
    ("How do I cancel this plan?", "this"),
    ("What does it cost?", "it"),
    ("Which colours does it come in?", "it"),
    ("How many users can they have?", "they"),
    ("In what year was he born?", "he"),
    ("Can I buy them online?", "them"),
    ("How do I sign up for it?", "it"),
    ("What is its capital?", "its"),
    ("Is there a cheaper one?", None),
    ("Can I get both of them?", None),
    ("Which is the cheapest one?", "the cheapest one"),
    ("Wie lange dauert das?", "das"),
    ("Wo kann ich sie abgeben?", "sie"),
    ("Muss ich dafür anrufen?", "dafür"),
    ("Gilt diese Frist auch am Sonntag?", "diese"),
    ("Quand est-elle fermée ?", "elle"),
    ("Combien coûte cette option ?", "cette option"),
    ("¿Dónde puedo comprarlos?", "comprarlos"),
    ("¿Cuánto cuesta ese plan?", "ese plan"),
    ("Onde fica isso?", "isso"),
    ("Dove posso comprarli?", "comprarli"),
    ("Quanto costa questa opzione?", "questa opzione"),
    ("它多少钱?", "它"),
    ("这个产品有保修吗?", "这个"),
    ("それはどこで返せますか。", "それ"),
    ("그것은 얼마인가요?", "그것"),
    # it goes on
    ("And in winter?", "And"),
    ("What about the family plan?", "What about"),
    ("How about Berlin?", "How about"),
    ("Was ist mit Auszubildenden?", "Was ist mit"),
    ("Und für Kinder?", "Und"),
    ("Et en hiver ?", "Et en"),
    ("¿Y en las tiendas?", "Y en"),
    ("E per gli studenti?", "E per"),
    ("E para estudantes?", "E para"),
    ("那儿童票呢?", "那儿童票呢"),
    ("그럼 비용은요?", "그럼 비용은요?"),
    # a fragment, or nothing that it is about
    ("In winter?", ""),
    ("Why?", ""),
    ("How long does that take?", None),
    ("how much?", ""),
    ("Since when?", ""),
    ("Tell me more", ""),
    ("Wieso nicht?", ""),
    ("Pourquoi ?", ""),
    ("¿Por qué no?", ""),
    ("Quanto custa?", ""),
    ("为什么?", ""),
    ("なぜですか。", ""),
    ("왜요?", ""),
]
STANDS = [
    "How long are deleted snapshots kept?",
    "How long does it take to transfer a domain?",
    "Is it possible to rent a bike?",
    "What time is it in Tokyo?",
    "How do I delete a snapshot and restore it?",
    "When the dog barks, does it bite?",
    "If my card is lost, can I replace it?",
    "What happens during a failover and how long does it take?",
    "Who said he would never retire?",
    "Which countries have their own currency?",
    "What do people think of those who travel alone?",
    "What events are there this week?",
    "After it was rebuilt, what did the museum show?",
    "How many of the students passed, and what did they get?",
    "What can our IT administrator see?",
    "where do they film game of thrones season 2",
    "And who is the president of France?",
    "Who are you?",
    "What can you do for me?",
    "Hello!",
    "aws s3 pricing",
    "new york times manhattan center for science and mathematics",
    "Was kostet das Abonnement?",
    "Können Sie mir Ihre Öffnungszeiten nennen?",
    "Gibt es eine Frist für den Widerruf?",
    "Est-ce que les vélos sont admis dans le train ?",
    "Y a-t-il un parking près de la gare ?",
    "¿A qué hora abre la piscina este verano?",
    "Qual é o prazo para devolver um produto?",
    "Come si prenota una visita al museo?",
    "博物馆几点开门?",
    "図書館は何時に開きますか。",
    "도서관은 몇 시에 여나요?",
    "",
    "?!",
    " \n",
]


@pytest.mark.parametrize(("question", "words"), LEANS)
def test_a_follow_up_leans_by_its_words(question, words):
    cue = cue_of(question)
    assert cue is not None
    if words is not None:
        assert question[slice(*cue)] == words


@pytest.mark.parametrize("question", STANDS)
def test_a_standing_question_is_left_alone(question):
    assert cue_of(question) is None


def test_a_long_question_says_itself_what_it_is_about():
    assert cue_of("What does it cost?" + " really" * LONGEST) is None


@pytest.mark.parametrize(
    "question", ["Why?", "thanks!", "And how long does it take?", "为什么?", "¿Y cuánto cuesta?", ""]
)
def test_what_names_nothing_has_no_words_to_lend(question):
    assert not names_something(question)


@pytest.mark.parametrize("question", ["And for seniors?", "What does the premium plan cost?", "年票可以转让吗?"])
def test_what_names_something_has(question):
    assert names_something(question)


@given(st.text(max_size=80) | st.text(alphabet="it that's their and 它それ그 ?,\u202e\0", max_size=60))
def test_a_cue_lies_within_the_question(question):
    cue = cue_of(question)
    assert cue is None or cue == (0, 0) or 0 <= cue[0] < cue[1] <= len(question)
