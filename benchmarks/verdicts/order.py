"""Measures the order in which the profile puts answers: each labelled file is a family, and so are its lengths.

    python benchmarks/verdicts/order.py [--test] [--json PATH] [--short]

For self-generated against grounded, by file, by words of the answer and by words of its documents: the AUC of
P(self-generated) under the shipped profile and under the one that releases up to 0.1.0 shipped, of the mean support
alone and of the share of new words that the documents hold; then F1 and the share of grounded answers flagged, of both
profiles at their thresholds. A part with fewer than LEAST_OF_A_CLASS answers of either class is left out, as its AUC
would say nothing. `longform*` is longform without the answers whose generator saw no documents.

`short_answers` is shown but no constant is chosen by it: the length of its answers reveals the class. `--test` runs the
test files, which are looked at once for each change of the method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import finish, options
from benchmarks.labelled import DATA, DEV, TEST, assess, cached_pipeline, read, under, with_documents
from monitor.assess.classify.profile import read_profile
from monitor.core.model import Assessment, Verdict
from monitor.review.evaluate.labels import Labelled
from monitor.review.evaluate.statistics import auc, precision_recall_f

SHORT_ROWS = 120
EARLIER = "minilm-1"
ANSWER_WORDS = (30, 120)  # the bands end here
DOCUMENT_WORDS = (100, 300)
LEAST_OF_A_CLASS = 20

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Family(NamedTuple):
    """The labelled answers of a file, which do not refuse, with what is compared: scores and flags by name."""

    made_up: Bools
    answer_words: NDArray[np.int64]
    document_words: NDArray[np.int64]
    scores: dict[str, Floats]
    flags: dict[str, Bools]


def family(rows: Sequence[Labelled], now: Sequence[Assessment], before: Sequence[Assessment]) -> Family:
    def feature(name: str, typical: float) -> Floats:
        values = [a.evidence.features[name] for a in now]
        return -np.array([typical if value is None else value for value in values])

    profiles = {"before": before, "now": now}
    return Family(
        made_up=np.array([row.label is Verdict.SELF_GENERATED for row in rows]),
        answer_words=np.array([len(row.interaction.answer.split()) for row in rows]),
        document_words=np.array(
            [sum(len(d.text.split()) for d in row.interaction.retrieved_documents) for row in rows]
        ),
        scores={
            **{name: np.array([a.probabilities.self_generated for a in found]) for name, found in profiles.items()},
            "mean": feature("aligned", 0.0),
            "overlap": feature("new_content_overlap", 0.85),
        },
        flags={
            name: np.array([a.verdict is Verdict.SELF_GENERATED for a in found]) for name, found in profiles.items()
        },
    )


def parts(f: Family) -> Iterator[tuple[str, Bools]]:
    """All answers of the family, then those of each band of length, each with its name."""
    yield "all", np.ones(len(f.made_up), bool)
    for words, name, ends in (
        (f.answer_words, "answers", ANSWER_WORDS),
        (f.document_words, "documents", DOCUMENT_WORDS),
    ):
        band = np.searchsorted(ends, words)
        names = (f"{name} ≤ {ends[0]}", f"{name} {ends[0] + 1}–{ends[1]}", f"{name} > {ends[1]}")
        for number, label in enumerate(names):
            yield label, band == number


def figures_of(f: Family, kept: Bools) -> dict[str, float | int | None] | None:
    made_up = f.made_up[kept]
    if min(made_up.sum(), (~made_up).sum()) < LEAST_OF_A_CLASS:
        return None
    found: dict[str, float | int | None] = {"rows": len(made_up)}
    found |= {f"auc_{name}": auc(score[kept], made_up) for name, score in f.scores.items()}
    found |= {f"f1_{name}": precision_recall_f(flag[kept], made_up).f for name, flag in f.flags.items()}
    return found | {f"grounded_flagged_{name}": float(flag[kept & ~f.made_up].mean()) for name, flag in f.flags.items()}


def show(name: str, found: dict[str, float | int | None]) -> None:
    rows, *shares = found.values()
    print(f"{name:34}{rows:6,}" + "".join(f"{'–' if share is None else f'{share:.3f}':>10}" for share in shares))


def heading() -> None:
    names = ("AUC before", "now", "mean", "overlap", "F1 before", "now", "flagged", "now")
    print(f"{'':34}{'rows':>6}" + "".join(f"{name:>10}" for name in names))


def main() -> None:
    arguments = options(__doc__, f"the first {SHORT_ROWS} rows of each file", test="the test files too")
    if not DATA.is_dir():
        print(f"no labelled data at {DATA}: set MONITOR_DATA_DIR")
        return
    figures: dict[str, dict[str, dict[str, float | int | None]]] = {}
    heading()
    with cached_pipeline() as pipeline:
        earlier = under(pipeline, read_profile(EARLIER))
        for name in (*DEV, *(TEST if arguments.test else ())):
            labelled = [row for row in read(name) if row.label is not Verdict.REFUSAL]
            labelled = labelled[: SHORT_ROWS if arguments.short else None]
            sets = {name: labelled}
            if len(kept := with_documents(labelled)) < len(labelled):
                sets[f"{name}*"] = kept
            for title, rows in sets.items():
                f = family(rows, assess(pipeline, rows), assess(earlier, rows))
                found = {part: row for part, chosen in parts(f) if (row := figures_of(f, chosen))}
                for part, row in found.items():
                    show(f"{title}, {part}" if part != "all" else title, row)
                figures[title] = found
    loss = max(
        ((row["auc_before"] or 0.0) - (row["auc_now"] or 0.0) for found in figures.values() for row in found.values()),
        default=0.0,
    )
    print(f"\nlargest loss of AUC in any family: {loss:.3f}")
    finish(
        {"families": figures, "profile": pipeline.profile.hash, "largest_loss": loss}, seed=None, path=arguments.json
    )


if __name__ == "__main__":
    main()
