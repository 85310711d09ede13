from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any

import pytest

from monitor.assess.complete import sidecar
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.complete.sidecar import MOST_PIECES, PROMPTS, Explained, Regenerated, SidecarCompleter
from monitor.assess.llm.client import ChatModel
from monitor.assess.llm.exchange import BudgetSpent, NoAnswer, Purpose, Reply, Request, Spend
from monitor.core.errors import Fatal, Retriable
from monitor.core.model import Document, Interaction, Match, Origin, StandIn, Support, SupportingDocument
from monitor.simulate.fakes.flow import MemoryBudget
from tests.factories.assess import interaction
from tests.rig.waiting import until
from tests.servers.llm import CHAT_MODEL, KEY, hang, llm_server, model_refusal, refusal, said

PATIENCE = 20.0  # seconds that a test waits for another thread when something is wrong
DOCUMENTS = ("The museum opens at nine. It closes at six.", "Dogs stay outside.\n\n“Children” get in   for free.")
MUSEUM = interaction("When does the museum open?", "It opens at nine.", DOCUMENTS)
EXTRACTIVE = ExtractiveCompleter()
IN_TIME = StandIn(because="no answer in time", queued=True)


class Generator:
    """A `LanguageModel` that says what `answer` makes of a question; an exception is raised."""

    model = "generator-1"

    def __init__(self, answer: Callable[[str], Any]) -> None:
        self.answer = answer
        self.asked: list[Request] = []
        self.deadlines: set[float | None] = set()
        self.answered = self.at_work = self.most_at_work = 0
        self.lock = Lock()

    def ask(self, request: Request, *, deadline: float | None = None) -> Reply:
        with self.lock:
            self.asked.append(request)
            self.deadlines.add(deadline)
            self.at_work += 1
            self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            found = self.answer(request.blocks[0].text)
        finally:
            with self.lock:
                self.at_work -= 1
        if isinstance(found, Exception):
            raise found
        value = found if isinstance(found, Regenerated) else Explained(supporting_documents=found)
        with self.lock:
            self.answered += 1
        return Reply(value=value, model=self.model, spend=Spend(calls=1))


@pytest.fixture
def make():
    made = []

    def build(generator, **settings):
        usual = {"mode": "explain", "otherwise": EXTRACTIVE, "concurrency": 4}
        made.append(SidecarCompleter(generator, **{**usual, **settings}))
        return made[-1]

    yield build
    for completer in made:
        completer.close()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with llm_server(answer=lambda _: {"supporting_documents": ["The museum opens at nine."]}) as running:
        yield running


@pytest.fixture
def model(server):
    made = []

    def build(**settings):
        usual = {"model": CHAT_MODEL, "api_key": KEY, "base_url": server.base_url, "purpose": Purpose.SIDECAR}
        made.append(ChatModel(**{**usual, "budget": MemoryBudget(), **settings}))
        return made[-1]

    yield build
    for one in made:
        one.close()


def many(number: int, **given: Any) -> list[Interaction]:
    return [interaction(f"Question {n}?", "It opens at nine.", DOCUMENTS, id=f"i-{n}", **given) for n in range(number)]


def found(make, pieces: Sequence[str], about: Interaction = MUSEUM) -> tuple[SupportingDocument, ...]:
    (support,) = make(Generator(lambda _: list(pieces))).complete([about])
    assert support.origin is Origin.SIDECAR
    return support.documents


def stood_in(because: str, about: Interaction, *, queued: bool) -> Support:
    """The extractive support, saying so."""
    (support,) = EXTRACTIVE.complete([about])
    stands_in = StandIn(because=because, queued=queued)
    return Support(origin=Origin.EXTRACTIVE, documents=support.documents, stands_in=stands_in)


# --- what is asked ---------------------------------------------------------------------------------------------------


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


# --- what comes back -------------------------------------------------------------------------------------------------


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


def test_of_too_many_pieces_the_first_are_kept(make):
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


def test_what_the_event_carries_stands_among_what_is_asked(make):
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


