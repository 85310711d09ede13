from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from monitor.core.errors import Retriable
from monitor.core.model import Unscored
from monitor.ingest.lookup.resolve import resolve
from monitor.ingest.traces.turn import Turn, TurnDocument

NOW = datetime(2026, 5, 4, tzinfo=UTC)
TURN = Turn(trace_id="a" * 32, span_id="b" * 16, question="q", answer="a", documents=None, started=NOW, ended=NOW)


def turn(*documents, unscored=Unscored.NO_DOCUMENT_TEXT, **fields):
    return replace(TURN, documents=documents, unscored=unscored, **fields)


def document(key="a", text=None, in_prompt=None):
    return TurnDocument(id=key, text=text, in_prompt=in_prompt)


class Shelf:
    def __init__(self, **texts):
        self.known, self.calls = texts, []

    def texts(self, app, ids):
        self.calls.append((app, list(ids)))
        return {key: self.known[key] for key in ids if key in self.known}

    def describe(self):
        return "shelf"


def one(turn, lookup):
    (resolved,) = resolve([("shop", turn)], lookup)
    return resolved.unscored, [d.text for d in resolved.documents or ()]


def test_texts_come_from_the_look_up_then_from_the_prompt():
    read = turn(document("a", in_prompt="p"), document("b", in_prompt="p"), document("c", text="T"), document(None))
    assert one(read, Shelf(a="A")) == (Unscored.NO_DOCUMENT_TEXT, ["A", "p", "T", None])


def test_a_turn_whose_texts_are_all_found_is_scored():
    assert one(turn(document("a"), document("b", in_prompt="p")), Shelf(a="A")) == (None, ["A", "p"])
    assert one(turn(document("a", in_prompt="p"), unscored=None), None) == (None, ["p"])


def test_a_turn_that_lacks_a_text_is_not_scored():
    assert one(turn(document("a"), unscored=None), Shelf()) == (Unscored.NO_DOCUMENT_TEXT, [None])


def test_a_turn_without_an_answer_is_not_scored_for_that_reason():
    assert one(turn(document("a"), answer=None), Shelf(a="A"))[0] is Unscored.CONTENT_NOT_CAPTURED


@pytest.mark.parametrize("reason", [Unscored.CONTENT_REDACTED, Unscored.CALL_FAILED, Unscored.CONTENT_NOT_CAPTURED])
def test_what_was_redacted_is_not_looked_up(reason):
    shelf = Shelf(a="A")
    assert one(turn(document("a"), unscored=reason), shelf) == (reason, [None])
    assert shelf.calls == []


def test_turns_without_documents_stay_as_they_are():
    assert resolve([("shop", TURN)], Shelf()) == [TURN]
    nothing = turn(unscored=Unscored.NO_RETRIEVAL)
    assert resolve([("shop", nothing)], Shelf()) == [nothing]


def test_each_app_is_asked_once_for_each_id():
    shelf = Shelf(a="A", b="B")
    turns = [("shop", turn(document("a"), document("b"))), ("bank", turn(document("a"))), ("shop", turn(document("a")))]
    assert [t.unscored for t in resolve(turns, shelf)] == [None, None, None]
    assert shelf.calls == [("shop", ["a", "b"]), ("bank", ["a"])]


def test_characters_that_postgres_refuses_are_replaced():
    assert one(turn(document("a")), Shelf(a="x\x00\ud800")) == (None, ["x\ufffd\ufffd"])


def test_an_id_that_no_source_can_be_asked_for_is_mended_first():
    shelf = Shelf(**{"a\ufffd": "A"})
    assert one(turn(document("a\ud800")), shelf) == (None, ["A"])
    assert shelf.calls == [("shop", ["a\ufffd"])]


def test_a_look_up_that_is_down_is_said():
    class Down(Shelf):
        def texts(self, app, ids):
            raise Retriable("down")

    with pytest.raises(Retriable):
        resolve([("shop", turn(document("a")))], Down())
