"""Runs one experiment from its questions to its tables for every generator, for `squad.py` and `cloud_faq.py`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.figures import finish
from benchmarks.study.extractive import NEVER, GeneratedAnswer, answer, fit_floor, nearest_sentences
from benchmarks.study.language_model import PROMPT, CachedAnswers, ask_all
from benchmarks.study.printed import SQUAD, show, show_generators
from benchmarks.study.questions import DATA, Parts, Question
from benchmarks.study.scoring import scored
from benchmarks.study.tables import Tables, tables
from benchmarks.study.vectors import cached_embedder
from monitor.app.wiring.application import utc_now
from monitor.app.wiring.models import chat_model, embedder
from monitor.assess.llm.endpoint import DEFAULT_BASE_URL
from monitor.assess.llm.exchange import Purpose, Spend
from monitor.assess.ports import Embedder
from monitor.cli.demo.with_llm import with_llm
from monitor.core.errors import MonitorError
from monitor.core.settings.load import Settings, load_settings
from monitor.review.evaluate.statistics import auc
from monitor.review.evaluate.tables import Resampling
from monitor.simulate.fakes.flow import MemoryBudget

SEED = 20240601
DRAWS, SHORT_DRAWS = 1000, 100

Draw = Callable[[Embedder, bool], tuple[Parts, dict[str, object]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The answers of one generator; `named` if the support is what the generator names."""

    generator: str
    questions: Sequence[Question]
    answers: Sequence[GeneratedAnswer]
    named: bool


def main(name: str, description: str | None, draw: Draw) -> None:
    """Runs the experiment `name`; `draw` gives its questions, fewer in short form, and figures about them."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a tenth of the questions, wider intervals")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there")
    parser.add_argument("--llm", metavar="URL", help="also ask the model of this OpenAI-compatible server")
    arguments = parser.parse_args()
    if not DATA.is_dir():
        print(f"no questions at {DATA}: set MONITOR_DATA_DIR")
        return
    try:
        _run(name, draw, short=arguments.short, llm=arguments.llm, path=arguments.json)
    except MonitorError as error:
        sys.exit(str(error))


def _run(name: str, draw: Draw, *, short: bool, llm: str | None, path: Path | None) -> None:
    settings = load_settings()
    folder = settings.state_dir / "cache" / "study"
    resampling = Resampling(draws=SHORT_DRAWS if short else DRAWS, seed=SEED)
    reached: dict[str, Tables] = {}
    with ExitStack() as closing:
        inner = embedder(settings, settings.state_dir / "cache", closing)
        vectors = closing.enter_context(cached_embedder(inner, folder / "vectors"))
        parts, figures = draw(vectors, short)
        figures |= {"experiment": name, "embedding_model": vectors.model, "draws": resampling.draws}
        runs = _extractive(parts, vectors, figures)
        if llm is not None:
            runs += _language_model(parts.reported, folder / "answers", with_llm(settings, llm), figures)
        for run in runs:
            scores = scored(run.questions, run.answers, vectors, named=run.named)
            reached[run.generator] = tables(scores, resampling)
            show(name, run.generator, reached[run.generator])
    if name == SQUAD:
        show_generators(reached)
    print()
    for what, value in figures.items():
        print(f"{what.replace('_', ' ')}: {round(value, 3) if isinstance(value, float) else value}")
    finish({**figures, "generators": {run: asdict(t) for run, t in reached.items()}}, seed=SEED, path=path)


def _extractive(parts: Parts, vectors: Embedder, figures: dict[str, object]) -> list[Run]:
    fitting, nearest = nearest_sentences(parts.fitting, vectors), nearest_sentences(parts.reported, vectors)
    confidence = np.array([near.confidence for near in fitting])
    answerable = np.array([q.answerable for q in parts.fitting])
    floor = fit_floor(confidence, answerable)
    figures |= {"fitted_on": len(fitting), "floor": floor, "auc_of_confidence_there": auc(-confidence, ~answerable)}
    return [
        Run(generator=name, questions=parts.reported, answers=answer(parts.reported, nearest, below), named=True)
        for name, below in (("extractive", floor), ("extractive, never declines", NEVER))
    ]


def _language_model(
    questions: Sequence[Question], folder: Path, settings: Settings, figures: dict[str, object]
) -> list[Run]:
    """The model with the support that it names, and with extracted support as if it had named none."""
    model, answers, spend = _asked(questions, folder, settings)
    given = [(q, a) for q, a in zip(questions, answers, strict=True) if a is not None]
    figures |= {"prompt": PROMPT.hash, "not_in_form": len(answers) - len(given)}
    figures |= {"llm_calls": spend.calls, "llm_tokens": spend.input_tokens + spend.output_tokens}
    kinds = {q.answerable for q, _ in given}
    if len(kinds) < 2:
        print(
            f"{model} answered at most one kind of questions: {len(given)} of {len(answers)} are in the requested form"
        )
        return []
    asked, answered = zip(*given, strict=True)
    return [
        Run(generator=name, questions=asked, answers=answered, named=named)
        for name, named in ((model, True), (f"{model}, support extracted", False))
    ]


def _asked(
    questions: Sequence[Question], folder: Path, settings: Settings
) -> tuple[str, list[GeneratedAnswer | None], Spend]:
    budget = MemoryBudget()
    chat = chat_model(settings, Purpose.SIDECAR, budget, utc_now)
    try:
        model = CachedAnswers(chat, folder, server=settings.llm.base_url or DEFAULT_BASE_URL)
        answers = ask_all(questions, model, concurrency=settings.sidecar.concurrency)
    finally:
        chat.close()
    return chat.model, answers, budget.counted.get(Purpose.SIDECAR, Spend())
