"""Judges faithfulness, answer relevance and context relevance with one call, scored as the separate metrics are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.assess.judge.inputs import missing
from monitor.assess.judge.metric import Case, Outcome
from monitor.assess.judge.metrics import faithfulness
from monitor.assess.judge.metrics.answer_relevance import Similarities, mean_similarity
from monitor.assess.judge.metrics.context_relevance import needed_share, sentence_block, sentences_of
from monitor.assess.judge.model_verdicts import Statement, supported_share
from monitor.assess.llm.exchange import Block, Form, Request, Spend, load_prompt


class Combined(Form):
    """The judgement of a whole interaction."""

    statements: list[Statement]
    questions: list[str]
    needed: list[int]
    insufficient: bool


TOGETHER: Final = ("faithfulness", "answer_relevance", "context_relevance")
PROMPT: Final = load_prompt("monitor.assess.judge", "combined.v1", Combined)


def combined_request(case: Case) -> Request[Combined] | None:
    """The single call for all three metrics; None if one of them is undefined for the case.

    The other two are never defined without faithfulness, which needs everything that they need.
    """
    if missing(case, *faithfulness.NEEDS):
        return None
    blocks = (
        Block(name="question", text=case.question),
        Block(name="answer", text=case.answer),
        sentence_block(sentences_of(case.documents)),
    )
    return Request(prompt=PROMPT, blocks=blocks)


def combined_outcomes(case: Case, value: Combined, embed: Similarities) -> Mapping[str, Outcome]:
    """The outcome of each of the three metrics from the answer to `combined_request(case)`.

    `embed` computes the similarities.

    Raises:
        Retriable, Fatal: as the embedder does.
    """
    return {
        "faithfulness": supported_share(value.statements),
        "answer_relevance": mean_similarity(case.question, value.questions, embed),
        "context_relevance": needed_share(sentences_of(case.documents), value.needed, insufficient=value.insufficient),
    }


def shares(spend: Spend, count: int) -> list[Spend]:
    """What a call used, divided evenly among `count` judgements; the first one takes the remainder."""

    def share(total: int, index: int) -> int:
        return total // count + (total % count if index == 0 else 0)

    return [
        Spend(
            calls=share(spend.calls, index),
            input_tokens=share(spend.input_tokens, index),
            output_tokens=share(spend.output_tokens, index),
            cost=None if spend.cost is None else spend.cost / count,
        )
        for index in range(count)
    ]
