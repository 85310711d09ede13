"""Explains the figures to people who decide by them and did not compute them."""

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
        "Positive means {positive}. Precision is the share of flagged answers that are positive; at .5 every second "
        "alarm is false. Recall is the share of positive answers that are flagged. F1 combines the two; F2 gives "
        "recall more weight. An F1 means something only as far as it exceeds the F1 of flagging every answer. "
        "Accuracy is the share of right decisions; it looks good by itself if positive answers are rare. The 95% "
        "interval shows where a figure could lie by the luck of these rows. An interval of one point means that no "
        "row could move the figure, not that it is certain."
    ),
    "ranking": (
        "Does a positive answer get a higher score than another one? AUC is how often, for a random pair: 1 is always, "
        ".5 is chance. It shows what another threshold could achieve, not what the present one does. The study's rule "
        "is ranked by the lowest of SDQ, SDRD and SDA, as if all three had the same threshold. Average precision is "
        "the mean precision on the way down the ranking; chance gives the share of positive rows. In hindsight means "
        "with the threshold that fits these very rows best; new rows will do worse. Self-generated against grounded "
        "leaves out labelled refusals."
    ),
    "confusion": "How many answers of each label got each verdict. A verdict is right if it equals the label.",
    "refusals": (
        "Are refusals found, and is nothing else called one? Among bad answers only, as the study counts: are "
        "refusals told apart from invented answers?"
    ),
    "calibration": (
        "Are the probabilities reliable: of the answers given .8, are eight of ten bad? ECE is the average gap, 0 at "
        "best. With few rows even perfect probabilities show a gap, so compare ECE with its value if perfect. Brier "
        "is the mean squared error, lower is better; it should be below that of giving every answer the overall share."
    ),
    "models": "The figures for each generator that the rows name. With few rows the intervals are wide.",
    "thresholds": (
        "The study flags an answer if any of the metrics is below one threshold. Positive means {positive}. Undefined "
        "metrics are not compared. In the profile's own row each metric has its own threshold."
    ),
    "alone": (
        "What each metric would find if it were the only one. A high recall means little if precision is no better "
        "than the share of positive rows."
    ),
}


def notes(evaluated: Evaluated) -> list[str]:
    """What a reader has to know before reading the figures."""
    rows, found = evaluated.all, []
    if evaluated.profile.on_its_own_labels:
        found.append("The profile was fitted to these very labels, so the figures flatter it: see `monitor profiles`.")
    if evaluated.left_out:
        found.append(f"{evaluated.left_out:,} rows do not say whether they are answerable and are left out.")
    others = rows.verdict.rows - rows.verdict.positives
    if not rows.verdict.positives:
        found.append("No row is positive, so recall, F1 and AUC have no value: add rows of the missing label.")
    elif not others:
        found.append(
            "Every row is positive, so AUC has no value, and precision and F1 mean nothing: add grounded answers."
        )
    missing = [v.value.replace("_", "-") for v in Verdict if not rows.labels[v]]
    if missing:
        found.append(f"No row is labelled {' or '.join(missing)}; the figures about it have no value.")
    f1, everything = rows.verdict.f1.value, rows.verdict.f1_flag_everything.value
    if others and f1 is not None and everything is not None and f1 <= everything:
        found.append(f"Flagging everything has an F1 of {everything:.3f}, no worse than the verdict's {f1:.3f}.")
    if rows.groups < FEW_GROUPS:
        found.append(f"The rows form only {rows.groups} groups: intervals from so few are too narrow.")
    if chosen := sum(count for why, count in evaluated.drawn.items() if why != RANDOM):
        found.append(
            f"{chosen:,} of the rows {'was' if chosen == 1 else 'were'} chosen as worth a label, not drawn at random: "
            "these figures do not hold for all answers. "
            + ("Use the figures of the random rows." if evaluated.random else "There are no random rows for those.")
        )
    return found
