"""Measures how well refusals are recognised by their wording: the table of docs/quality/verdicts.md, by default on dev.

    python benchmarks/verdicts/refusals.py [--test] [--closeness] [--json PATH] [--short]

A full refusal against everything else, for each file of wordings; then how many answers with content (labelled grounded
or self-generated) are taken for a refusal, full or partial. `--test` adds the held-out wording file, which is looked at
once per change of the method. `--closeness` lets the cosine to refusal examples (MiniLM) decide where the wording
leaves it open, and shows the difference. Needs MONITOR_DATA_DIR (default ../shared/data).
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import finish, options
from monitor.assess.classify.lexicon.examples import EXAMPLES, closeness
from monitor.assess.classify.refusal import Role, read_answer
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.ports import Embedder
from monitor.core.model import RefusalKind
from monitor.core.settings.load import load_settings

DATA = Path(os.environ.get("MONITOR_DATA_DIR", "../shared/data"))
WORDING = ("manual_dev", "assistants_dev")
KEPT_ASIDE = ("manual_test",)
ANSWERS = ("natural_questions", "attribution", "longform", "dialogue", "expert")
SHORT_ROWS = 60

Figures = dict[str, float | int | None]


def rows(path: Path, most: int | None) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines][:most]


CLOSE = 0.6  # cosine, as in the shipped profile `minilm`


def kinds(
    labelled: list[dict[str, str]], embedder: Embedder | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
    """Which answers refuse in full, which in part, and how many of all sentences state nothing."""
    answers = [row["answer"] for row in labelled]
    close = [False] * len(answers)
    if embedder:
        close = (closeness(embedder.embed(answers), embedder.embed(EXAMPLES)) >= CLOSE).tolist()
    readings = [read_answer(r["answer"], r["question"], close=c) for r, c in zip(labelled, close, strict=True)]
    full = np.array([reading.kind is RefusalKind.FULL for reading in readings])
    partial = np.array([reading.kind is RefusalKind.PARTIAL for reading in readings])
    empty = sum(s.role in {Role.COURTESY, Role.HEDGE} for reading in readings for s in reading.sentences)
    return full, partial, empty


def wording(path: Path, most: int | None, embedder: Embedder | None) -> Figures:
    labelled = rows(path, most)
    found, _partial, _empty = kinds(labelled, embedder)
    positive = np.array([row["label"] == "refusal" for row in labelled])
    both = int((found & positive).sum())
    return {
        "rows": len(labelled),
        "refusals": int(positive.sum()),
        "precision": both / int(found.sum()) if found.any() else None,
        "recall": both / int(positive.sum()) if positive.any() else None,
        "f1": 2 * both / int(found.sum() + positive.sum()) if both else 0.0,
        "others_called_refusal": float(found[~positive].mean()),
    }


def answers(path: Path, most: int | None, embedder: Embedder | None) -> Figures:
    labelled = [row for row in rows(path, most) if row["label"] in {"grounded", "self_generated"}]
    full, partial, empty = kinds(labelled, embedder)
    grounded = np.array([row["label"] == "grounded" for row in labelled])
    return {
        "rows": len(labelled),
        "full": int(full.sum()),
        "partial": int(partial.sum()),
        "grounded": int(grounded.sum()),
        "full_of_grounded": int((full & grounded).sum()),
        "partial_of_grounded": int((partial & grounded).sum()),
        "courtesy_or_hedge": empty,
        "share_full": float(full.mean()) if labelled else None,
    }


def show(title: str, results: dict[str, Figures]) -> None:
    names = list(next(iter(results.values())))
    print(f"\n{title:26}" + "".join(f"{name.replace('_', ' '):>23}" for name in names))
    for file, figures in results.items():
        shown = ["–" if v is None else f"{v:.3f}" if isinstance(v, float) else str(v) for v in figures.values()]
        print(f"{file:26}" + "".join(f"{value:>23}" for value in shown))


def main() -> None:
    arguments = options(
        __doc__,
        f"the first {SHORT_ROWS} rows of each file",
        test="add the wording file kept aside",
        closeness="let the cosine to refusal examples decide open cases",
    )
    if not DATA.is_dir():
        print(f"no labelled data at {DATA}: set MONITOR_DATA_DIR")
        return
    most = SHORT_ROWS if arguments.short else None
    embedder = MiniLMEmbedder(cache_dir=load_settings().state_dir / "cache") if arguments.closeness else None
    files = WORDING + (KEPT_ASIDE if arguments.test else ())
    worded = {name: wording(DATA / "wording" / f"{name}.jsonl.gz", most, embedder) for name in files}
    answered = {name: answers(DATA / "dev" / f"{name}.jsonl.gz", most, embedder) for name in ANSWERS}
    show("refusals by wording", worded)
    show("answers with content", answered)
    finish({"wording": worded, "answers": answered, "closeness": arguments.closeness}, seed=None, path=arguments.json)


if __name__ == "__main__":
    main()