# --- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "because", "queued"),
    [
        (NoAnswer("malformed", "the words of it", Spend()), "malformed", False),
        (NoAnswer("model_refused", "the words of it", Spend()), "model_refused", False),
        (NoAnswer("too_long", "the words of it", Spend()), "too_long", False),
        (Retriable("the server is busy", retry_after=5.0), "the server is busy", True),
        (BudgetSpent("the budget is spent", retry_after=60.0), "the budget is spent", True),
        (Fatal("the key is wrong"), "the key is wrong", True),
    ],
)
def test_what_fails_is_stood_in_for_and_the_others_are_left_as_they_are(make, caplog, error, because, queued):
    generator = Generator(lambda question: error if int(question[9]) % 2 else ["Dogs stay outside."])
    asked = many(6)
    with caplog.at_level(logging.WARNING):
        supports = make(generator).complete(asked)
    assert [support.origin for support in supports] == [Origin.SIDECAR, Origin.EXTRACTIVE] * 3
    assert supports[1::2] == [stood_in(because, about, queued=queued) for about in asked[1::2]]
    assert caplog.messages == [f"the sidecar gave no support for 3 of 6 answers: {because}"]


@pytest.mark.parametrize("crash", [ZeroDivisionError("crash"), TimeoutError("crash"), RuntimeError("crash")])
def test_a_crash_is_not_taken_for_a_failure_of_the_server(make, crash):
    with pytest.raises(type(crash), match="crash"):
        make(Generator(lambda _: crash), patience=PATIENCE).complete(many(3))


