"""Measures how many labels calibration takes as the review queue offers them, and what 200 of them make of a profile.

    python benchmarks/verdicts/label_queue.py [--short] [--json PATH]

The file dev/attribution of ../shared/data (MONITOR_DATA_DIR) is taken as the traffic of one app of which 9 % of the
answers are self-generated, drawn again each time. A person who knows the truth labels what the queue offers: *plain* as
it comes, *counting* with what calibration lacks preferred. Printed are medians: the self-generated answers among 200
labels, and after how many labels calibration lacked nothing (201: never). Then a profile is calibrated on the labels:
in which share of the draws that is refused, and in which the profile is better on held-out answers.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from benchmarks.figures import finish, options
from benchmarks.labelled import assess, cached_pipeline, read
from benchmarks.traffic import SEED
from monitor.assess.classify.profile import Profile
from monitor.core.errors import WrongSettings
from monitor.core.model import Assessment, RefusalKind, Verdict
from monitor.review.calibrate.run import calibrated
from monitor.review.draw import Candidate, draw
from monitor.review.evaluate.labels import Labelled
from monitor.review.shortage import CountedLabel, Shortage

FILES = ("dev/attribution",)
LABELS = 200
BAD = 0.09  # share of self-generated answers: 18 of 200 labels drawn at random
FULL, SHORT = 20, 2  # draws
G, S = Verdict.GROUNDED, Verdict.SELF_GENERATED

Row = tuple[Labelled, Assessment]


def traffic(rows: Sequence[Row], random: Random) -> list[Row]:
    """The grounded answers and so many of the others that they are `BAD` of all, in random order."""
    good = [row for row in rows if row[0].label is G]
    bad = [row for row in rows if row[0].label is S]
    taken = [*good, *random.sample(bad, round(len(good) * BAD / (1 - BAD)))]
    return random.sample(taken, len(taken))


def labelled(rows: Sequence[Row], *, counting: bool) -> tuple[list[int], int | None]:
    """The places of the answers that were labelled, and after how many labels nothing was lacking."""
    candidates = [_candidate(place, *row) for place, row in enumerate(rows)]
    chosen, labels, enough = list[int](), list[CountedLabel](), None
    for number in range(1, LABELS + 1):
        lacks = Shortage(labels=labels).lacks if counting else None
        (offer,) = draw(candidates, 1, lacks=lacks)
        place = int(offer.candidate.id)
        chosen.append(place)
        usable = rows[place][1].evidence.features["grounding"] is not None and offer.candidate.usable
        labels.append(CountedLabel(label=rows[place][0].label, usable=usable))
        candidates[place] = replace(offer.candidate, people=frozenset({"ann"}), drawn=offer.drawn)
        if enough is None and Shortage(labels=labels).lacks is None:
            enough = number
    return chosen, enough


def _candidate(place: int, row: Labelled, a: Assessment) -> Candidate:
    return Candidate(
        app=row.interaction.app,
        id=str(place),
        occurred_at=row.interaction.occurred_at,
        verdict=a.verdict,
        rule_verdict=a.rule_verdict,
        probabilities=a.probabilities,
        usable=a.refusal.kind is not RefusalKind.FULL,
    )


def measured(rows: Sequence[Row], profile: Profile, draws: int, *, counting: bool) -> dict[str, Any]:
    """Medians over the draws; `refused` is the share of draws in which calibration was refused for lack of labels."""
    bad, enough, better, refused = list[int](), list[int](), 0, 0
    for seed in range(draws):
        answers = traffic(rows, Random(SEED + seed))
        chosen, complete = labelled(answers, counting=counting)
        bad.append(sum(answers[place][0].label is S for place in chosen))
        enough.append(complete or LABELS + 1)
        taken = [answers[place] for place in chosen]
        try:
            found = calibrated([r for r, _ in taken], [a for _, a in taken], start=profile, name="x", objective="f1")
        except WrongSettings:
            refused += 1
        else:
            better += found.gain.better
    return {
        "self_generated": statistics.median(bad),
        "enough_after": statistics.median(enough),
        "refused": refused / draws,
        "better": better / draws,
    }


def main() -> None:
    given = options(__doc__, f"{SHORT} draws of each file")
    draws = SHORT if given.short else FULL
    results: dict[str, Any] = {}
    with cached_pipeline() as pipeline:
        for name in FILES:
            known = read(name)
            rows = list(zip(known, assess(pipeline, known), strict=True))
            for counting in (False, True):
                way = "counting" if counting else "plain"
                results[f"{name} {way}"] = found = measured(rows, pipeline.profile, draws, counting=counting)
                print(f"{name:20} {way:9}" + "".join(f"  {key} {value:.2f}" for key, value in found.items()))
    finish({"labels": LABELS, "bad": BAD, "draws": draws, "figures": results}, seed=SEED, path=given.json)


if __name__ == "__main__":
    main()
