"""Offers as JSON and as commands, without the verdict; agreement as JSON and as remarks."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from monitor.core.text.plain import plural
from monitor.review.agreement import ENOUGH, Agreement, Week
from monitor.review.draw import Offer
from monitor.review.label import Drawn

SHOWN = 6_000  # characters of a text on a page or terminal
DRAWN_WORDS = {
    Drawn.MARGIN: "it is rare for its app, or a close call",
    Drawn.RULE: "two methods disagree about it",
    Drawn.JUDGE: "the judge disagrees",
    Drawn.CLASS: "it helps calibration",
    Drawn.PLAN: "it was drawn for the true rate of a period",
    Drawn.RANDOM: "it was drawn at random",
    Drawn.CHOSEN: "a person picked it",
}


def offer_json(row: Mapping[str, Any], offer: Offer, command: str, *, reveal: bool) -> dict[str, Any]:
    """The offer as JSON; `row` is its interaction with the live assessment. `reveal` adds the verdicts."""
    shown = ("app", "id", "occurred_at", "question", "answer", "retrieved_documents", "reference_answer")
    revealed = ("verdict", "rule_verdict", "reasons", "p_grounded", "p_refusal", "p_self_generated", "uncalibrated")
    names = (*shown, *revealed) if reveal else shown
    return {"drawn": offer.drawn, **{name: row[name] for name in names}, "command": command}


def label_command(offer: Offer, by: str | None) -> str:
    """The shell command that labels the offer; the user fills in LABEL."""
    name = f"{offer.candidate.app}/{offer.candidate.id}"
    person = f"--by {shlex.quote(by)} " if by is not None else ""
    dashes = "-- " if name.startswith("-") else ""
    return f"monitor review label {person}{dashes}{shlex.quote(name)} LABEL"


def remarks(together: Week, left_out: int) -> Iterator[str]:
    """Yields what limits the figures of the table."""
    yield f"shares with 95 % Wilson intervals; fewer than {ENOUGH} labels say little"
    if together.unlabelled:
        open_ = f"{together.unlabelled} were drawn at random and are open"
        yield f"{open_}: if they are the hard ones, the shares are too high"
    if together.disputed:
        yield f"people disagree on {together.disputed}: the majority counts, or the newest label in a tie"
    if left_out:
        yield f"left out: {plural(left_out, 'labelled answer')} not drawn at random"


def week_json(week: Week) -> dict[str, Any]:
    """A week as JSON; shares and bounds are null without labels."""
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
    """`{agreeing, total, share, lower, upper, kappa}` with the Wilson interval at 95 %."""
    lower, upper = agreed.interval if agreed.total else (None, None)
    return {
        "agreeing": agreed.agreeing,
        "total": agreed.total,
        "share": agreed.share,
        "lower": lower,
        "upper": upper,
        "kappa": agreed.kappa,
    }
