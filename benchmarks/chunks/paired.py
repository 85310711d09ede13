"""Compares answers made from all retrieved documents with answers made from the chunks that the filter keeps, in pairs.

    python benchmarks/chunks/paired.py [--short] [--json PATH]

Questions with a reference answer, from three labelled files. Most come with the one document that answers them, so
there would be nothing to filter: each gets the six documents of other questions of its file that are nearest to it by
embedding, and all are ordered by that nearness, as a retriever would. Three answers are made to each question: from
*all* documents; from the chunks that `monitor.chunks.filter` *keeps*; and from the first documents, *cut* after as many
words as the filter keeps, since less text may do good by itself.

The model of `MONITOR_LLM__MODEL` answers (by the prompt of the study; answers are cached on disk). Without one a
**scripted** reader does, which copies the sentences nearest to the question by BM25. It cannot be confused by noise as
a model is, so its figures say whether the filter drops what answers the question, not what a model gains.

Scores against the reference: SQuAD's token F1 and containment for short references, ROUGE-L's recall for long ones
(benchmarks/chunks/overlap.py has formulas and sources). Differences are means over pairs, with a 95 % bootstrap
interval; *+/-* counts the questions that gain and lose. *words saved* is the share of the words that the filter keeps
from the reader. *own kept*: how often a chunk of the question's own document is kept. Needs MONITOR_DATA_DIR (default
../shared/data).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from statistics import fmean
from time import perf_counter

import numpy as np

from benchmarks.chunks.overlap import Difference, contains, paired, rouge_l_recall, token_f1
from benchmarks.chunks.readers import Context, ModelReader, Reader, ScriptedReader
from benchmarks.figures import finish, options
from benchmarks.labelled import DATA, read
from benchmarks.study.vectors import cached_embedder
from monitor.app.wiring.models import embedder
from monitor.assess.ports import Embedder
from monitor.chunks import filter as kept_chunks
from monitor.core.errors import MonitorError
from monitor.core.settings.load import load_settings

SEED = 19
DISTRACTORS = 6
DRAWS, SHORT_DRAWS = 2_000, 200
SHORT_QUESTIONS = 20
WAYS = ("all", "kept", "cut")

Score = Callable[[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A labelled file: how its references are scored, and how many sentences one takes."""

    name: str
    scores: Mapping[str, Score]
    sentences: int


