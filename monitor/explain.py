"""One assessed interaction in words: what was asked and answered, what carried it, and why the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from monitor.classify.profile import Profile
from monitor.judgements import judgement_table
from monitor.model import Match, Reason
from monitor.terminal import readable

COLOURS = {"grounded": "green", "refusal": "yellow", "self_generated": "red"}
METRIC_NAMES = {
    "sdq": "supporting documents – question",
    "sdrd": "supporting – retrieved documents",
    "sda": "supporting documents – answer",
    "qrd": "question – retrieved documents",
    "qa": "question – answer",
}
REASON_WORDS = {
    Reason.SUPPORT_OFF_QUESTION: "the support is not about the question (SDQ below its threshold)",
    Reason.SUPPORT_NOT_RETRIEVED: "the support is not from the retrieved documents (SDRD below its threshold)",
    Reason.ANSWER_OFF_SUPPORT: "the answer goes away from its support (SDA below its threshold)",
    Reason.RETRIEVAL_OFF_QUESTION: "retrieval is off the question (QRD below its threshold)",
    Reason.ANSWER_OFF_QUESTION: "the answer is off the question (QA below its threshold)",
    Reason.NO_DOCUMENTS: "nothing was retrieved",
    Reason.NO_SUPPORT: "the generator named no supporting document",
    Reason.EMPTY_ANSWER: "the answer is empty",
    Reason.REFUSAL_WORDING: "the answer is worded as a refusal",
}


def explanation(
    row: Mapping[str, Any], profile: Profile | None, judgements: Sequence[Mapping[str, Any]] = ()
) -> RenderableType:
    """One row of `Queries.explained` for a terminal, with its judgements.

    `profile` gives the thresholds, where it is still at hand.
    """
    verdict = row["verdict"]
    head = Text.assemble(
        (verdict.replace("_", "-"), f"bold {COLOURS[verdict]}"),
        f"   grounded {row['p_grounded']:.0%} · refusal {row['p_refusal']:.0%} · "
        f"self-generated {row['p_self_generated']:.0%}",
        ("   uncalibrated for this app" if row["uncalibrated"] else "", "dim"),
    )
    under = f"profile {row['profile_name']} ({row['profile_hash'][:8]})"
    if not row.get("live", True):
        under += ", a rescore that no alert counts"
    texts = Table.grid(padding=(0, 2))
    texts.add_column(style="dim", no_wrap=True)
    texts.add_column(overflow="fold")
    texts.add_row("question", Text(readable(row["question"])))
    texts.add_row("answer", Text(readable(row["answer"])))
    _add_support(texts, row["support"])
    for place, reason in enumerate(row["reasons"]):
        texts.add_row("why" if place == 0 else "", Text(REASON_WORDS[Reason(reason)], style=COLOURS[verdict]))
    if row.get("marks"):
        texts.add_row("marks", Text(", ".join(row["marks"])))
    if row["rule_verdict"] != verdict:
        texts.add_row("thesis's rule", Text(row["rule_verdict"].replace("_", "-")))
    if row.get("earlier"):
        before, when = row["earlier"]["verdict"].replace("_", "-"), row["revised_at"]
        texts.add_row("revised", Text(f"{before} until {when:%Y-%m-%d %H:%M} UTC, when the sidecar answered"))
    title = Text.assemble(
        readable(row["app"]), " / ", (readable(row["id"]), "bold"), f"  {row['occurred_at']:%Y-%m-%d %H:%M:%S} UTC"
    )
    return Panel(
        Group(head, texts, _metrics(row, profile), *judgement_table(judgements)),
        title=title, title_align="left", subtitle=Text(readable(under), style="dim"), subtitle_align="left",
    )  # fmt: skip


def _add_support(texts: Table, support: Mapping[str, Any]) -> None:
    label = f"support ({support['origin']})"
    for piece in support["documents"]:
        where = f"[{piece['document_id']}]" if piece["start"] is not None else "[not from the documents]"
        if piece.get("match") == Match.FUZZY:
            where = f"[{piece['document_id']}, nearly]"
        texts.add_row(label, Text.assemble(readable(piece["text"]), (readable(f"  {where}"), "dim")))
        label = ""
    if stands_in := support.get("stands_in"):
        later = "; it will be asked again" if stands_in["queued"] else ""
        texts.add_row(label, Text(readable(f"not the sidecar's: {stands_in['because']}{later}"), style="yellow"))
    sidecar = support.get("sidecar") or {}
    if sidecar and not support["documents"]:
        texts.add_row(label, Text("the sidecar named nothing that supports the answer", style="dim"))
    if sidecar.get("second_answer") is not None:
        texts.add_row("second answer", Text(readable(sidecar["second_answer"])))


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
    return table
