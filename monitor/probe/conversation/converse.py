"""Holds the conversation about one golden item, and grades it (Iwama and Takeuchi, 2025; metrics.md §4).

T1 ask the chatbot; T2 compose an answer from what it has said so far; T3 grade that, and stop at 5; T4 decide whether
to ask on; T5 make the next question; at the end T6 rewrite the composed answer in the reference's grain, and T7 grade
it. After the first turn the composed answer is the chatbot's own. T6 and T7 follow only where an answer was composed:
the last score is then T7's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Final

from monitor.assess.judge.correctness.grade import HIGHEST, Contexts, Grade, Grader
from monitor.assess.llm.exchange import Spend
from monitor.probe.conversation.roles import Roles
from monitor.probe.conversation.scores import lscore, mscore, wscore
from monitor.probe.golden import GoldenItem
from monitor.probe.result import ItemResult, ItemState, Turn
from monitor.probe.target import ChatbotAnswer, ChatbotFailed, Exchange, Target

NEUTRAL: Final = "Could you tell me more about that? My question was: {question}"
LONGEST_ANSWER: Final = 20_000  # characters of an answer that are kept and graded


def converse(
    item: GoldenItem,
    *,
    target: Target,
    grader: Grader,
    contexts: Contexts,
    roles: Roles | None,
    turns: int,
    conversation: str,
    clock: Callable[[], float] = monotonic,
) -> ItemResult:
    """The result of one item, in at most `turns` turns; more than one needs `roles`.

    A chatbot without an answer, and a judge without a grade, end the conversation: what was graded before stands.

    Raises:
        BudgetSpent, Retriable, Fatal: as the chatbot, the judge and the roles do; the item has no result then.
    """
    began = clock()
    documents = contexts.find(item.question, item.reference)
    talk = _Talk(item=item, documents=documents, target=target, grader=grader, conversation=conversation, clock=clock)
    question: str | None = item.question
    while question is not None and talk.ask(question):
        talk.compose(roles)
        if not talk.grade() or roles is None or len(talk.turns) == turns or talk.scores[-1] == HIGHEST:
            break
        question = talk.next_question(roles)
    if roles is not None:
        talk.finish(roles)
    return talk.result(turns, clock() - began)


@dataclass(slots=True, kw_only=True)
class _Talk:
    """A conversation that is going on."""

    item: GoldenItem
    documents: Sequence[str]
    target: Target
    grader: Grader
    conversation: str
    clock: Callable[[], float]
    turns: list[Turn] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    leaks: tuple[str, ...] = ()  # of the question that comes next
    spend: Spend = field(default_factory=Spend)
    version: str | None = None

    @property
    def scores(self) -> list[float]:
        """σ: the scores of the turns that have one."""
        found = [turn.grade.score for turn in self.turns if turn.grade is not None]
        return [score for score in found if score is not None]

    @property
    def allowed(self) -> list[str]:
        """What may be said without telling anything of the reference."""
        shown = dict.fromkeys(document for turn in self.turns for document in turn.documents)
        return [self.item.question, *(exchange.answer for exchange in self.exchanges), *shown]

    def ask(self, question: str) -> bool:
        """T1; whether the chatbot has answered."""
        began = self.clock()
        answer, failure = ChatbotAnswer(text=""), None
        try:
            answer = self.target.ask(question, history=self.exchanges, conversation=self.conversation)
        except ChatbotFailed as error:
            failure = f"{error.reason}: {error}"
        text = answer.text[:LONGEST_ANSWER]
        self.turns.append(
            Turn(
                question=question,
                answer=text,
                documents=answer.documents,
                failure=failure,
                latency_ms=round((self.clock() - began) * 1000, 1),
                leaks=self.leaks,
            )
        )
        self.leaks = ()
        if failure is not None:
            return False
        self.version = answer.version or self.version
        self.exchanges.append(Exchange(question=question, answer=text))
        return True

    def compose(self, roles: Roles | None) -> None:
        """T2; after the first turn, and where nothing usable is composed, the answer is the chatbot's last one."""
        if roles is None or len(self.exchanges) == 1:
            return
        said = roles.compose(self.item.question, self.exchanges)
        self.spend += said.spend
        if said.text is None:
            return
        leaks = roles.guard.in_answer(said.text, reference=self.item.reference, allowed=self.allowed)
        composed = None if leaks or said.text == self.turns[-1].answer else said.text[:LONGEST_ANSWER]
        self._change(composed=composed, leaks=(*self.turns[-1].leaks, *leaks))

    def grade(self) -> bool:
        """T3 and T7; whether there is a score."""
        self._change(grade=self._graded(self.turns[-1].composed or self.turns[-1].answer))
        return self.turns[-1].grade is not None and self.turns[-1].grade.score is not None

    def next_question(self, roles: Roles) -> str | None:
        """T4 and T5: the next question, which tells nothing of the reference; None to stop.

        A question that leaks is made once more; if that leaks too, a neutral one is asked instead, once.
        """
        kept_out: tuple[str, ...] = ()
        for _ in range(2):
            said = roles.next_question(self.item.question, self.exchanges)
            self.spend += said.spend
            if said.text is None:
                return None
            leaks = roles.guard.in_question(said.text, reference=self.item.reference, allowed=self.allowed)
            if not leaks:
                self.leaks = kept_out
                return said.text
            kept_out = (*kept_out, *leaks)
        self.leaks = tuple(dict.fromkeys(kept_out))
        neutral = NEUTRAL.format(question=self.item.question)
        return None if any(turn.question == neutral for turn in self.turns) else neutral

    def finish(self, roles: Roles) -> None:
        """T6 and T7, on a composed answer that was graded below the highest score."""
        composed = self.turns[-1].composed if self.turns else None
        if composed is None or not self.scores or self.scores[-1] in {0, HIGHEST}:
            return
        said = roles.regrain(self.item.question, composed, self.item.reference)
        self.spend += said.spend
        if said.text is None or said.text == composed:
            return
        leaks = roles.guard.in_answer(said.text, reference=self.item.reference, allowed=[*self.allowed, composed])
        if leaks:
            self._change(leaks=(*self.turns[-1].leaks, *leaks))
            return
        grade = self._graded(said.text)
        if grade.score is not None:
            self._change(composed=said.text, grade=grade)

    def result(self, turns: int, seconds: float) -> ItemResult:
        scores, first = self.scores, self.turns[0].grade
        state = ItemState.UNSURE
        if not scores:
            state = ItemState.FAILED if self.turns[-1].failure is not None else ItemState.UNGRADED
        elif any(scores):
            state = ItemState.GRADED
        return ItemResult(
            item=self.item,
            state=state,
            turns=tuple(self.turns),
            correctness=(first.score or None) if first is not None else None,
            wscore=wscore(scores, turns),
            lscore=lscore(scores),
            mscore=mscore(scores),
            spread=max((turn.grade.spread for turn in self.turns if turn.grade is not None), default=0),
            spend=self.spend,
            seconds=seconds,
            version=self.version,
        )

    def _graded(self, answer: str) -> Grade:
        grade = self.grader.grade(
            question=self.item.question, contexts=self.documents, reference=self.item.reference, answer=answer
        )
        self.spend += grade.spend
        return grade

    def _change(self, **changes: object) -> None:
        self.turns[-1] = replace(self.turns[-1], **changes)  # type: ignore[arg-type]  # one of its fields
