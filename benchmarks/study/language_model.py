"""The study's prompt: one call gives the answer and, separately, what the generator thinks supports it.

The prompt is `answer.v1.txt`, in our words: answer from the documents only, in JSON. `declined` is not in the study,
where people counted refusals; here the generator says whether its answer is one. Answers are cached on disk under the
hash of server, model, prompt and data, so a second run asks nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from benchmarks.study.extractive import GeneratedAnswer
from benchmarks.study.questions import Question
from monitor.assess.llm.exchange import Block, Form, NoAnswer, Prompt, Reply, Request, Spend, combined_hash
from monitor.assess.ports import LanguageModel
from monitor.core.pool import Pool


class Answer(Form):
    """The reply that the prompt asks for."""

    answer: str
    supporting_documents: list[str]
    declined: bool


T = TypeVar("T", bound=Form)
PROMPT = Prompt(
    name="study_answer.v1",
    text=Path(__file__).with_name("answer.v1.txt").read_text(encoding="utf-8")
    + files("monitor.assess.llm").joinpath("prompts", "data.v1.txt").read_text(encoding="utf-8"),
    form=Answer,
)


class CachedAnswers:
    """A `LanguageModel` that asks `inner` only for answers that are not in `folder`.

    `server` is part of an answer's key, since many servers give their only model the same name.
    """

    def __init__(self, inner: LanguageModel, folder: Path, *, server: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self._folder = folder
        self._server = server

    @property
    def model(self) -> str:
        return self._inner.model

    def ask(self, request: Request[T], *, deadline: float | None = None) -> Reply[T]:
        name = combined_hash([self._server, self.model, request.prompt.hash, request.data])
        path = self._folder / f"{name}.json"
        form = request.prompt.form
        if path.exists():
            value = form.model_validate_json(path.read_text(encoding="utf-8"))
            return Reply(value=value, model=self.model, spend=Spend())
        reply = self._inner.ask(request, deadline=deadline)
        fresh = path.with_suffix(".new")
        fresh.write_text(reply.value.model_dump_json(), encoding="utf-8")
        fresh.replace(path)
        return reply


def ask_all(questions: Sequence[Question], model: LanguageModel, *, concurrency: int) -> list[GeneratedAnswer | None]:
    """The model's answer to each question in order; None if it gives none in the requested form.

    Raises:
        Retriable, Fatal: as the model does; the answers given before are cached.
    """
    pool = Pool(concurrency, "study")
    try:
        calls = [pool.submit(partial(_asked, question, model)) for question in questions]
        return [call.result() for call in calls]
    finally:
        pool.close()


def _asked(question: Question, model: LanguageModel) -> GeneratedAnswer | None:
    documents = enumerate(question.documents, start=1)
    blocks = [Block(name="question", text=question.text)]
    blocks += [Block(name=f"document {rank}", text=text) for rank, text in documents]
    try:
        value = model.ask(Request(prompt=PROMPT, blocks=tuple(blocks))).value
    except NoAnswer:
        return None
    support = tuple(piece for text in value.supporting_documents if (piece := text.strip()))
    return GeneratedAnswer(answer=value.answer, support=support, declined=value.declined)
