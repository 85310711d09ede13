"""What a person reads before labelling, without what the program thinks of it; and agreement as tables."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from monitor.review.agreement import ENOUGH, Agreement, Week
from monitor.review.draw import Offer
from monitor.review.label import Drawn

SHOWN = 6_000  # characters of a text
DRAWN_WORDS = {
    Drawn.MARGIN: "it is a close call",
    Drawn.RULE: "two of our ways to tell disagree",
    Drawn.JUDGE: "the judge disagrees",
    Drawn.RANDOM: "by chance",
    Drawn.CHOSEN: "somebody picked it",
}


def offer_json(row: Mapping[str, Any], offer: Offer, command: str, *, reveal: bool) -> dict[str, Any]:
    """The same as an object; with `reveal` the verdicts and probabilities too."""
    shown = ("app", "id", "occurred_at", "question", "answer", "retrieved_documents", "reference_answer")
    revealed = ("verdict", "rule_verdict", "reasons", "p_grounded", "p_refusal", "p_self_generated", "uncalibrated")
    names = (*shown, *revealed) if reveal else shown
    return {"drawn": offer.drawn, **{name: row[name] for name in names}, "command": command}


def label_command(offer: Offer, by: str | None) -> str:
    """The command that labels it, for a shell; LABEL is to be filled in."""
    name = f"{offer.candidate.app}/{offer.candidate.id}"
    whose = f"--by {shlex.quote(by)} " if by is not None else ""
    dashes = "-- " if name.startswith("-") else ""
    return f"monitor review label {whose}{dashes}{shlex.quote(name)} LABEL"


def remarks(together: Week, left_out: int) -> Iterator[str]:
    """What has to be said beside the table."""
    yield f"shares with their Wilson intervals at 95 %; fewer than {ENOUGH} labels are too few to say much"
    if together.unlabelled:
        yield f"{together.unlabelled} were drawn at random and are open: if they are the hard ones, the shares flatter"
    if together.disputed:
        yield f"people disagree on {together.disputed}: the majority counts, of a tie the newest label"
    if left_out:
        yield f"left out: {left_out} labelled ones that were not drawn at random"


def week_json(week: Week) -> dict[str, Any]:
    """A week as an object; shares and bounds are null without a label."""
    return {
        "week": week.name,
        "labels": week.verdict.total,
        "enough": week.enough,
        "verdict": agreement_json(week.verdict),
        "rule": agreement_json(week.rule),
        "disputed": week.disputed,
        "not_labelled": week.unlabelled,
    }


def agreement_json(agreed: Agreement) -> dict[str, Any]:
    """`{agreeing, total, share, lower, upper, kappa}`, the interval Wilson's at 95 %."""
    lower, upper = agreed.interval if agreed.total else (None, None)
    return {
        "agreeing": agreed.agreeing, "total": agreed.total, "share": agreed.share, "lower": lower, "upper": upper,
        "kappa": agreed.kappa,
    }  # fmt: skip
