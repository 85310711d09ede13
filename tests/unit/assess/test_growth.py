"""No function on the way of an event takes time worse than n·log n in the size of the event.

Each takes texts of every shape, of one length and of four times that; the processor time may grow tenfold, which is
far from the sixteenfold of quadratic time and from the fourfold of linear time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from math import inf

import pytest

from monitor.assess.chunks.examine import Retrieved, examine
from monitor.assess.chunks.relevance import read_question
from monitor.assess.classify.refusal import read_answer
from monitor.assess.complete.extractive import extract
from monitor.assess.complete.locate import locate
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.windows import text_windows, token_windows, well_formed
from monitor.assess.embed.word_pieces import WordPieces
from monitor.assess.score.alignment_limit import within_reach
from monitor.assess.score.facts import FactIndex, facts, missing
from monitor.assess.score.facts.negation import contradicts
from monitor.assess.score.features import passages_of
from monitor.assess.score.overlap import overlap
from monitor.core.assessment_json import encode, storable
from monitor.core.model import Document, SupportingDocument, Verdict
from monitor.core.text.grams import gram_hashes
from monitor.core.text.markup import blank_markup, blank_spans, prose
from monitor.core.text.personal_data import PersonalData
from monitor.core.text.sentences import sentence_spans
from monitor.core.text.words import stems
from monitor.ingest.parse import parse_object
from monitor.privacy.redaction.redactor import redactor
from tests.factories.assess.interactions import interaction
from tests.rig.assess.shapes import SHAPES, Shape, parts, reworded
from tests.rig.assess.timing import seconds

SMALL, TIMES = 12_000, 4  # characters, and how many times as many
MOST = 10.0  # times the processor time: 4 are linear, 16 quadratic
FEW = ("one word", "words", "the same sentence", "ones and spaces", "letters with marks")  # where others are alike
FEW_FOR = ("one piece", "many pieces", "what is aligned", "chunks of a document", "chunks of many documents")
NO_TIME = 0.03  # seconds for the longer text; by quadratic time, the longest text that is read would take 15


def documents_of(text: str) -> list[str]:
    return parts(text, 200)


def _located(text: str) -> object:
    return locate([SupportingDocument(text=reworded(text) + "z")], [Document(id="d", text=text)])


def _many_located(text: str) -> object:
    pieces = [SupportingDocument(text=part + "z", document_id="7") for part in parts(text, 150)]
    return locate(pieces, [Document(id=str(n % 50), text=part) for n, part in enumerate(documents_of(text))])


def _reached(text: str) -> object:
    texts = documents_of(text)
    return within_reach(text, len(text), texts, HashEmbedder().encode(texts), [passages_of(each) for each in texts])


def _token_windows(text: str) -> object:
    (tokens,) = HashEmbedder().encode([text])
    return token_windows(text, list(zip(tokens["start"].tolist(), tokens["end"].tolist(), strict=True)), 254)


def _examined(question: str, documents: list[str]) -> object:
    encoder = HashEmbedder()
    read = read_question(question, *encoder.encode([question]), *encoder.sentences([question]))
    retrieved = Retrieved(texts=documents, tokens=encoder.encode(documents), sentences=encoder.sentences(documents))
    return examine(read, retrieved, Verdict.GROUNDED, ())


PIECES = WordPieces()
REDACTOR = redactor(set(PersonalData), ["DE", "US"], {"customer": "C-[0-9]{3,8}"})


def _redacted_pieces(text: str) -> object:
    pieces = tuple(SupportingDocument(text=part[1:], document_id="d7") for part in parts(text, 150))
    return REDACTOR.interaction(interaction("", "", documents_of(text), supporting_documents=pieces))


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "sentences": sentence_spans,
    "stems": stems,
    "prose": prose,
    "markup": lambda text: blank_markup(text, code=False),
    "blanked spans": lambda text: blank_spans(text, sentence_spans(text)),
    "hashes": lambda text: gram_hashes(text, 8),
    "refusals": lambda text: read_answer(text, text),
    "extraction": lambda text: extract(text, text, [Document(id="d", text=part) for part in documents_of(text)]),
    "one piece": _located,
    "many pieces": _many_located,
    "windows": lambda text: list(text_windows(text.replace("\ud800", "?"), 16_384)),
    "word pieces": lambda text: PIECES.pieces(well_formed(text)),
    "windows of tokens": _token_windows,
    "tokens": lambda text: HashEmbedder().encode([text]),
    "what is aligned": _reached,
    "chunks of a document": lambda text: _examined(text, [text]),
    "chunks of many documents": lambda text: _examined(text, documents_of(text)),
    "overlap": lambda text: overlap(text, text, [text[: len(text) // 2]]),
    "overlap with many": lambda text: overlap(text, text, documents_of(text)),
    "parsing": lambda text: parse_object(json.dumps({"text": text, "texts": text.split(" ")}).encode()),
    "parsing what is nested": lambda text: parse_object(
        ('{"a":' * 300 + json.dumps([*text, "\0"]) + "}" * 300).encode()
    ),
    "facts": facts,
    "facts of documents": lambda text: missing(text, FactIndex.of([text[1:]])),
    "negations": lambda text: contradicts(text, text[1:]),
    "redaction": lambda text: REDACTOR.interaction(interaction(text, text, documents_of(text))),
    "redaction of pieces": _redacted_pieces,
    "storing": lambda text: encode({"text": storable(text)}),
}


def growth(work: Callable[[str], object], shape: Shape) -> float:
    """How many times the processor time the longer text takes; the least of three tries, since others compute too."""
    least = inf
    for _ in range(3):
        long = seconds(partial(work, shape(TIMES * SMALL)))
        if long < NO_TIME:
            return 1.0
        least = min(least, long / seconds(partial(work, shape(SMALL))))
        if least <= MOST:
            break
    return least


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_time_grows_with_the_text_whatever_its_shape(name):
    shapes = FEW if name in FEW_FOR else SHAPES
    found = {shape: growth(FUNCTIONS[name], SHAPES[shape]) for shape in shapes}
    assert {shape: times for shape, times in found.items() if times > MOST} == {}
