"""The conversation about one golden item: T1 to T7 (metrics.md §4), from the first question to its scores.

T1 asks the chatbot; T2 composes a tentative answer from what it said; T3 judges that and stops at 5; T4 and T5 decide
whether to ask on and what; T6 rewrites the last composed answer to the reference's grain, and T7 judges it again.

- The composed answer of the first turn is the chatbot's answer as said, so that its score is that of a run without
  further turns.
- T6 and T7 happen at the end only, if the last composed answer is not the chatbot's own words and its score is neither
  0 nor 5. Then the last score of σ is T7's.
- What the leak guard keeps out is replaced: a question by a neutral one, once, else the conversation ends; a composed
  answer by the chatbot's last answer; a rewritten one by the composed one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from re import compile as compiled
from time import monotonic
from typing import Final

from monitor.assess.judge.correctness.grade import HIGHEST, UNSURE, Contexts, Grade, Grader
from monitor.assess.llm.exchange import Spend
from monitor.assess.score.facts.language import Language, language_of
from monitor.core.assessment_json import storable
from monitor.probe.conversation.roles import Roles, Said
from monitor.probe.conversation.scores import lscore, mscore, wscore
from monitor.probe.golden import GoldenItem
from monitor.probe.result import ItemResult, ItemState, Turn
from monitor.probe.target import ChatbotAnswer, ChatbotFailed, Exchange, Target

LONGEST_ANSWER: Final = 20_000  # characters of an answer that are kept and graded
_NEUTRAL: Final = {
    Language.GERMAN: "Kannst du dazu mehr sagen:",
    Language.FRENCH: "Pouvez-vous en dire plus :",
    Language.SPANISH: "¿Puedes decir más sobre esto?:",
    Language.PORTUGUESE: "Pode dizer mais sobre isto:",
    Language.ITALIAN: "Può dire di più su questo:",
    Language.DUTCH: "Kunt u hier meer over zeggen:",
}
_NEUTRAL_BY_SCRIPT: Final = (  # Japanese has Chinese characters too, so that it comes first
    (compiled("[\u3040-\u30ff]"), "もう少し詳しく教えてください："),
    (compiled("[\uac00-\ud7a3]"), "이것에 대해 더 알려 주세요:"),
    (compiled("[\u4e00-\u9fff]"), "能再详细说说吗："),
)
_NEUTRAL_ENGLISH: Final = "Could you say more about:"


def converse(
    item: GoldenItem,
    *,
    target: Target,
    grader: Grader,
    contexts: Contexts,
    roles: Roles | None,
    turns: int,
    conversation: str,
    deadline: float | None = None,
    clock: Callable[[], float] = monotonic,
) -> ItemResult:
    """What at most `turns` turns about `item` find; without `roles`, one turn.

    A chatbot or a judge that fails at the first turn makes the item FAILED or UNGRADED; later, the conversation ends
    with the scores that it has. `deadline` is on `clock`: no turn begins after it.

    Raises:
        BudgetSpent, Retriable, Fatal: as the target, the grader, the contexts and the roles do; nothing of the item is
            kept.
    """
    began = clock()
    talk = _Conversation(item, target, grader, contexts, roles, conversation, deadline, clock)
    question: str | None = item.question
    while question is not None and talk.turn(question):
        over = len(talk.turns) >= turns or (deadline is not None and clock() >= deadline)
        question = None if roles is None or over else talk.next_question(roles)
    talk.finish()
    return talk.result(turns, clock() - began)


@dataclass(slots=True)
class _Conversation:
    """A conversation under way."""

    item: GoldenItem
    target: Target
    grader: Grader
    contexts: Contexts
    roles: Roles | None
    mark: str
    deadline: float | None
    clock: Callable[[], float]
    turns: list[Turn] = field(default_factory=list)
    history: list[Exchange] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)  # that the chatbot showed
    found: Sequence[str] | None = None  # the contexts; they are looked for once
    spend: Spend = field(default_factory=Spend)
    version: str | None = None
    kept_out: list[str] = field(default_factory=list)  # of the question to come

    def turn(self, question: str) -> bool:
        """T1 to T3 for one question. Whether there is a reason to ask on: a grade below the highest."""
        leaks, self.kept_out = tuple(self.kept_out), []
        try:
            said, seconds = self._ask(question)
        except ChatbotFailed as error:
            self.turns.append(Turn(question=question, answer="", failure=f"{error.reason}: {error}", leaks=leaks))
            return False
        self.history.append(Exchange(question=question, answer=said.text))
        self.documents += said.documents
        self.version = said.version or self.version
        turn = Turn(
            question=question, answer=said.text, documents=said.documents, latency_ms=1000 * seconds, leaks=leaks
        )
        composed, composed_leaks = self._composed()
        grade = self._grade(composed)
        self.turns.append(
            replace(
                turn,
                composed=composed if composed != said.text else None,
                grade=grade,
                leaks=(*leaks, *composed_leaks),
            )
        )
        return grade.score is not None and grade.score < HIGHEST

    def next_question(self, roles: Roles) -> str | None:
        """T4 and T5: the next question, which says nothing that only the reference does; None to stop."""
        question = self._spent(roles.next_question(self.item.question, self.history, deadline=self.deadline))
        asked = {exchange.question for exchange in self.history}
        if question is None or question in asked:
            return None
        allowed = [self.item.question, *[e.answer for e in self.history], *self.documents]
        if leaks := roles.guard.in_question(question, reference=self.item.reference, allowed=allowed):
            self.kept_out += leaks
            neutral = self._neutral()
            return None if neutral in asked else neutral
        return question

    def _neutral(self) -> str:
        """A question that only asks for more, in the language of the conversation."""
        question = self.item.question
        if (asked := next((words for script, words in _NEUTRAL_BY_SCRIPT if script.search(question)), None)) is None:
            language = language_of(f"{question} {self.history[-1].answer}")
            asked = _NEUTRAL.get(language, _NEUTRAL_ENGLISH)
        return f"{asked} {question}"

    def finish(self) -> None:
        """T6 and T7, and the leaks of a question that was never asked."""
        if not self.turns:
            return
        last = self.turns[-1] = replace(self.turns[-1], leaks=(*self.turns[-1].leaks, *self.kept_out))
        score = None if last.grade is None else last.grade.score
        if self.roles is None or last.composed is None or score is None or score in {UNSURE, HIGHEST}:
            return
        rewritten = self._spent(
            self.roles.regrain(self.item.question, last.composed, self.item.reference, deadline=self.deadline)
        )
        if rewritten is None or rewritten == last.composed:
            return
        guard, reference, allowed = self.roles.guard, self.item.reference, [self.item.question, last.composed]
        leaks = (
            *guard.in_answer(rewritten, reference=reference, allowed=allowed),
            *guard.choices(rewritten, composed=last.composed, reference=reference),
        )
        if leaks:
            self.turns[-1] = replace(last, leaks=(*last.leaks, *leaks))
            return
        grade = self._grade(rewritten)
        if grade.scores:
            self.turns[-1] = replace(last, composed=rewritten, grade=grade)

    def result(self, turns: int, seconds: float) -> ItemResult:
        grades = [turn.grade for turn in self.turns if turn.grade is not None]
        scores = [grade.score for grade in grades if grade.score is not None]
        first = scores[0] if scores else None
        return ItemResult(
            item=self.item,
            state=_state(self.turns, scores),
            turns=tuple(self.turns),
            correctness=first or None,  # not sure: stays out of averages
            wscore=wscore(scores, turns),
            lscore=lscore(scores),
            mscore=mscore(scores),
            spread=max((grade.spread for grade in grades), default=0),
            spend=self.spend,
            seconds=seconds,
            version=self.version,
        )

    def _ask(self, question: str) -> tuple[ChatbotAnswer, float]:
        began = self.clock()
        said = self.target.ask(question, history=tuple(self.history), conversation=self.mark)
        seconds = self.clock() - began
        if not said.text.strip():
            raise ChatbotFailed("malformed", "the answer is empty")
        documents = tuple(map(storable, said.documents))
        return replace(said, text=storable(said.text)[:LONGEST_ANSWER], documents=documents), seconds

    def _composed(self) -> tuple[str, tuple[str, ...]]:
        """T2: the composed answer and what the guard kept out of it; the chatbot's last answer if there is none."""
        last = self.history[-1].answer
        if self.roles is None or len(self.history) == 1:
            return last, ()
        composed = self._spent(self.roles.compose(self.item.question, self.history, deadline=self.deadline))
        if composed is None:
            return last, ()
        allowed = [self.item.question, *[exchange.answer for exchange in self.history]]
        leaks = self.roles.guard.in_answer(composed, reference=self.item.reference, allowed=allowed)
        return (last if leaks else composed), leaks

    def _grade(self, answer: str) -> Grade:
        """Grades an answer (T3, T7); without a score if the judge or the retriever gave nothing."""
        if self.found is None:
            try:
                self.found = tuple(self.contexts.find(self.item.question, self.item.reference))
            except ChatbotFailed:  # of the retriever; a grade without contexts would mean something else
                return Grade(scores=(), reason="no_contexts")
        grade = self.grader.grade(
            question=self.item.question,
            contexts=self.found,
            reference=self.item.reference,
            answer=answer,
            deadline=self.deadline,
        )
        self.spend += grade.spend
        return grade

    def _spent(self, said: Said) -> str | None:
        self.spend += said.spend
        return said.text


def _state(turns: Sequence[Turn], scores: Sequence[float]) -> ItemState:
    if any(score > UNSURE for score in scores):
        return ItemState.GRADED
    if scores:
        return ItemState.UNSURE
    return ItemState.FAILED if turns[0].failure is not None else ItemState.UNGRADED
