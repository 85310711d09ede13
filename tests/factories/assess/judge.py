"""A case that every metric can judge, and one good answer to each prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.judge import combined
from monitor.assess.judge.judge import Judge
from monitor.assess.judge.metric import Case
from monitor.assess.judge.metrics import (
    answer_relevance,
    chunk_relevance,
    context_entity_recall,
    context_precision,
    context_recall,
    context_relevance,
    faithfulness,
    summarization,
)
from monitor.assess.judge.registry import METRICS
from monitor.assess.llm.exchange import Spend
from monitor.simulate.fakes.flow import ScriptedLanguageModel

PROMPTS = {
    prompt.name: prompt
    for prompt in (
        faithfulness.STATEMENTS,
        faithfulness.VERDICTS,
        answer_relevance.PROMPT,
        context_relevance.PROMPT,
        context_recall.PROMPT,
        context_precision.PROMPT,
        context_entity_recall.PROMPT,
        summarization.ASKED,
        summarization.ANSWERED,
        chunk_relevance.FIRST,
        chunk_relevance.REFLECTED,
        chunk_relevance.CRITIC,
        combined.PROMPT,
    )
}
RELEVANT = {"chunks": [{"number": n, "why": "says so", "score": 0.9} for n in (1, 2)]}
SUPPORTED = {"statement": "It is open.", "why": "said there", "supported": True}
GOOD = {
    "faithfulness_statements.v1": {"statements": ["It is open."]},
    "faithfulness_verdicts.v1": {"verdicts": [{"number": 1, "why": "said there", "supported": True}]},
    "answer_relevance.v1": {"questions": ["Is it open?"]},
    "context_relevance.v1": {"needed": [1], "insufficient": False},
    "context_recall.v1": {"statements": [SUPPORTED]},
    "context_usefulness.v1": {"verdicts": [{"number": n, "why": "", "useful": True} for n in (1, 2)]},
    "context_entity_recall.v1": {"reference": ["nine"], "documents": ["nine"]},
    "summarization_questions.v1": {"questions": ["Is it open?"]},
    "summarization_answers.v1": {"answers": [{"number": 1, "yes": True}]},
    "chunk_relevance_first.v1": RELEVANT,
    "chunk_relevance_reflection.v1": RELEVANT,
    "chunk_relevance_critic.v1": RELEVANT,
    "combined.v1": {"statements": [SUPPORTED], "questions": ["Is it open?"], "needed": [1], "insufficient": False},
}
CASE = Case(
    question="When is it open?",
    answer="It is open from nine.",
    documents=("Open from nine.", "Closed on Sundays."),
    reference="From nine.",
)


def scripted(**answers) -> ScriptedLanguageModel:
    """Good answers, but for those given by the first part of the prompt's name; a text or an exception stays."""
    chosen = {**GOOD, **{f"{name}.v1": answer for name, answer in answers.items()}}
    return ScriptedLanguageModel(answers={name: [text_of(answer)] for name, answer in chosen.items()})


def text_of(answer) -> str | Exception:
    return json.dumps(answer) if isinstance(answer, Mapping) else answer


def a_judge(model, *metrics, mode="separate", embedder=None) -> Judge:
    return Judge(model, embedder or HashEmbedder(), metrics=metrics or list(METRICS), mode=mode)


def a_case(**given) -> Case:
    return replace(CASE, **given)


@dataclass
class PricedModel:
    """A scripted model whose calls use what `spend` says; remembers the deadlines."""

    scripted: ScriptedLanguageModel
    spend: Spend
    model: str = "priced"

    def __post_init__(self):
        self.deadlines = []

    def ask(self, request, *, deadline=None):
        self.deadlines.append(deadline)
        return replace(self.scripted.ask(request), spend=self.spend)
