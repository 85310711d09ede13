"""What the shipped profile `minilm` reaches on every labelled file, test files too: the tables of docs/verdicts.md.

    python benchmarks/verdicts.py [--json PATH] [--short]

AUC is of P(self-generated) + P(refusal) for self-generated against grounded. *Flagged* is the share of each class that
got a negative verdict. F1 is of negatives; beside it the F1 of flagging everything. Nothing is tuned here.
Needs MONITOR_DATA_DIR (default ../shared/data).
"""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from figures import finish, options

from monitor.classify.profile import load_profile
from monitor.classify.refusal import refusal_kind
from monitor.complete.extractive import ExtractiveCompleter
from monitor.embed.cache import CachedEmbedder
from monitor.embed.minilm import MiniLMEmbedder
from monitor.ingest.decode import Decoder
from monitor.message import Message, Position
from monitor.model import RefusalKind
from monitor.pipeline import Pipeline
from monitor.settings import load_settings

DATA = Path(os.environ.get("MONITOR_DATA_DIR", "../shared/data"))
BATCH = 128
SHORT_ROWS = 60


def rows(path: Path) -> list[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def auc(positive: np.ndarray, score: np.ndarray) -> float | None:
    """The chance that a positive scores above a negative, ties counted half (Mann–Whitney)."""
    high, low = score[positive], score[~positive]
    if not len(high) or not len(low):
        return None
    above = (high[:, None] > low[None, :]).mean() + 0.5 * (high[:, None] == low[None, :]).mean()
    return float(above)


def f1(found: np.ndarray, positive: np.ndarray) -> float:
    both = int((found & positive).sum())
    return 2 * both / (int(found.sum()) + int(positive.sum())) if both else 0.0


def interactions_file(path: Path, pipeline: Pipeline, most: int | None) -> dict[str, object]:
    labelled = rows(path)[:most]
    now = datetime.now(UTC)
    messages = [
        Message(
            value=(value := json.dumps(row).encode()),
            position=Position(topic=path.name, partition=0, offset=i),
            received_at=now,
            size=len(value),
        )
        for i, row in enumerate(labelled)
    ]
    its, dead = Decoder().decode_batch(messages)
    assert not dead, dead[0]  # noqa: S101  every labelled row is an interaction
    assessments = [a for i in range(0, len(its), BATCH) for a in pipeline.assess(its[i : i + BATCH])]
    positive = np.array([row["label"] != "grounded" for row in labelled])
    flagged = np.array([a.verdict.negative for a in assessments])
    rule = np.array([a.rule_verdict.negative for a in assessments])
    area = auc(positive, np.array([1 - a.probabilities.grounded for a in assessments]))
    return {
        "rows": len(labelled),
        "auc": area,
        "flagged_of_negative": float(flagged[positive].mean()) if positive.any() else None,
        "flagged_of_grounded": float(flagged[~positive].mean()) if (~positive).any() else None,
        "f1": f1(flagged, positive),
        "f1_rule": f1(rule, positive),
        "f1_flag_everything": f1(np.ones_like(positive), positive),
    }


def wording_file(path: Path, most: int | None) -> dict[str, object]:
    labelled = rows(path)[:most]
    found = np.array([refusal_kind(str(row["answer"])) is RefusalKind.FULL for row in labelled])
    positive = np.array([row["label"] == "refusal" for row in labelled])
    both = int((found & positive).sum())
    return {
        "rows": len(labelled),
        "refusals": int(positive.sum()),
        "precision": both / int(found.sum()) if found.any() else None,
        "recall": both / int(positive.sum()) if positive.any() else None,
        "f1": f1(found, positive),
        "others_called_refusal": float(found[~positive].mean()),
    }


def show(title: str, results: dict[str, dict[str, object]]) -> None:
    names = list(next(iter(results.values())))
    print(f"\n{title:26}" + "".join(f"{name.replace('_', ' '):>22}" for name in names))
    for file, figures in results.items():
        shown = ["–" if v is None else f"{v:.3f}" if isinstance(v, float) else str(v) for v in figures.values()]
        print(f"{file:26}" + "".join(f"{value:>22}" for value in shown))


def main() -> None:
    arguments = options(__doc__, f"the first {SHORT_ROWS} rows of each file")
    if not DATA.is_dir():
        print(f"no labelled data at {DATA}: set MONITOR_DATA_DIR")
        return
    most = SHORT_ROWS if arguments.short else None
    embedder = CachedEmbedder(MiniLMEmbedder(cache_dir=load_settings().state_dir / "cache"), 2**28)
    pipeline = Pipeline(
        completer=ExtractiveCompleter(), embedder=embedder, profile=load_profile("minilm", embedder.model)
    )
    files = sorted([*DATA.glob("dev/*.jsonl.gz"), *DATA.glob("test/*.jsonl.gz")])
    verdicts = {str(p.relative_to(DATA))[: -len(".jsonl.gz")]: interactions_file(p, pipeline, most) for p in files}
    wording = {p.name[: -len(".jsonl.gz")]: wording_file(p, most) for p in sorted(DATA.glob("wording/*.jsonl.gz"))}
    show("verdicts", verdicts)
    show("refusals by wording", wording)
    figures = {"verdicts": verdicts, "wording": wording, "profile": pipeline.profile.hash}
    finish(figures, seed=None, path=arguments.json)


if __name__ == "__main__":
    main()
