"""What a person reads before labelling, without what the program thinks of it; and agreement as tables."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from monitor.cli.terminal import literal, readable
from monitor.core.model import Verdict
from monitor.review.agreement import ENOUGH, Agreement, Pair, Week
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


def interaction_panel(row: Mapping[str, Any], offer: Offer) -> RenderableType:
    """One row of `Queries.explained` with every retrieved document, and neither verdict nor scores."""
    texts = Table.grid(padding=(0, 2))
    texts.add_column(style="dim", no_wrap=True)
    texts.add_column(overflow="fold")
    texts.add_row("question", Text(readable(_shown(row["question"]))))
    documents = row["retrieved_documents"]
    for number, document in enumerate(documents, 1):
        texts.add_row(f"document {number}", Text(readable(_shown(document["text"])), style="cyan"))
    if not documents:
        texts.add_row("documents", Text("none were retrieved", style="dim"))
    if row["reference_answer"]:
        texts.add_row("reference", Text(readable(_shown(row["reference_answer"]))))
    texts.add_row("answer", Text(readable(_shown(row["answer"])), style="bold"))
    title = Text.assemble(
        readable(row["app"]), " / ", (readable(row["id"]), "bold"), f"  {row['occurred_at']:%Y-%m-%d %H:%M:%S} UTC"
    )
    drawn = f"offered as {offer.drawn}: {DRAWN_WORDS[offer.drawn]}"
    return Panel(texts, title=title, title_align="left", subtitle=Text(drawn, style="dim"), subtitle_align="left")


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


def weeks_table(weeks: Sequence[Week]) -> Table:
    """One line a week, with the intervals of the shares."""
    table = Table("week", box=None, pad_edge=False)
    for heading in ("labels", "verdict agrees", "kappa", "rule agrees", "kappa", "open"):
        table.add_column(heading, justify="right", no_wrap=True)
    for week in weeks:
        table.add_row(
            week.name, f"{week.verdict.total}{'' if week.enough else ' (too few)'}", _share(week.verdict),
            _kappa(week.verdict), _share(week.rule), _kappa(week.rule), str(week.unlabelled),
        )  # fmt: skip
    return table


def remarks(together: Week, left_out: int) -> Iterator[str]:
    """What has to be said beside the table."""
    yield f"shares with their Wilson intervals at 95 %; fewer than {ENOUGH} labels are too few to say much"
    if together.unlabelled:
        yield f"{together.unlabelled} were drawn at random and are open: if they are the hard ones, the shares flatter"
    if together.disputed:
        yield f"people disagree on {together.disputed}: the majority counts, of a tie the newest label"
    if left_out:
        yield f"left out: {left_out} labelled ones that were not drawn at random"


def pairs_table(pairs: Sequence[Pair]) -> Table:
    """One line for every two people."""
    table = Table("two people", box=None, pad_edge=False)
    for heading in ("both labelled", "agree", "kappa"):
        table.add_column(heading, justify="right")
    for pair in pairs:
        agreed = pair.agreement
        table.add_row(literal(" and ".join(pair.people)), str(agreed.total), _share(agreed), _kappa(agreed))
    return table


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


def keys() -> Iterator[tuple[str, Verdict]]:
    """The key that stands for each label: its first letter."""
    yield from ((verdict.value[0], verdict) for verdict in Verdict)


def _shown(text: str) -> str:
    more = len(text) - SHOWN
    return text if more <= 0 else f"{text[:SHOWN]}\n… and {more:,} more characters; --json has all of it"


def _share(agreed: Agreement) -> str:
    if agreed.share is None:
        return "–"
    lower, upper = agreed.interval
    return f"{agreed.share:.0%} ({lower * 100:.0f}–{upper:.0%})"


def _kappa(agreed: Agreement) -> str:
    return "–" if agreed.kappa is None else f"{agreed.kappa:.2f}"