class LastMoment:
    """A `Completer` that lets time run out once `number` calls have been answered."""

    def __init__(self, generator: Generator, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.generator, self.number, self.now = generator, number, 100.0
        monkeypatch.setattr(sidecar, "monotonic", lambda: self.now)

    def complete(self, interactions: Sequence[Interaction]) -> list[Support]:
        until("they are answered", lambda: self.generator.answered == self.number and self.generator.at_work == 4)
        self.now += 1_000.0
        return EXTRACTIVE.complete(interactions)


def test_of_a_batch_whose_time_runs_out_those_in_time_are_kept(make, monkeypatch):
    gate = Event()

    def answer(question: str) -> list[str]:
        if int(question[9:-1]) >= 10:
            gate.wait(PATIENCE)
        return ["Dogs stay outside."]

    generator = Generator(answer)
    completer = make(generator, otherwise=LastMoment(generator, 10, monkeypatch), patience=7.0)
    asked = many(40)
    try:
        supports = completer.complete(asked)
    finally:
        gate.set()
    assert [support.origin for support in supports] == [Origin.SIDECAR] * 10 + [Origin.EXTRACTIVE] * 30
    assert supports[10:] == [stood_in("no answer in time", about, queued=True) for about in asked[10:]]
    assert generator.deadlines == {107.0}  # one for all
    until("the rest is done", lambda: generator.at_work == 0)
    assert len(generator.asked) == 14  # nobody waits for those that had not begun


def test_without_a_patience_there_is_no_deadline(make):
    generator = Generator(lambda _: [])
    make(generator).complete(many(3))
    assert generator.deadlines == {None}


def test_closing_during_calls_ends_the_batch_without_those_that_had_not_begun(make):
    gate = Event()
    generator = Generator(lambda _: ["Dogs stay outside."] if gate.wait(PATIENCE) else [])
    completer = make(generator, concurrency=2)
    with ThreadPoolExecutor(1) as pool:
        batch = pool.submit(completer.complete, many(6))
        until("two are at work", lambda: generator.at_work == 2)
        completer.close()
        gate.set()
        supports = batch.result(PATIENCE)
    assert [support.origin for support in supports] == [Origin.SIDECAR] * 2 + [Origin.EXTRACTIVE] * 4
    assert all(support.stands_in is not None and support.stands_in.queued for support in supports[2:])
    assert len(generator.asked) == 2


def test_after_closing_everything_is_stood_in_for(make):
    generator = Generator(lambda _: [])
    completer = make(generator)
    completer.close()
    completer.close()
    (support,) = completer.complete([MUSEUM])
    assert support.origin is Origin.EXTRACTIVE
    assert support.stands_in is not None
    assert support.stands_in.queued
    assert generator.asked == []


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_calls_run_than_may_over_batches_at_a_time(make, concurrency):
    generator = Generator(lambda _: Event().wait(0.002) or [])
    completer = make(generator, concurrency=concurrency)
    with ThreadPoolExecutor(3) as pool:
        batches = list(pool.map(completer.complete, [many(8)] * 3))
    assert all(support.origin is Origin.SIDECAR for batch in batches for support in batch)
    assert generator.most_at_work == concurrency
    assert len(generator.asked) == 24


# --- with the client and a server ------------------------------------------------------------------------------------


def test_support_comes_over_the_wire(server, model, make):
    (support,) = make(model()).complete([MUSEUM])
    (piece,) = support.documents
    assert (piece.text, piece.document_id, piece.match) == ("The museum opens at nine.", "d0", Match.EXACT)
    assert server.chats[0].system == PROMPTS["explain"].text
    assert support.sidecar is not None
    assert support.sidecar.model == CHAT_MODEL


def test_both_prompts_have_forms_that_a_strict_server_takes(server, model, make):
    server.answer = lambda request: {name: [] if name != "answer" else "Yes." for name in request.schema["properties"]}
    for mode in ("explain", "regenerate"):
        (support,) = make(model(), mode=mode).complete([MUSEUM])
        assert support.origin is Origin.SIDECAR
    assert [chat.response_format for chat in server.chats] == ["json_schema"] * 2


def test_a_wrong_key_is_no_reason_to_stop(server, model, make):
    server.key = "another"
    asked = many(3)
    supports = make(model()).complete(asked)
    assert {support.origin for support in supports} == {Origin.EXTRACTIVE}
    assert all(support.stands_in is not None and support.stands_in.queued for support in supports)
    assert all("MONITOR_LLM__API_KEY" in support.stands_in.because for support in supports if support.stands_in)
    assert KEY not in str(supports)


def test_a_budget_that_is_spent_in_the_middle_leaves_what_was_paid_for(server, model, make):
    budget = MemoryBudget(most_calls=7)
    supports = make(model(budget=budget)).complete(many(20))
    assert Counter(support.origin for support in supports) == {Origin.SIDECAR: 7, Origin.EXTRACTIVE: 13}
    because = {(support.stands_in.because, support.stands_in.queued) for support in supports if support.stands_in}
    assert because == {("the budget of 7 calls is spent", True)}
    assert len(server.chats) == 7


def test_what_some_answers_meet_is_not_the_others_business(server, model, make):
    server.chat_script.extend(
        [None, model_refusal("I cannot."), refusal(400, "context length exceeded"), said("", "content_filter"), None]
    )
    supports = make(model(), concurrency=1).complete(many(6))
    stand_ins = [support.stands_in for support in supports]
    assert stand_ins == [
        None,
        StandIn(because="model_refused", queued=False),
        StandIn(because="too_long", queued=False),
        StandIn(because="content_filter", queued=False),
        None,
        None,
    ]


def test_a_slow_server_gets_no_more_time_than_there_is(server, model, make):
    server.chat_script.extend([None] * 10 + [hang(60)] * 30)
    supports = make(model(concurrency=8), concurrency=8, patience=0.3).complete(many(40))
    assert len(supports) == 40
    assert all(support.origin is Origin.SIDECAR or support.stands_in.queued for support in supports)
    assert sum(support.origin is Origin.SIDECAR for support in supports) <= 10
    assert server.most_in_flight <= 8
    assert len(server.chats) <= 18


def test_the_order_is_kept_over_the_wire(server, model, make):
    def answer(request) -> str:
        number = request.user.partition("Question ")[2].partition("?")[0]
        return json.dumps({"supporting_documents": [f"From {number}."]})

    server.answer = answer
    supports = make(model(concurrency=8), concurrency=8).complete(many(40))
    assert [support.documents[0].text for support in supports] == [f"From {n}." for n in range(40)]
