from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.core.model import Document
from monitor.store.probe import documents as module
from monitor.store.probe.documents import SPAN, shown_documents
from tests.factories.answers import NOON, a_batch, an_assessment

NOW = NOON + timedelta(hours=1)


@pytest.fixture
def write(writer):
    def written(number, *texts, app="shop", age=timedelta()):
        held = tuple(Document(id=f"d-{place}", text=text) for place, text in enumerate(texts))
        answer = an_assessment(
            id=f"q-{number}", app=app, occurred_at=NOON - age + timedelta(seconds=number), retrieved_documents=held
        )
        writer.write(a_batch(answer))

    return written


def test_each_text_comes_once_and_the_last_shown_first(engine, write):
    write(1, "old", "both")
    write(2, "both", "new")
    found = shown_documents(engine, "shop", now=NOW)
    assert sorted(found) == ["both", "new", "old"]
    assert found[-1] == "old"


def test_other_apps_and_other_times_are_left_out(engine, write):
    write(1, "ours")
    write(2, "theirs", app="bank")
    write(3, "long ago", age=SPAN)
    assert shown_documents(engine, "shop", now=NOW) == ["ours"]
    assert shown_documents(engine, "shop", now=NOON) == ["long ago"]
    assert shown_documents(engine, "nobody", now=NOW) == []


def test_answers_without_documents_and_empty_texts_give_nothing(engine, write):
    write(1)
    write(2, "", " \n")
    assert shown_documents(engine, "shop", now=NOW) == []


def test_answers_documents_and_texts_are_bounded(engine, write, monkeypatch):
    for number in range(4):
        write(number, f"{number} {'long ' * 2_000}", f"{number}")
    monkeypatch.setattr(module, "MOST_ANSWERS", 3)
    found = shown_documents(engine, "shop", now=NOW)
    assert {text[0] for text in found} == {"1", "2", "3"}
    assert max(map(len, found)) == module.LONGEST
    monkeypatch.setattr(module, "MOST_DOCUMENTS", 2)
    assert {text[0] for text in shown_documents(engine, "shop", now=NOW)} == {"3"}
