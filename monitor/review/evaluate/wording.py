"""What the figures mean, for people who decide by them and did not make them."""

from __future__ import annotations

from collections.abc import Mapping

from monitor.core.model import Verdict
from monitor.review.evaluate.figures import Evaluated, Positive
from monitor.review.evaluate.rows import RANDOM

FEW_GROUPS = 20
POSITIVE: Mapping[Positive, str] = {
    Positive.NEGATIVE: "a bad answer: people labelled it a refusal or self-generated",
    Positive.UNANSWERABLE: "a question whose answer the documents do not hold",
}
BY = {"verdict": "the verdict", "rule": "the study's rule", "probability": "the verdict's probability"}

WORDS = {
    "glance": (
        "Positive is {positive}. Precision: of the answers that were flagged, the share that is positive; at .5 every "
        "second alarm is false. Recall: of the positive answers, the share that was flagged. F1 is between the two, "
        "F2 leans to recall. An F1 is worth only what it has above the F1 if all answers were flagged. "
        "Accuracy is the share of right decisions; it looks good by itself where positive answers are rare. With "
        "each figure stands its 95% interval: where it might as well lie, by the luck of these rows. An interval of "
        "one point means that they hold nothing that could move the figure, not that it is certain."
    ),
    "ranking": (
        "Does a positive answer get a higher score than another one? AUC is how often, for a random pair: 1 is always, "
        ".5 is chance. It says what another threshold could reach, not what the present one does. The study's rule is "
        "ranked by the lowest of SDQ, SDRD and SDA, as if one threshold held for all three. Average precision is the "
        "mean precision on the way down the ranking; chance gives the share of positive rows. In hindsight means: with "
        "the threshold that suits these very rows best. New rows will do worse. Self-generated against grounded leaves "
        "labelled refusals out."
    ),
    "confusion": "How many answers of each label got each verdict. Right ones stand where label and verdict agree.",
    "refusals": (
        "Whether refusals are found and nothing else is called one. Among bad answers only, as the study counts: is a "
        "refusal told from an invention?"
    ),
    "calibration": (
        "Can a probability be taken at its word: of the answers said to be bad with .8, are eight of ten bad? ECE is "
        "the average gap, 0 at best. With few rows a perfect probability shows a gap too: compare ECE with what it "
        "would be if perfect. Brier is the mean squared error, lower is better; it should be below that of giving "
        "every answer the overall share."
    ),
    "models": "The same figures for each generator that the rows name. With few rows the intervals are wide.",
    "thresholds": (
        "The study flags an answer when any of the metrics is below one threshold. Positive is {positive}. Undefined "
        "metrics are not compared. The profile's own row has a threshold for each metric."
    ),
    "alone": (
        "What each metric would find if it were the only one. A high recall means little beside a precision no better "
        "than the share of positive rows."
    ),
}


def notes(evaluated: Evaluated) -> list[str]:
    """What a reader has to know before the figures."""
    rows, found = evaluated.all, []
    if evaluated.profile.on_its_own_labels:
        found.append("The profile was fitted to these very labels, which flatters it: `monitor profiles` has others.")
    if evaluated.left_out:
        found.append(f"{evaluated.left_out:,} rows do not say whether they are answerable, and were left out.")
    others = rows.verdict.rows - rows.verdict.positives
    if not rows.verdict.positives:
        found.append("No row is positive, so recall, F1 and AUC have no value: add rows of the missing label.")
    elif not others:
        found.append("Every row is positive, so AUC has no value, and precision and F1 mean nothing: add good answers.")
    missing = [v.value.replace("_", "-") for v in Verdict if not rows.labels[v]]
    if missing:
        found.append(f"No row is labelled {' or '.join(missing)}; figures about that have no value.")
    f1, everything = rows.verdict.f1.value, rows.verdict.f1_flag_everything.value
    if others and f1 is not None and everything is not None and f1 <= everything:
        found.append(f"By F1, flagging everything ({everything:.3f}) does no worse than the verdict ({f1:.3f}).")
    if rows.groups < FEW_GROUPS:
        found.append(f"The rows are in {rows.groups} groups only: intervals from so few are too narrow.")
    if chosen := sum(count for why, count in evaluated.drawn.items() if why != RANDOM):
        found.append(
            f"{chosen:,} of the rows were chosen because they looked worth a label, not by chance: what they reach "
            "says nothing about all answers. "
            + ("Look at the random rows." if evaluated.random else "There are no random rows to tell that from.")
        )
    return found
