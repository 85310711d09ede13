"""The roles that a language model plays in a conversation: the composer (T2, T6) and the questioner (T4, T5).

The composer of tentative answers and the questioner never see the reference, nor anything that was made with it in
view, such as the judge's feedback: what they do not see they cannot pass on. Only T6 sees the reference, to copy its
form. What they write is checked all the same (`leak.py`), since a model may know or guess the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from monitor.assess.llm.exchange import Block, Form, NoAnswer, Prompt, Request, Spend, T, load_prompt
from monitor.assess.ports import LanguageModel, TokenEncoder
from monitor.core.assessment_json import storable
from monitor.probe.conversation.leak import LeakGuard
from monitor.probe.target import Exchange

_INDENTED = "\n    "
LONGEST_QUESTION: Final = 600  # characters of a follow-up; a longer one is no question that a person would ask


class Composed(Form):
    """The composed or rewritten answer."""

    answer: str


class AskOn(Form):
    """Whether to ask on, and what."""

    ask: bool
    next_question: str


COMPOSE: Final = load_prompt("monitor.probe.conversation", "compose.v1", Composed)
ASK_ON: Final = load_prompt("monitor.probe.conversation", "ask_on.v1", AskOn)
REGRAIN: Final = load_prompt("monitor.probe.conversation", "regrain.v1", Composed)
PROMPTS: Final[tuple[Prompt[Any], ...]] = (COMPOSE, ASK_ON, REGRAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a role said, None if nothing usable, and what it cost."""

    text: str | None
    spend: Spend


class Roles:
    """Plays the roles with one model. Any number of threads may call.

    Each method raises `BudgetSpent`, `Retriable` and `Fatal` as `LanguageModel.ask` does. `deadline` is on the clock of
    `time.monotonic`.
    """

    prompts: Final = PROMPTS

    def __init__(self, model: LanguageModel, *, encoder: TokenEncoder | None = None) -> None:
        """`encoder` lets the leak guard see paraphrases; without it, it compares words, figures and names only."""
        self._model = model
        self.guard: Final = LeakGuard(encoder)

    def compose(self, question: str, exchanges: Sequence[Exchange], *, deadline: float | None = None) -> Said:
        """T2: the answer to `question` as it stands after `exchanges`."""
        return self._composed(COMPOSE, deadline, _asked(question), _conversation(exchanges))

    def next_question(self, question: str, exchanges: Sequence[Exchange], *, deadline: float | None = None) -> Said:
        """T4 and T5: the next question; None to stop, as when it is longer than LONGEST_QUESTION."""
        reply, spend = self._ask(ASK_ON, deadline, _asked(question), _conversation(exchanges))
        text = storable(reply.next_question).strip() if reply is not None and reply.ask else ""
        return Said(text=text if 0 < len(text) <= LONGEST_QUESTION else None, spend=spend)

    def regrain(self, question: str, composed: str, reference: str, *, deadline: float | None = None) -> Said:
        """T6: `composed` in the length and form of the reference."""
        answer, sample = Block(name="answer", text=composed), Block(name="sample", text=reference)
        return self._composed(REGRAIN, deadline, _asked(question), answer, sample)

    def _composed(self, prompt: Prompt[Composed], deadline: float | None, *blocks: Block) -> Said:
        reply, spend = self._ask(prompt, deadline, *blocks)
        return Said(text=(storable(reply.answer).strip() or None) if reply is not None else None, spend=spend)

    def _ask(self, prompt: Prompt[T], deadline: float | None, *blocks: Block) -> tuple[T | None, Spend]:
        try:
            reply = self._model.ask(Request(prompt=prompt, blocks=blocks), deadline=deadline)
        except NoAnswer as error:
            return None, error.spend
        return reply.value, reply.spend


def _asked(question: str) -> Block:
    return Block(name="question", text=question)


def _conversation(exchanges: Sequence[Exchange]) -> Block:
    """The conversation; an answer that writes "A2:" itself is told from a real one by its indented lines."""
    lines = [
        f"{mark}{number}: {_INDENTED.join(text.strip().splitlines())}"
        for number, exchange in enumerate(exchanges, start=1)
        for mark, text in (("Q", exchange.question), ("A", exchange.answer))
    ]
    return Block(name="conversation", text="\n".join(lines))
