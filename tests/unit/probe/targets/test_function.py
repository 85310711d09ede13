"""What only the function does; the promise of all targets is in `tests/contract/test_target.py`."""

from __future__ import annotations

import sys

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.target import ChatbotFailed, Exchange
from monitor.probe.targets.function import LARGEST, MOST_DOCUMENTS, FunctionTarget, load_function, read_answer


@pytest.fixture
def ask():
    opened = []

    def asked(function):
        opened.append(FunctionTarget(function, name="shop:ask", timeout=30, per_second=None))
        return opened[-1].ask("Q2", history=[Exchange(question="Q1", answer="A1")], conversation="c-1")

    yield asked
    for target in opened:
        target.close()


def test_it_hears_question_history_and_conversation(ask):
    before = [{"role": "user", "content": "Q1"}, {"role": "assistant", "content": "A1"}]
    assert ask(lambda *heard: str(heard == ("Q2", before, "c-1"))).text == "True"


@pytest.mark.parametrize("error", [RuntimeError("s3cret"), SystemExit(1)])
def test_whatever_it_raises_fails_the_question(ask, error):
    def fails(*_):
        raise error

    with pytest.raises(ChatbotFailed, match=f"shop:ask raised {type(error).__name__}$") as caught:
        ask(fails)
    assert caught.value.reason == "refused"


@pytest.mark.parametrize("said", [None, 7, b"text", ["text"], {}, {"answer": 7}, {"answer": "a", "documents": "b"}])
def test_what_is_no_answer_is_malformed(ask, said):
    with pytest.raises(ChatbotFailed, match="neither a text nor") as caught:
        ask(lambda *_: said)
    assert caught.value.reason == "malformed"


def test_an_answer_is_bounded_and_storable():
    answer = read_answer({"answer": "a\x00\ud800", "documents": [1, *["d"] * 200], "version": 2}, of="shop:ask")
    assert (answer.text, answer.version, len(answer.documents)) == ("a\ufffd\ufffd", "2", MOST_DOCUMENTS)
    for said in ("x" * (LARGEST + 1), {"answer": "x" * (LARGEST + 1)}):
        with pytest.raises(ChatbotFailed) as caught:
            read_answer(said, of="shop:ask")
        assert caught.value.reason == "too_long"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_such_module:ask", "No module named"),
        ("os:no_such", "has no attribute"),
        ("os", "AttributeError"),
        ("os:", "AttributeError"),
        ("", "ValueError"),
        (":", "ValueError"),
        (":ask", "ValueError"),
        ("os:sep", "is not a function"),
        ("broken_bot:ask", "'broken_bot:ask': ZeroDivisionError"),
    ],
)
def test_what_is_no_function_is_named(tmp_path, monkeypatch, name, why):
    (tmp_path / "broken_bot.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(WrongSettings, match=f"^python: .*{why}"):
        load_function(name, of="python")
    assert "broken_bot" not in sys.modules


def test_a_timeout_of_its_own_is_told_as_its_own(ask):
    def late(*_):
        raise TimeoutError

    with pytest.raises(ChatbotFailed, match="raised TimeoutError"):
        ask(late)
