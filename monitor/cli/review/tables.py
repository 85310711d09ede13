"""The panel and the tables that `monitor review` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from monitor.cli.explain.panel import title
from monitor.cli.terminal import literal
from monitor.core.model import Verdict
from monitor.core.text.plain import percent, readable
from monitor.review.agreement import Agreement, Pair, Week
from monitor.review.draw import Offer
from monitor.review.presentation import DRAWN_WORDS, SHOWN
from monitor.review.rates.estimate import CLASSES
from monitor.review.rates.period import PeriodRates
from monitor.review.rates.presentation import interval


def interaction_panel(row: Mapping[str, Any], offer: Offer) -> RenderableType:
    """One row of `AssessmentQueries.with_assessments` with every retrieved document, without verdict and scores."""
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
    why = f"offered because {DRAWN_WORDS[offer.drawn]} ({offer.drawn})"
    return Panel(texts, title=title(row), title_align="left", subtitle=Text(why, style="dim"), subtitle_align="left")


def weeks_table(weeks: Sequence[Week]) -> Table:
    """One line per week, with the intervals of the shares."""
    table = Table("week", box=None, pad_edge=False)
    for heading in ("labels", "verdict agrees", "kappa", "rule agrees", "kappa", "open"):
        table.add_column(heading, justify="right", no_wrap=True)
    for week in weeks:
        table.add_row(
            week.name,
            f"{week.verdict.total}{'' if week.enough else ' (too few)'}",
            _share(week.verdict),
            _kappa(week.verdict),
            _share(week.rule),
            _kappa(week.rule),
            str(week.unlabelled),
        )
    return table


def pairs_table(pairs: Sequence[Pair]) -> Table:
    """One line for each pair of people."""
    table = Table("two people", box=None, pad_edge=False)
    for heading in ("both labelled", "agree", "kappa"):
        table.add_column(heading, justify="right")
    for pair in pairs:
        agreed = pair.agreement
        table.add_row(literal(" and ".join(pair.people)), str(agreed.total), _share(agreed), _kappa(agreed))
    return table


def rates_table(known: PeriodRates) -> Table:
    """One line for each class of verdict: the share that is flagged, and the true rate."""
    table = Table("class", box=None, pad_edge=False)
    for heading in ("flagged", "true rate (95 %)", "labels"):
        table.add_column(heading, justify="right", no_wrap=True)
    for class_ in CLASSES:
        flagged, rate = known.flagged(class_), known.rates.get(class_)
        table.add_row(
            class_.replace("_", "-"),
            "–" if flagged is None else percent(flagged),
            interval(rate),
            "0" if rate is None or known.plan is None else f"{rate.labels} of {len(known.plan.items)}",
        )
    return table


def keys() -> Iterator[tuple[str, Verdict]]:
    """Yields the key for each label: its first letter."""
    yield from ((verdict.value[0], verdict) for verdict in Verdict)


def _shown(text: str) -> str:
    more = len(text) - SHOWN
    return text if more <= 0 else f"{text[:SHOWN]}\n… and {more:,} more characters; --json shows all of them"


def _share(agreed: Agreement) -> str:
    if agreed.share is None:
        return "–"
    lower, upper = agreed.interval
    return f"{agreed.share:.0%} ({lower * 100:.0f}–{upper:.0%})"


def _kappa(agreed: Agreement) -> str:
    return "–" if agreed.kappa is None else f"{agreed.kappa:.2f}"
