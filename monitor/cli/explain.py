"""The findings on one interaction as a panel for a terminal, 80 columns or more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from monitor.assess.classify.profile import Profile
from monitor.assess.classify.refusal import Role
from monitor.assess.explain import (
    COLOURS,
    METRIC_NAMES,
    REASON_WORDS,
    Carried,
    ReadSentence,
    compared,
    moved,
    refusal_words,
    sentences,
    start_probability,
)
from monitor.assess.judge.wording import told
from monitor.assess.score.features import FEATURES
from monitor.core.evidence import AlignedSentence
from monitor.core.model import Match, Origin, Reason, RefusalKind
from monitor.core.text.plain import readable

LONGEST_PASSAGE = 240  # characters shown of a passage
_CARRIED_WORDS = {
    Carried.CARRIED: ("carried", "green"),
    Carried.PARTLY: ("partly carried", "yellow"),
    Carried.NOT: ("not carried", "red"),
}
_ORIGIN_WORDS = {
    Origin.LOGGED: "as the chatbot logged it",
    Origin.SIDECAR: "as the sidecar named it",
    Origin.EXTRACTIVE: "extractive: the documents' sentences nearest to the answer",
}


def explanation(
    row: Mapping[str, Any], profile: Profile | None, judgements: Sequence[Mapping[str, Any]] = ()
) -> RenderableType:
    """One row of `Queries.explained` for a terminal, with its judgements.

    `profile` gives the thresholds and weights, where it is still at hand.
    """
    verdict = row["verdict"]
    head = Text.assemble(
        (verdict.replace("_", "-"), f"bold {COLOURS[verdict]}"),
        f"   grounded {row['p_grounded']:.0%} · refusal {row['p_refusal']:.0%} · "
        f"self-generated {row['p_self_generated']:.0%}",
    )
    if row["uncalibrated"]:
        head.append("\nuncalibrated for this app: trust the order of answers more than the figures", "dim")
    under = f"profile {row['profile_name']} ({row['profile_hash'][:8]})"
    if not row.get("live", True):
        under += ", a rescore that no alert counts"
    title = Text.assemble(
        readable(row["app"]), " / ", (readable(row["id"]), "bold"), f"  {row['occurred_at']:%Y-%m-%d %H:%M:%S} UTC"
    )
    parts = [
        head, _why(row), _answer(row), _support(row["support"]), _metrics(row, profile), *_moved(row, profile),
        *judgement_table(judgements),
    ]  # fmt: skip
    return Panel(
        Group(*parts), title=title, title_align="left", subtitle=Text(readable(under), style="dim"),
        subtitle_align="left",
    )  # fmt: skip


def _labelled() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=len("thesis's rule"))
    table.add_column(overflow="fold")
    return table


def _why(row: Mapping[str, Any]) -> Table:
    texts = _labelled()
    verdict = row["verdict"]
    for place, reason in enumerate(row["reasons"]):
        texts.add_row("why" if place == 0 else "", Text(REASON_WORDS[Reason(reason)], style=COLOURS[verdict]))
    if words := refusal_words(row):
        texts.add_row("refusal", Text(words))
    if row["rule_verdict"] != verdict:
        texts.add_row("thesis's rule", Text(row["rule_verdict"].replace("_", "-")))
    if row.get("earlier"):
        before, when = row["earlier"]["verdict"].replace("_", "-"), row["revised_at"]
        texts.add_row("revised", Text(f"{before} until {when:%Y-%m-%d %H:%M} UTC, when the sidecar answered"))
    if row.get("marks"):
        texts.add_row("marks", Text(", ".join(row["marks"])))
    texts.add_row("question", Text(readable(row["question"])))
    if not row["answer"].strip():
        texts.add_row("answer", Text("empty", style="dim"))
    return texts


def _answer(row: Mapping[str, Any]) -> Group:
    """Each sentence with its number, and below it what carries it or what it does."""
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    found = sentences(row)
    judged = compared(row)
    alone = not any(s.role is Role.CONTENT for s in found)
    for number, s in enumerate(found, 1):
        table.add_row(str(number), _marked(row["answer"], s))
        for line in _below(row, s, judged=judged, alone=alone):
            table.add_row("", line)
    if not found:
        return Group()
    title = "the answer, sentence by sentence"
    if not judged:
        title += ": not compared with the documents, as an earlier release assessed it"
    return Group(Text(title, style="dim"), table)


def _marked(answer: str, s: ReadSentence) -> Text:
    text = Text(readable(answer[s.start : s.end]), style="bold" if s.role is Role.CONTENT else "")
    if s.pair is not None and s.pair.contradicts:
        text.stylize("red")
    for fact in s.missing:
        text.stylize("red reverse", fact.start - s.start, fact.end - s.start)
    if s.cue is not None:
        text.stylize("yellow underline", s.cue[0] - s.start, s.cue[1] - s.start)
    return text


def _below(row: Mapping[str, Any], s: ReadSentence, *, judged: bool, alone: bool) -> Iterator[Text]:
    """`alone`: no sentence states anything, so that the polite ones were judged too."""
    if s.cue is not None:
        cue = " as a whole" if s.cue == (s.start, s.end) else f": “{_short(row['answer'][slice(*s.cue)])}”"
        yield Text(readable(f"refuses{cue}"), style="yellow")
        return
    if s.role is not Role.CONTENT:
        yield Text(f"{s.role}, {'but nothing else is said' if alone else 'not judged'}", style="dim")
    if s.pair is not None:
        yield _carrying(s.pair, s.passage)
    elif judged and s.role is Role.CONTENT:
        why = "no word in it to compare" if row["retrieved_documents"] else "nothing was retrieved to compare it with"
        yield Text(why, style="dim")
    if s.missing:
        found = ", ".join(f"{fact.kind} “{fact.text}”" for fact in s.missing)
        yield Text(readable(f"in no document: {found}"), style="red")


def _carrying(pair: AlignedSentence, passage: str | None) -> Text:
    words, colour = _CARRIED_WORDS[Carried.by(pair.score)]
    if pair.contradicts:
        words, colour = "contradicts", "red"
    line = Text.assemble((f"{words} ({pair.score:.2f})", colour), (readable(f" [{pair.document_id}] "), "dim"))
    if passage is None:
        return line.append("the passage is not at hand", "dim")
    return line.append(readable(f"“{_short(passage)}”"), "cyan")


def _short(text: str) -> str:
    """On one line, cut between words where it is long."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_PASSAGE:
        return line
    head = line[:LONGEST_PASSAGE]
    return f"{head[: head.rfind(' ')] if ' ' in head[LONGEST_PASSAGE // 2 :] else head} …"


