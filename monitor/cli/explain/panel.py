"""One interaction as a panel for a terminal of 80 columns or more: what to conclude first, then the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from monitor.assess.classify.refusal import Role
from monitor.assess.explain import (
    COLOURS,
    Carried,
    ReadSentence,
    advice,
    carrying_summary,
    certainty,
    compared,
    judge_words,
    refusal_words,
    revised_by,
    sentences,
)
from monitor.assess.judge.judgement_text import judgement_text
from monitor.assess.reference import ranked_in
from monitor.cli.explain.chunks import chunk_table, diagnosis_line
from monitor.cli.explain.read_as import read_as_lines
from monitor.core.evidence import AlignedSentence
from monitor.core.model import Mark, Match, Origin, Reason, Verdict
from monitor.core.reason_words import REASON_WORDS
from monitor.core.text.plain import readable

LONGEST_PASSAGE = 240  # characters shown of a passage
_CARRIED_WORDS = {
    Carried.CARRIED: ("supported by", "green"),
    Carried.PARTLY: ("partly supported by", "yellow"),
    Carried.NOT: ("not supported; the nearest passage is", "red"),
}
_ORIGIN_WORDS = {
    Origin.LOGGED: "as the chatbot logged it",
    Origin.SIDECAR: "as the sidecar named it",
    Origin.EXTRACTIVE: "extractive: the documents' sentences nearest to the answer",
}
_MARKS: Mapping[str, str] = {
    Mark.TEXT_REPLACED: "characters that PostgreSQL cannot store were replaced",
    Mark.TIME_DEFAULTED: "the event has no time: the time of receipt is used",
    Mark.TIME_OUT_OF_RANGE: "its time is far in the past or future",
    Mark.REDACTED: "personal data was replaced before it was stored",
    Mark.ERASED: "its texts were erased",
}
_UNCALIBRATED = "uncalibrated for this app: use the percentages to compare answers, not as rates of being right"


def explanation(
    row: Mapping[str, Any],
    judgements: Sequence[Mapping[str, Any]] = (),
    trace_url: str | None = None,
    feedback: Mapping[str, Any] | None = None,
) -> RenderableType:
    """One row of `AssessmentQueries.with_assessments`, with its rows of `AssessmentQueries.judgements`.

    `trace_url` is the address of its trace in the team's own tool, `feedback` what `feedback_on` has of its user.
    """
    profile = f"profile {row['profile_name']} ({row['profile_hash'][:8]})"
    if not row.get("live", True):
        profile += ", a rescore that no alert counts"
    return Panel(
        Group(
            _verdict(row),
            _conclusion(row, trace_url, feedback),
            _question(row),
            _answer(row),
            _support(row["support"]),
            *chunk_table(row),
            *judgement_table(judgements),
        ),
        title=title(row),
        title_align="left",
        subtitle=Text(readable(profile), style="dim"),
        subtitle_align="left",
    )


def title(row: Mapping[str, Any]) -> Text:
    """App, id and time."""
    return Text.assemble(
        readable(row["app"]), " / ", (readable(row["id"]), "bold"), f"  {row['occurred_at']:%Y-%m-%d %H:%M:%S} UTC"
    )


def labelled_rows() -> Table:
    """An empty table whose first column names the second."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=len("second answer"))
    table.add_column(overflow="fold")
    return table


def _verdict(row: Mapping[str, Any]) -> Text:
    verdict = row["verdict"]
    others = ", ".join(f"{_dashed(v)} {row[f'p_{v}']:.0%}" for v in Verdict if v != verdict)
    head = Text.assemble(
        (_dashed(verdict), f"bold {COLOURS[verdict]}"), f", {certainty(row)}: {row[f'p_{verdict}']:.0%} ({others})"
    )
    if row["uncalibrated"]:
        head.append(f"\n{_UNCALIBRATED}", "dim")
    return head


def _conclusion(row: Mapping[str, Any], trace_url: str | None, feedback: Mapping[str, Any] | None) -> Table:
    """Why this verdict, what the documents support, and where to look next."""
    table, colour = labelled_rows(), COLOURS[row["verdict"]]
    for number, reason in enumerate(row["reasons"]):
        table.add_row("" if number else "why", Text(REASON_WORDS[Reason(reason)], style=colour))
    if words := refusal_words(row):
        table.add_row("refusal", Text(words))
    if words := diagnosis_line(row):
        table.add_row("diagnosis", Text(words))
    for number, line in enumerate(carrying_summary(sentences(row))):
        table.add_row("" if number else "evidence", Text(readable(line)))
    table.add_row("rank", Text(readable(ranked_in(row))))
    if words := judge_words(row):
        table.add_row("judge", Text(readable(words)))
    if feedback:
        comment = f": {_short(feedback['comment'])}" if feedback["comment"] else ""
        table.add_row("user", Text(readable(f"thumb {feedback['thumb']}{comment}")))
    table.add_row("next", Text(advice(row), style="bold"))
    if trace_url:
        table.add_row("trace", Text(readable(trace_url)))
    if row.get("earlier"):
        before, when = _dashed(row["earlier"]["verdict"]), row["revised_at"]
        table.add_row("revised", Text(f"{before} until {when:%Y-%m-%d %H:%M} UTC, when {revised_by(row)}"))
    if row.get("marks"):
        table.add_row("marks", Text("; ".join(_MARKS.get(mark, mark) for mark in row["marks"])))
    return table


