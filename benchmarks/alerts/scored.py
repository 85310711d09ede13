"""The labelled files as apps: what the shipped profile says of each answer, kept on disk: scoring takes minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled import assess, cached_pipeline, read
from monitor.core.model import Assessment, Verdict
from monitor.core.settings.load import load_settings

SEED = 20_261_123
FIELDS = ("score", "refusal", "flagged", "sdq", "qrd", "sdq_off", "qrd_off", "score_off", "refusal_off", "flagged_off")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredApp:
    """One app: its answers as columns of equal length. `bad` are labelled self-generated, `good` grounded.

    `off` are the values of the same answers if their question had been another one of the file: what is retrieved, and
    what is answered, is about something else.
    """

    name: str
    good: NDArray[np.bool_]
    bad: NDArray[np.bool_]
    usual: dict[str, NDArray[np.float64]]
    off: dict[str, NDArray[np.float64]]


def scored(names: Sequence[str]) -> list[ScoredApp]:
    """The files as apps, in order; a missing similarity is NaN."""
    return [_of_file(name) for name in names]


def _of_file(name: str) -> ScoredApp:
    folder = load_settings().state_dir / "cache"
    path = folder / f"alerts-{name.replace('/', '-')}.npz"
    rows = read(name)
    labels = np.array([row.label for row in rows])
    if not path.exists():
        rng = np.random.default_rng(SEED)
        with cached_pipeline() as pipeline:
            usual = assess(pipeline, rows)
            others = [rows[i].interaction.question for i in rng.permutation(len(rows))]
            moved = [
                replace(row, interaction=replace(row.interaction, question=question))
                for row, question in zip(rows, others, strict=True)
            ]
            off = assess(pipeline, moved)
        folder.mkdir(parents=True, exist_ok=True)
        columns = {**_columns(usual), **{f"{name}_off": values for name, values in _columns(off).items()}}
        np.savez(path, **{name: columns[name] for name in FIELDS})
    with np.load(path) as stored:
        columns = {name: stored[name] for name in FIELDS}
    return ScoredApp(
        name=name,
        good=labels == Verdict.GROUNDED,
        bad=labels == Verdict.SELF_GENERATED,
        usual={name: values for name, values in columns.items() if not name.endswith("_off")},
        off={name.removesuffix("_off"): values for name, values in columns.items() if name.endswith("_off")},
    )


def _columns(answers: Sequence[Assessment]) -> dict[str, NDArray[np.float64]]:
    def similarity(name: str) -> NDArray[np.float64]:
        return np.array([np.nan if (v := getattr(a.metrics, name)) is None else v for a in answers])

    return {
        "score": np.array([a.probabilities.self_generated for a in answers]),
        "refusal": np.array([float(a.verdict is Verdict.REFUSAL) for a in answers]),
        "flagged": np.array([float(a.verdict is Verdict.SELF_GENERATED) for a in answers]),
        "sdq": similarity("sdq"),
        "qrd": similarity("qrd"),
    }