FILES = (
    File(name="dev/short_answers", scores={"token F1": token_f1, "contained": contains}, sentences=1),
    File(name="dev/natural_questions", scores={"ROUGE-L recall": rouge_l_recall}, sentences=3),
    File(name="dev/expert", scores={"ROUGE-L recall": rouge_l_recall}, sentences=6),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Widened:
    """A question with its own documents and those of other questions, in the order of nearness."""

    id: str
    question: str
    reference: str
    documents: tuple[str, ...]
    own: frozenset[int]  # which of the documents are its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered:
    """What each way gives the reader, and what the filter did."""

    texts: Mapping[str, tuple[str, ...]]
    own_kept: bool
    seconds: float


def main() -> None:
    arguments = options(__doc__, "20 questions a file, wider intervals")
    if not DATA.is_dir():
        print(f"no labelled files at {DATA}: set MONITOR_DATA_DIR")
        return
    try:
        figures = _run(short=arguments.short)
    except MonitorError as error:
        sys.exit(str(error))
    finish(figures, seed=SEED, path=arguments.json)


def _run(*, short: bool) -> dict[str, object]:
    settings = load_settings()
    folder = settings.state_dir / "cache" / "chunks"
    found: dict[str, object] = {}
    with ExitStack() as closing:
        vectors = closing.enter_context(
            cached_embedder(embedder(settings, settings.state_dir / "cache", closing), folder / "vectors")
        )
        reader: Reader = ScriptedReader()
        if settings.llm.model is not None or settings.sidecar.model is not None:
            reader = ModelReader(settings, folder / "answers")
            closing.callback(reader.close)
        print(f"answers by {reader.name}\n")
        for file in FILES:
            asked = widened(file.name, vectors, SHORT_QUESTIONS if short else None)
            found[file.name] = _measured(file, asked, reader, SHORT_DRAWS if short else DRAWS)
            _show(file.name, found[file.name])
        spent = dict(reader.spent())
    if spent:
        print(f"asked anew: {spent['calls']} calls, {spent['input_tokens'] + spent['output_tokens']} tokens")
    return {"reader": reader.name, "scripted": isinstance(reader, ScriptedReader), "spent": spent, "files": found}


def widened(name: str, vectors: Embedder, most: int | None) -> list[Widened]:
    """The questions of a file that have a reference and documents, each once, with the nearest documents of others."""
    rows = {}
    for row in read(name):
        it = row.interaction
        if it.reference_answer and it.reference_answer.strip() and it.retrieved_documents:
            rows.setdefault(it.question, it)
    its = list(rows.values())
    pool = list(dict.fromkeys(d.text for it in its for d in it.retrieved_documents))
    near = vectors.embed([it.question for it in its]) @ vectors.embed(pool).T
    found = []
    for it, row in list(zip(its, near, strict=True))[:most]:
        own = {d.text for d in it.retrieved_documents}
        order = [int(place) for place in np.argsort(-row, kind="stable")]
        others = [place for place in order if pool[place] not in own][:DISTRACTORS]
        chosen = [pool[place] for place in order if pool[place] in own or place in others]
        found.append(
            Widened(
                id=it.id,
                question=it.question,
                reference=it.reference_answer or "",
                documents=tuple(chosen),
                own=frozenset(n for n, text in enumerate(chosen) if text in own),
            )
        )
    return found


def filtered(asked: Widened) -> Filtered:
    """The texts for each way. `cut` has as many words as `kept`."""
    start = perf_counter()
    kept = kept_chunks(asked.question, asked.documents)
    seconds = perf_counter() - start
    texts = tuple(chunk.text for chunk in kept)
    return Filtered(
        texts={"all": asked.documents, "kept": texts, "cut": cut(asked.documents, sum(map(_count, texts)))},
        own_kept=any(chunk.document in asked.own for chunk in kept),
        seconds=seconds,
    )


def cut(documents: Sequence[str], most: int) -> tuple[str, ...]:
    """The documents up to `most` words."""
    found = []
    for text in documents:
        if most <= 0:
            break
        found.append(text if _count(text) <= most else " ".join(text.split()[:most]))
        most -= _count(text)
    return tuple(found)


def _measured(file: File, asked: Sequence[Widened], reader: Reader, draws: int) -> dict[str, object]:
    outcomes = [filtered(one) for one in asked]
    answers = {
        way: reader.answers(
            [
                Context(id=one.id, question=one.question, texts=outcome.texts[way], sentences=file.sentences)
                for one, outcome in zip(asked, outcomes, strict=True)
            ]
        )
        for way in WAYS
    }
    whole = [n for n in range(len(asked)) if all(answers[way][n] is not None for way in WAYS)]
    words = {way: sum(_count(text) for o in outcomes for text in o.texts[way]) for way in WAYS}
    figures: dict[str, object] = {
        "questions": len(asked),
        "answered": len(whole),
        "documents": fmean(len(one.documents) for one in asked),
        "words": {way: words[way] / len(asked) for way in WAYS},
        "words_saved": 1 - words["kept"] / words["all"],
        "own_kept": fmean(o.own_kept for o in outcomes),
        "nothing_kept": fmean(not o.texts["kept"] for o in outcomes),
        "filter_ms": 1000 * fmean(o.seconds for o in outcomes),
        "scores": {},
    }
    if not whole:
        return figures
    scores = {}
    for name, score in file.scores.items():
        each = {way: [score(answers[way][n] or "", asked[n].reference) for n in whole] for way in WAYS}
        scores[name] = {
            **{way: fmean(each[way]) for way in WAYS},
            "kept_to_all": asdict(paired(each["kept"], each["all"], draws=draws, seed=SEED)),
            "kept_to_cut": asdict(paired(each["kept"], each["cut"], draws=draws, seed=SEED)),
        }
    return {**figures, "scores": scores}


def _show(name: str, figures: Mapping[str, object] | object) -> None:
    f = dict(figures)  # type: ignore[call-overload]
    print(
        f"{name}: {f['questions']} questions, {f['answered']} answered all ways, {f['documents']:.1f} documents each\n"
        f"  words saved {f['words_saved']:.0%}, own kept {f['own_kept']:.3f}, nothing kept {f['nothing_kept']:.3f}, "
        f"filter {f['filter_ms']:.1f} ms a question"
    )
    for score, means in f["scores"].items():
        print(f"  {score:<15}" + "  ".join(f"{way} {means[way]:.3f}" for way in WAYS))
        for other in ("all", "cut"):
            d = Difference(**means[f"kept_to_{other}"])
            print(f"    kept - {other}: {d.mean:+.3f} [{d.low:+.3f}, {d.high:+.3f}], +{d.better} / -{d.worse}")
    print()


def _count(text: str) -> int:
    return len(text.split())


if __name__ == "__main__":
    main()