def _question(row: Mapping[str, Any]) -> Table:
    table = labelled_rows()
    erased = Mark.ERASED in (row.get("marks") or ())
    table.add_row("question", Text("erased", style="dim") if erased else Text(readable(row["question"])))
    for label, words in read_as_lines(row):
        table.add_row(label, Text(readable(words)))
    if not row["answer"].strip():
        table.add_row("answer", Text("erased" if erased else "empty", style="dim"))
    return table


def _answer(row: Mapping[str, Any]) -> Group:
    """Each sentence with its number, and below it what supports it or what it does."""
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    found = sentences(row)
    if not found:
        return Group()
    only_polite = not any(s.role is Role.CONTENT for s in found)
    for number, s in enumerate(found, 1):
        table.add_row(str(number), _marked(row["answer"], s))
        for line in findings(row, s, only_polite=only_polite):
            table.add_row("", line)
    heading = "the answer, sentence by sentence"
    if not compared(row):
        heading += ": not compared with the documents, as an earlier release assessed it"
    if (share := (row["evidence"] or {}).get("compared", 1.0)) < 1:
        heading += f": compared with {share:.0%} of the documents, as the texts are too long"
    return Group(Text(heading, style="dim"), table)


def _marked(answer: str, s: ReadSentence) -> Text:
    """The sentence with missing facts and refusing words marked."""
    text = Text(readable(answer[s.start : s.end]), style="bold" if s.role is Role.CONTENT else "")
    if s.contradicted:
        text.stylize("red")
    for fact in s.missing:
        text.stylize("red reverse", fact.start - s.start, fact.end - s.start)
    if s.cue is not None:
        text.stylize("yellow underline", s.cue[0] - s.start, s.cue[1] - s.start)
    return text


def findings(row: Mapping[str, Any], s: ReadSentence, *, only_polite: bool) -> Iterator[Text]:
    """What was found about one sentence. If `only_polite`, no sentence states anything and all were judged."""
    if s.cue is not None:
        cue = " as a whole" if s.cue == (s.start, s.end) else f": “{_short(row['answer'][slice(*s.cue)])}”"
        yield Text(readable(f"refuses{cue}"), style="yellow")
        return
    if s.role is not Role.CONTENT:
        yield Text(f"{s.role}, {'but the answer says nothing else' if only_polite else 'not judged'}", style="dim")
    if s.pair is not None:
        yield _carrying(s.pair, s.passage)
    elif compared(row) and s.role is Role.CONTENT:
        why = "it has no word to compare" if row["retrieved_documents"] else "nothing was retrieved to compare it with"
        yield Text(why, style="dim")
    if s.missing:
        facts = ", ".join(f"{fact.kind} “{fact.text}”" for fact in s.missing)
        yield Text(readable(f"in no document: {facts}"), style="red")


def _carrying(pair: AlignedSentence, passage: str | None) -> Text:
    words, colour = ("contradicted by", "red") if pair.contradicts else _CARRIED_WORDS[Carried.by(pair.score)]
    line = Text.assemble((words, colour), (readable(f" [{pair.document_id}] "), "dim"))
    if passage is None:
        return line.append("(the passage is no longer stored)", "dim")
    return line.append(readable(f"“{_short(passage)}”"), "cyan")


def _short(text: str) -> str:
    """`text` on one line, cut between words if it is long."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_PASSAGE:
        return line
    head = line[:LONGEST_PASSAGE]
    return f"{head[: head.rfind(' ')] if ' ' in head[LONGEST_PASSAGE // 2 :] else head} …"


def _support(support: Mapping[str, Any]) -> Table:
    table = labelled_rows()
    label = "support"
    for piece in support["documents"]:
        where = f"[{piece['document_id']}]" if piece["start"] is not None else "[not from the documents]"
        if piece.get("match") == Match.FUZZY:
            where = f"[{piece['document_id']}, nearly]"
        if piece.get("cut_short"):
            where = "[not found; the search was cut short, as the texts are too long]"
        table.add_row(label, Text.assemble(readable(piece["text"]), (readable(f"  {where}"), "dim")))
        label = ""
    if support["documents"]:
        table.add_row(label, Text(_ORIGIN_WORDS[Origin(support["origin"])], style="dim"))
    if stands_in := support.get("stands_in"):
        later = "; monitor will ask it again" if stands_in["queued"] else ""
        why = f"the sidecar did not answer: {stands_in['because']}{later}"
        table.add_row(label, Text(readable(why), style="yellow"))
    sidecar = support.get("sidecar") or {}
    if sidecar and not support["documents"]:
        table.add_row(label, Text("the sidecar named nothing that supports the answer", style="dim"))
    if sidecar.get("second_answer") is not None:
        table.add_row("second answer", Text(readable(sidecar["second_answer"])))
    return table


def judgement_table(judgements: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """The newest judgement of each metric, with what spoke against a full score; nothing without judgements."""
    latest = {row["metric"]: row for row in reversed(judgements)}
    if not latest:
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, row in sorted(latest.items()):
        score = "–" if row["score"] is None else f"{row['score']:.2f}"
        table.add_row(name.replace("_", " "), score, Text(readable(judgement_text(row)), style="dim"))
    model = next(iter(latest.values()))["model"]
    yield Text.assemble("judged by ", readable(model), ", 1.00 is best", style="bold")
    yield table


def _dashed(verdict: str) -> str:
    return verdict.replace("_", "-")
