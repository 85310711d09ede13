"""The arithmetic behind one verdict, as tables: similarities, sentence scores, and the sum of log-odds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import fsum, log
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from monitor.assess.classify.profile import Profile, sigmoid
from monitor.assess.explain import (
    CARRIED,
    METRIC_NAMES,
    PARTLY,
    all_moved,
    moved,
    sentences,
    start_probability,
)
from monitor.assess.score.features import FEATURES
from monitor.cli.explain.chunks import chunk_figures
from monitor.core.model import RefusalKind
from monitor.core.text.plain import readable

_SHOWN_LOG_ODDS = 0.005  # less is shown as 0.00


def details_panel(row: Mapping[str, Any], profile: Profile | None) -> RenderableType:
    """The figures of one row of `with_assessments`; thresholds and log-odds need the profile it was assessed under."""
    parts: list[RenderableType] = [_heading("Similarities, cosine"), _metrics(row, profile), _rule(row)]
    parts += [*_sentence_scores(row), *chunk_figures(row), *_log_odds(row, profile)]
    if profile is None:
        parts.append(Text("This release does not know the profile: thresholds and weights are missing.", style="dim"))
    return Panel(Group(*parts), title=Text.assemble("details of ", (readable(row["id"]), "bold")), title_align="left")


def _heading(text: str) -> Text:
    return Text(text, style="bold")


def _table(*columns: str) -> Table:
    """A table whose first column is text and whose other columns are figures."""
    table = Table(box=None, pad_edge=False)
    table.add_column(columns[0], overflow="fold")
    for column in columns[1:]:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _metrics(row: Mapping[str, Any], profile: Profile | None) -> Table:
    table = _table("metric", "value", "threshold")
    undefined = row["features"]["undefined"]
    for name, words in METRIC_NAMES.items():
        value = row[name]
        threshold = getattr(profile.metrics, name).threshold if profile else None
        label = f"{name.upper()}  {words}"
        if value is None:
            table.add_row(Text(f"{label} ({undefined.get(name, 'undefined').replace('_', ' ')})"), "–", "")
            continue
        below = threshold is not None and value < threshold
        limit = "" if threshold is None else f"{'<' if below else '≥'} {_figure(threshold)}"
        table.add_row(label, Text(_figure(value), style="red" if below else ""), limit)
    return table


def _rule(row: Mapping[str, Any]) -> Text:
    return Text(f"verdict by the study's rule: {row['rule_verdict'].replace('_', '-')}\n", style="dim")


def _sentence_scores(row: Mapping[str, Any]) -> Iterator[RenderableType]:
    """How close each compared sentence is to its best passage."""
    scored = [(number, s.pair) for number, s in enumerate(sentences(row), 1) if s.pair is not None]
    if not scored:
        return
    table = _table("sentence", "score")
    for number, pair in scored:
        contradicts = ", contradicted" if pair.contradicts else ""
        table.add_row(Text(readable(f"{number}  [{pair.document_id}]{contradicts}")), _figure(pair.score))
    yield _heading(f"Sentences against their nearest passage: supported from {CARRIED:.2f}, partly from {PARTLY:.2f}")
    yield table
    yield Text()


def _log_odds(row: Mapping[str, Any], profile: Profile | None) -> Iterator[RenderableType]:
    """From the profile's start through the features to the probability that the answer is self-generated."""
    largest, everything = moved(row, profile), all_moved(row, profile)
    if profile is None or not everything:
        return
    bias, threshold = profile.groundedness.bias, profile.groundedness.threshold
    judge = row["evidence"].get("judge")
    total = bias + fsum(m.log_odds for m in everything) + (judge["weight"] if judge else 0.0)
    others = fsum(m.log_odds for m in everything) - fsum(m.log_odds for m in largest)
    table = _table("+ self-generated, − grounded", "value", "log-odds")
    table.add_row("start of the profile", f"{start_probability(profile):.1%}", _signed(bias))
    for m in largest:
        table.add_row(
            FEATURES[m.name], _figure(m.value), Text(_signed(m.log_odds), style="red" if m.log_odds > 0 else "green")
        )
    if abs(others) >= _SHOWN_LOG_ODDS:
        table.add_row("all other features", "", _signed(others))
    if judge:
        table.add_row("the judge's word", _figure(judge["score"]), _signed(judge["weight"]))
    table.add_row("sum", f"{sigmoid(total):.1%}", _signed(total), style="bold")
    table.add_row("threshold of self-generated", f"{threshold:.1%}", _signed(log(threshold / (1 - threshold))))
    yield _heading("Probability of self-generated, for an answer that does not refuse")
    yield table
    if row["refusal_kind"] == RefusalKind.FULL:
        yield Text("The refusal decided the verdict: this table is what it would be if the answer did not refuse.")


def _figure(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _signed(log_odds: float) -> str:
    return f"{'−' if log_odds < 0 else '+'}{abs(log_odds):.2f}"
