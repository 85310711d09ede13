"""Measures what ranks cost the events, and what they find on labelled answers without a label of the app.

    python benchmarks/reference/run.py [--short] [--json PATH]

- *Cost*: CPU seconds of this process to assess and write batches of the demo bot's events, with stubbed embeddings (the
  fastest path there is, so the largest share), with a reference of 5,000 scores in force and with none, in rounds that
  alternate (goal: at most 1.03 times).
- *Ranks against the fixed threshold*: each file of ../shared/data/dev (MONITOR_DATA_DIR) that has grounded and made-up
  answers is taken as the traffic of one app. Half of its groups, drawn again each time, give a reference of 1,000
  answers of which 4 % are bad; the other half gives the later answers. Shares of grounded answers flagged and of bad
  ones found, by rank ≤ .10, by the same after the bad ones among the reference's 100 highest scores are removed, and by
  the profile's threshold. Files with fewer rows repeat rows, which the ranges over draws show.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import finish, options
from benchmarks.labelled import DATA, DEV, assess, cached_pipeline, read, with_documents
from benchmarks.traffic import SEED, emptied, interactions
from monitor.app.wiring.application import Application
from monitor.assess.classify.profile import load_profile
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.pipeline import Pipeline
from monitor.assess.reference import ALPHA, Reference, References, ranks
from monitor.core.batch import Batch
from monitor.core.model import Verdict
from monitor.core.settings.load import Settings

FULL = {"events": 3_072, "rounds": 5, "draws": 400}
SHORT = {"events": 1_024, "rounds": 2, "draws": 50}
BATCH = 512
SIZE, BAD, LABELLED = 1_000, 0.04, 100  # of a reference: scores, share of bad answers, scores that people look at
GOAL = 1.03
METHODS = ("rank", "rank, 100 labelled", "threshold")

Scores = NDArray[np.float32]


def cost(sizes: Mapping[str, int]) -> dict[str, float]:
    """CPU seconds for each 1,000 events with and without a reference, the medians of alternating rounds."""
    events = interactions(sizes["events"])
    batches = [events[start : start + BATCH] for start in range(0, len(events), BATCH)]
    stub = HashEmbedder()
    profile = load_profile("hash", stub.model, stub.token_model)
    pipeline = Pipeline(completer=ExtractiveCompleter(), encoder=stub, embedder=stub, profile=profile)
    scores = np.sort(np.random.default_rng(SEED).beta(0.3, 2.0, 5_000).astype(np.float32))
    models = sorted({event.model or "" for event in events})
    held = References(
        Reference(
            hash="0123456789abcdef",
            app="bench",
            model=model,
            topic="",
            profile_hash=profile.hash,
            embedding_model=profile.embedding_model,
            scores=scores,
        )
        for model in models
    )
    spent: dict[str, list[float]] = {"without": [], "with": [], "rank alone": []}
    with tempfile.TemporaryDirectory() as folder, Application(Settings(state_dir=Path(folder))) as application:
        application.migrate()
        for number in range(sizes["rounds"] + 1):
            if number == 1:
                spent = {name: [] for name in spent}  # the first round fills caches
            for name, references in (("without", References()), ("with", held)):
                emptied(application)
                begin, alone = time.process_time(), 0.0
                for batch in batches:
                    assessments = pipeline.assess(batch)
                    before = time.process_time()
                    ranked = references.rank(assessments)
                    alone += time.process_time() - before
                    application.store.write(Batch(assessments=tuple(ranked), dead_letters=(), received=len(ranked)))
                spent[name].append(time.process_time() - begin)
                if references is held:
                    spent["rank alone"].append(alone)
    figures = {name: statistics.median(seconds) / len(events) * 1_000 for name, seconds in spent.items()}
    return {**figures, "ratio": statistics.median(b / a for a, b in zip(spent["without"], spent["with"], strict=True))}


def quality(sizes: Mapping[str, int]) -> dict[str, Any]:
    """By file and method, the median share of flagged grounded and of found bad answers."""
    found: dict[str, Any] = {}
    with cached_pipeline() as pipeline:
        threshold = pipeline.profile.groundedness.threshold
        for name in DEV:
            rows = [row for row in with_documents(read(name)) if row.label is not Verdict.REFUSAL]
            if len({row.label for row in rows}) == 1:
                continue
            scores = np.asarray([a.probabilities.self_generated for a in assess(pipeline, rows)], dtype=np.float32)
            bad = np.asarray([row.label is Verdict.SELF_GENERATED for row in rows])
            groups = np.unique([row.group for row in rows], return_inverse=True)[1]
            found[name.removeprefix("dev/")] = _shares(scores, bad, groups, threshold, sizes["draws"])
    return found


def _shares(scores: Scores, bad: NDArray[np.bool_], groups: NDArray[np.int64], threshold: float, draws: int) -> Any:
    rng = np.random.default_rng(SEED)
    drawn = [_draw(rng, scores, bad, groups, threshold) for _ in range(draws)]
    return {
        method: {
            "grounded": statistics.median(one[method][0] for one in drawn),
            "bad": statistics.median(one[method][1] for one in drawn),
        }
        for method in METHODS
    }


def _draw(
    rng: np.random.Generator, scores: Scores, bad: NDArray[np.bool_], groups: NDArray[np.int64], threshold: float
) -> dict[str, tuple[float, float]]:
    """The two shares of each method for one reference and the later answers of other groups."""
    early = rng.permutation(groups.max() + 1)[groups] % 2 == 0
    number = round(BAD * SIZE)
    wrong = rng.choice(scores[early & bad], number)
    good = rng.choice(scores[early & ~bad], SIZE - number)
    reference = np.sort(np.concatenate([wrong, good]))
    looked_at = reference[-LABELLED]
    cleaned = np.sort(np.concatenate([wrong[wrong < looked_at], good]))
    later = {False: scores[~early & ~bad], True: scores[~early & bad]}
    return {
        "rank": _both(later, lambda asked: ranks(reference, asked) <= ALPHA),
        "rank, 100 labelled": _both(later, lambda asked: ranks(cleaned, asked) <= ALPHA),
        "threshold": _both(later, lambda asked: asked >= threshold),
    }


def _both(later: Mapping[bool, Scores], flagged: Callable[[Scores], NDArray[np.bool_]]) -> tuple[float, float]:
    return float(flagged(later[False]).mean()), float(flagged(later[True]).mean())


def table(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'app':<16}" + "".join(f"{method:>22}" for method in METHODS)
    for name, shares in found.items():
        pairs = (f"{shares[method]['grounded']:.1%} / {shares[method]['bad']:.0%}" for method in METHODS)
        yield f"{name:<16}" + "".join(f"{pair:>22}" for pair in pairs)
    for method in METHODS:
        good, bad = ([shares[method][kind] for shares in found.values()] for kind in ("grounded", "bad"))
        yield (
            f"{method}: flags {statistics.fmean(good):.3f} [{min(good):.3f}–{max(good):.3f} over apps] of grounded "
            f"answers, finds {statistics.fmean(bad):.2f} [{min(bad):.2f}–{max(bad):.2f}] of bad ones"
        )


def main() -> None:
    chosen = options(__doc__, "fewer events, rounds and draws")
    sizes = SHORT if chosen.short else FULL
    spent = cost(sizes)
    print(
        f"CPU for 1,000 events: {spent['without']:.3f} s without a reference, {spent['with']:.3f} s with one: "
        f"{spent['ratio']:.3f} times (goal {GOAL}); ranking alone {spent['rank alone']:.4f} s"
    )
    found: dict[str, Any] = {}
    if DATA.is_dir():
        found = quality(sizes)
        print("\nshare of grounded answers flagged / of bad ones found")
        print("\n".join(table(found)))
    else:
        print(f"{DATA} is not there: nothing is said about labelled answers")
    finish({"cost": spent, "apps": found}, seed=SEED, path=chosen.json)


if __name__ == "__main__":
    main()
