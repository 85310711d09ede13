"""Repeats the study's first experiment: can the metrics see that a document does not hold the answer? SQuAD 2.0.

    python benchmarks/study/squad.py [--short] [--json PATH] [--llm URL]

1,485 questions, 992 of them answerable, as in the study, drawn with a seed; the context is the one retrieved document.
The extractive generator declines below a floor that is fitted on the questions of other contexts. `--llm` asks a model
too (MONITOR_LLM__MODEL, or the first that the server lists; MONITOR_LLM__API_KEY), once for each question: answers and
vectors are cached in the state directory. Needs MONITOR_DATA_DIR (default ../shared/data). docs/quality/study.md has
the figures.
"""

from __future__ import annotations

from benchmarks.study.experiment import SEED, main
from benchmarks.study.printed import SQUAD
from benchmarks.study.published import SQUAD_ANSWERABLE, SQUAD_UNANSWERABLE
from benchmarks.study.questions import Parts, read_squad, squad_parts
from monitor.assess.ports import Embedder


def draw(_: Embedder, short: bool) -> tuple[Parts, dict[str, object]]:  # noqa: FBT001  as every experiment is called
    share = 10 if short else 1
    parts = squad_parts(
        read_squad(), answerable=SQUAD_ANSWERABLE // share, unanswerable=SQUAD_UNANSWERABLE // share, seed=SEED
    )
    return parts, {}


if __name__ == "__main__":
    main(SQUAD, __doc__, draw)