def _support(support: Mapping[str, Any]) -> Table:
    texts = _labelled()
    label = "support"
    for piece in support["documents"]:
        where = f"[{piece['document_id']}]" if piece["start"] is not None else "[not from the documents]"
        if piece.get("match") == Match.FUZZY:
            where = f"[{piece['document_id']}, nearly]"
        texts.add_row(label, Text.assemble(readable(piece["text"]), (readable(f"  {where}"), "dim")))
        label = ""
    if support["documents"]:
        texts.add_row(label, Text(_ORIGIN_WORDS[Origin(support["origin"])], style="dim"))
    if stands_in := support.get("stands_in"):
        later = "; it will be asked again" if stands_in["queued"] else ""
        texts.add_row(label, Text(readable(f"not the sidecar's: {stands_in['because']}{later}"), style="yellow"))
    sidecar = support.get("sidecar") or {}
    if sidecar and not support["documents"]:
        texts.add_row(label, Text("the sidecar named nothing that supports the answer", style="dim"))
    if sidecar.get("second_answer") is not None:
        texts.add_row("second answer", Text(readable(sidecar["second_answer"])))
    return texts


def _metrics(row: Mapping[str, Any], profile: Profile | None) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    undefined = row["features"]["undefined"]
    for name, words in METRIC_NAMES.items():
        value = row[name]
        if value is None:
            table.add_row(name.upper(), "–", "", Text(f"{words}: {undefined.get(name, 'undefined')}", style="dim"))
            continue
        threshold = getattr(profile.metrics, name).threshold if profile else None
        below = threshold is not None and value < threshold
        shown = "" if threshold is None else f"{'<' if below else '≥'} {threshold:.2f}"
        table.add_row(name.upper(), Text(f"{value:.2f}", style="red" if below else ""), shown, Text(words, style="dim"))
    if profile is None:
        return Group(table, Text("the profile is of another release: its thresholds and weights are unknown", "dim"))
    return table


def _moved(row: Mapping[str, Any], profile: Profile | None) -> Iterator[RenderableType]:
    """The features that moved the probability of self-generated most, with sign and size."""
    found = moved(row, profile)
    if profile is None or not found:
        return
    start, threshold = start_probability(profile), profile.groundedness.threshold
    yield Text("what moved it most, in log-odds (+ self-generated, − grounded)", style="bold")
    yield Text(f"it starts at {start:.1%} and is called self-generated from {threshold:.0%} on", style="dim")
    if row["refusal_kind"] == RefusalKind.FULL:
        yield Text("but the refusal decided: this is what it would be if it were an answer", style="dim")
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for m in found:
        size = f"{'+' if m.log_odds > 0 else '−'}{abs(m.log_odds):.2f}"
        words = Text.assemble(FEATURES[m.name], (f": {m.value:.2f}", "dim"))
        table.add_row(Text(size, style="red" if m.log_odds > 0 else "green"), words)
    yield table


def judgement_table(judgements: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """A table of rows of `Queries.judgements`, the latest of each metric, with what spoke against a full score."""
    latest = {row["metric"]: row for row in reversed(judgements)}
    if not latest:
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, row in sorted(latest.items()):
        score = "–" if row["score"] is None else f"{row['score']:.2f}"
        table.add_row(name.replace("_", " "), score, Text(readable(told(row)), style="dim"))
    yield Text.assemble("judged by ", readable(next(iter(latest.values()))["model"]), style="bold")
    yield table
