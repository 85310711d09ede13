"""The requests of the sidecar to the generator, and the support that it makes of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import pytest

from monitor.assess.complete.sidecar import MOST_PIECES, PROMPTS, Regenerated
from monitor.core.model import Document, Interaction, Match, Origin, SupportingDocument
from tests.factories.assess.interactions import interaction
from tests.factories.assess.sidecar import DOCUMENTS, EXTRACTIVE, MUSEUM, PATIENCE, Generator, many


def found(make, pieces: Sequence[str], about: Interaction = MUSEUM) -> tuple[SupportingDocument, ...]:
    (support,) = make(Generator(lambda _: list(pieces))).complete([about])
    assert support.origin is Origin.SIDECAR
    return support.documents


def test_explaining_shows_question_documents_in_their_order_and_answer(make):
    generator = Generator(lambda _: ["Dogs stay outside."])
    (support,) = make(generator).complete([MUSEUM])
    (asked,) = generator.asked
    assert asked.prompt is PROMPTS["explain"]
    assert [(block.name, block.text) for block in asked.blocks] == [
        ("question", MUSEUM.question),
        ("document 1", DOCUMENTS[0]),
        ("document 2", DOCUMENTS[1]),
        ("answer", MUSEUM.answer),
    ]
    assert support.stands_in is None
    assert support.sidecar is not None
    assert (support.sidecar.mode, support.sidecar.model) == ("explain", "generator-1")
    assert support.sidecar.prompt_hash == PROMPTS["explain"].hash
    assert support.sidecar.second_answer is None


def test_regenerating_does_not_show_the_answer_and_keeps_the_second_one(make):
    second = Regenerated(answer="At nine.", supporting_documents=["Dogs stay outside."])
    generator = Generator(lambda _: second)
    (support,) = make(generator, mode="regenerate").complete([MUSEUM])
    (asked,) = generator.asked
    assert asked.prompt is PROMPTS["regenerate"]
    assert [block.name for block in asked.blocks] == ["question", "document 1", "document 2"]
    assert MUSEUM.answer not in asked.data
    assert support.sidecar is not None
    assert (support.sidecar.mode, support.sidecar.second_answer) == ("regenerate", "At nine.")
    assert support.sidecar.prompt_hash == PROMPTS["regenerate"].hash
    assert [piece.document_id for piece in support.documents] == ["d1"]


@pytest.mark.parametrize("mode", ["explain", "regenerate"])
@pytest.mark.parametrize(
    "about",
    [
        interaction("Why?", "Because.", ()),
        interaction("Why?", "Because.", ("", " \n")),
        interaction("Why?", "Because.", DOCUMENTS, supporting_documents=()),
        interaction("Why?", "Because.", (), supporting_documents=(SupportingDocument(text="Dogs stay outside."),)),
        interaction(
            "Why?", "Because.", DOCUMENTS, supporting_documents=(SupportingDocument(text="Dogs stay outside."),)
        ),
    ],
)
def test_nothing_is_asked_where_the_event_says_it_or_nothing_was_retrieved(make, mode, about):
    generator = Generator(lambda _: 1 / 0)
    assert make(generator, mode=mode).complete([about]) == EXTRACTIVE.complete([about])
    assert generator.asked == []


@pytest.mark.parametrize("answer", ["", " \n\t"])
def test_an_empty_answer_is_not_explained_but_one_may_be_made(make, answer):
    about = interaction("When does it open?", answer, DOCUMENTS)
    generator = Generator(lambda _: Regenerated(answer="At nine.", supporting_documents=[]))
    assert make(generator).complete([about]) == EXTRACTIVE.complete([about])
    assert generator.asked == []
    (support,) = make(generator, mode="regenerate").complete([about])
    assert (support.origin, support.documents) == (Origin.SIDECAR, ())


def test_nothing_comes_of_nothing(make):
    assert make(Generator(lambda _: [])).complete([]) == []


def test_pieces_are_located_as_they_stand_nearly_or_nowhere(make):
    exact, folded, fuzzy, nowhere = found(
        make,
        [
            "The museum opens at nine.",
            '"CHILDREN" get in for free.',
            "The museum opened at nine, it closes at six.",
            "Museums are closed on Mondays in most countries.",
        ],
    )
    assert (exact.document_id, exact.start, exact.end, exact.match) == ("d0", 0, 25, Match.EXACT)
    assert (folded.document_id, folded.match) == ("d1", Match.FOLDED)
    assert DOCUMENTS[1][folded.start : folded.end] == "“Children” get in   for free."
    assert folded.text == '"CHILDREN" get in for free.'  # what the generator said is kept
    assert (fuzzy.document_id, fuzzy.match) == ("d0", Match.FUZZY)
    assert (nowhere.document_id, nowhere.start, nowhere.end, nowhere.match) == (None, None, None, None)


def test_pieces_that_say_nothing_or_the_same_again_are_left_out(make):
    pieces = ["Dogs stay outside.", "", " \n", "  Dogs stay outside.\n", "It closes at six.", "Dogs stay outside."]
    assert [piece.text for piece in found(make, pieces)] == ["Dogs stay outside.", "It closes at six."]


def test_only_the_first_pieces_are_kept_if_there_are_too_many(make):
    pieces = [f"Piece {n} is from nowhere." for n in range(50)]
    assert [piece.text for piece in found(make, pieces)] == pieces[:MOST_PIECES]


def test_pieces_that_are_left_out_take_nobodys_place(make):
    pieces = ["Dogs stay outside."] * 30 + [""] * 30 + ["It closes at six."]
    assert [piece.text for piece in found(make, pieces)] == ["Dogs stay outside.", "It closes at six."]


def test_no_pieces_are_no_support_and_no_failure(make):
    assert found(make, []) == ()
    assert found(make, [" "]) == ()


def test_the_same_text_in_two_documents_of_one_id_is_no_trouble(make):
    twice = tuple(Document(id="same", text="Dogs stay outside.") for _ in range(2))
    (piece,) = found(make, ["Dogs stay outside."], interaction("?", "Outside.", retrieved_documents=twice))
    assert (piece.document_id, piece.match) == ("same", Match.EXACT)


def test_results_keep_the_order_of_the_interactions_whatever_that_of_the_calls(make):
    later = {f"Question {n}?": Event() for n in range(4)}
    later["Question 3?"].set()

    def answer(question: str) -> list[str]:
        number = int(question[9])
        assert later[question].wait(PATIENCE)
        if number:
            later[f"Question {number - 1}?"].set()  # the last is answered first
        return [f"From {number}."]

    supports = make(Generator(answer), concurrency=4).complete(many(4))
    assert [support.documents[0].text for support in supports] == [f"From {n}." for n in range(4)]


def test_support_of_the_event_is_kept_next_to_calls(make):
    logged = (SupportingDocument(text="Dogs stay outside."),)
    first, second, third = many(3)
    between = interaction("?", "Outside.", DOCUMENTS, supporting_documents=logged)
    generator = Generator(lambda question: [question])
    supports = make(generator).complete([first, between, second, interaction("?", "Here."), third])
    origins = [Origin.SIDECAR, Origin.LOGGED, Origin.SIDECAR, Origin.EXTRACTIVE, Origin.SIDECAR]
    assert [support.origin for support in supports] == origins
    assert [supports[place].documents[0].text for place in (0, 2, 4)] == [f"Question {n}?" for n in range(3)]
    assert len(generator.asked) == 3
    assert all(support.stands_in is None for support in supports)
