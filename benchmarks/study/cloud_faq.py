"""Repeats the study's second experiment: a chatbot that knows AWS's FAQ is asked about AWS, and about GCP and IBM.

    python benchmarks/study/cloud_faq.py [--short] [--json PATH] [--llm URL]

400 questions, 153 of them on AWS, as in the study, drawn with a seed. The knowledge base holds AWS's answers without
their questions, so no question finds itself; the three nearest answers by cosine are retrieved. Questions on AWS count
as answerable, as in the study, whether or not their answer is among the three: both figures are printed. The extractive
generator declines below a floor that is fitted on as many other questions. `--llm` asks a model too, as in squad.py.
Needs MONITOR_DATA_DIR (default ../shared/data). docs/quality/study.md has the figures.
"""

from __future__ import annotations

import numpy as np

from benchmarks.study.experiment import SEED, main
from benchmarks.study.printed import CLOUD
from benchmarks.study.published import CLOUD_ANSWERABLE, CLOUD_UNANSWERABLE
from benchmarks.study.questions import KNOWN, Entry, Parts, faq_parts, read_faq, retrieve, with_documents
from monitor.assess.ports import Embedder
from monitor.review.evaluate.statistics import auc

RETRIEVED = 3
SHORT_KNOWLEDGE = 500  # further answers in the knowledge base of short runs


def draw(embedder: Embedder, short: bool) -> tuple[Parts, dict[str, object]]:  # noqa: FBT001  as every experiment is called
    share = 10 if short else 1
    entries = read_faq()
    fitting, reported = faq_parts(
        entries, answerable=CLOUD_ANSWERABLE // share, unanswerable=CLOUD_UNANSWERABLE // share, seed=SEED
    )
    answers = [e.answer for e in entries if e.platform == KNOWN]
    if short:
        answers = [e.answer for e in (*fitting, *reported) if e.platform == KNOWN] + answers[:SHORT_KNOWLEDGE]
    knowledge = list(dict.fromkeys(answers))
    vectors = {
        part: retrieve([e.question for e in asked], knowledge, embedder, RETRIEVED)
        for part, asked in (("fitting", fitting), ("reported", reported))
    }
    parts = Parts(
        fitting=tuple(with_documents(fitting, knowledge, vectors["fitting"])),
        reported=tuple(with_documents(reported, knowledge, vectors["reported"])),
    )
    return parts, {"knowledge": len(knowledge), "retrieved": RETRIEVED, **_found(reported, parts, embedder)}


def _found(reported: list[Entry], parts: Parts, embedder: Embedder) -> dict[str, object]:
    """How often retrieval finds the answer; the AUC of its best cosine, for all questions and where it does."""
    questions = parts.reported
    brought = np.array([e.answer in q.documents for e, q in zip(reported, questions, strict=True)])
    answerable = np.array([q.answerable for q in questions])
    asked = embedder.embed([q.text for q in questions])
    nearest = embedder.embed([q.documents[0] for q in questions])
    cosine = np.einsum("nd,nd->n", asked, nearest).astype(np.float64)
    sure = brought | ~answerable
    return {
        "answer_retrieved": float(brought[answerable].mean()),
        "auc_of_best_cosine": auc(-cosine, ~answerable),
        "auc_of_best_cosine_where_retrieved": auc(-cosine[sure], ~answerable[sure]),
    }


if __name__ == "__main__":
    main(CLOUD, __doc__, draw)
