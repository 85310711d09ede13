"""The retrieved chunks of one interaction as tables: what became of each, and on request every figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from monitor.assess.explain_chunks import (
    ReadChunk,
    Standing,
    counted_words,
    diagnosed,
    diagnosis_named,
    findings,
    read_chunks,
    summary_words,
    worth_reading_first,
)
from monitor.core.diagnosis import ChunkDiagnosis
from monitor.core.reason_words import DIAGNOSIS_WORDS, diagnosis_name
from monitor.core.text.plain import plural, readable

SHOWN = 8  # chunks in the short table
SHOWN_IN_DETAIL = 40
_BAR = 6  # characters
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LONGEST_ID = 12
_LONGEST_TEXT = 120
_COLOURS = {Standing.KEPT: "green", Standing.NOT_RELEVANT: "dim", Standing.REPEATS: "yellow"}


def diagnosis_line(row: Mapping[str, Any]) -> str | None:
    """The diagnosis by name and in words; None for a row of an earlier release."""
    named = diagnosis_named(row)
    return None if named is None else f"{diagnosis_name(named)}: {DIAGNOSIS_WORDS[named]}"


def chunk_table(row: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The chunks most worth reading, how many others there are, and what is to be known of their order."""
    found = diagnosed(row)
    if found is None:
        return
    chunks = worth_reading_first(read_chunks(row, found))
    if not chunks:
        if row["retrieved_documents"]:
            yield Text("the retrieved documents have no text to read", style="dim")
        return
    yield Text(f"the retrieved documents in {summary_words(chunks)}", style="dim")
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for name in ("chunk", "place", "rank"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("relevance", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("document", no_wrap=True, overflow="ellipsis", max_width=_LONGEST_ID)
    table.add_column("text")  # the one that gives way on a narrow terminal: its cells are cut, not wrapped
    shown = SHOWN if len(chunks) > SHOWN + 1 else len(chunks)  # a line saying "1 more" is as long as the one
    for c in chunks[:shown]:
        table.add_row(*_places(c), _relevance(c, found), _words(c), _document(c), _text(c))
    yield table
    if others := chunks[shown:]:
        yield Text(f"and {len(others):,} more: {counted_words(others)}")
    places = "place: of its document, by the retriever; rank: of the chunk, by words and meaning"
    yield Text(f"{places}; relevant from {found.threshold:.2f}", style="dim")
    for finding in findings(found):
        yield Text(finding)


def chunk_figures(row: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Every figure of the chunks by rank, and of the diagnosis as a whole; nothing for a row of an earlier release."""
    found = diagnosed(row)
    if found is None:
        return
    yield Text("Retrieved chunks by rank: relevance, and what it and the rank are made of", style="bold")
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    names = ("chunk", "place", "rank", "relevance", "BM25", "semantic", "cosine", "TF-IDF")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    ranked = sorted(read_chunks(row, found), key=lambda c: c.chunk.rank)
    for c in ranked[:SHOWN_IN_DETAIL]:
        repeats = c.chunk.repeats
        repeated = ("", "") if repeats is None else map(_figure, (repeats.cosine, repeats.tfidf))
        figures = map(_figure, (c.chunk.relevance, c.chunk.bm25, c.chunk.semantic))
        table.add_row(*_places(c), *figures, *repeated, _words(c))
    yield table
    if others := ranked[SHOWN_IN_DETAIL:]:
        yield Text(f"and {plural(len(others), 'more chunk')}: --json has them all")
    yield from (Text(line) for line in _whole(found))
    yield Text()


def _whole(found: ChunkDiagnosis) -> Iterator[str]:
    tau = "undefined" if found.tau is None else _figure(found.tau)
    used = "none" if found.used_rank is None else str(found.used_rank)
    yield (
        f"threshold {_figure(found.threshold)}, best relevance "
        f"{'none' if found.relevance is None else _figure(found.relevance)}, from {readable(found.by)}"
    )
    lost = "yes" if found.lost_in_the_middle else "no"
    yield (
        f"Kendall's τ of both orders {tau}; place of the first document used {used}; lost in the middle: {lost}; "
        f"{found.examined:.0%} of the text read"
    )


def _places(c: ReadChunk) -> tuple[str, str, str]:
    return str(c.number), str(c.chunk.document + 1), str(c.chunk.rank)


def _relevance(c: ReadChunk, found: ChunkDiagnosis) -> Text:
    """A bar and the figure; the bar of a relevant chunk has its colour."""
    eighths = round(min(max(c.chunk.relevance, 0.0), 1.0) * _BAR * 8)
    bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    colour = "green" if found.relevant(c.chunk) else "red"
    return Text.assemble((bar.ljust(_BAR), colour), f" {_figure(c.chunk.relevance)}")


def _words(c: ReadChunk) -> Text:
    return Text(c.words, style="bold green" if c.chunk.used else _COLOURS[c.standing])


def _document(c: ReadChunk) -> Text:
    return Text(_line("" if c.document_id is None else str(c.document_id)))


def _text(c: ReadChunk) -> Text:
    if c.text is None:
        return Text("no longer stored", style="dim", no_wrap=True, overflow="ellipsis")
    style = "dim" if c.standing is Standing.NOT_RELEVANT else "cyan"
    return Text(_line(c.text[:_LONGEST_TEXT]), style=style, no_wrap=True, overflow="ellipsis")


def _line(text: str) -> str:
    return readable(" ".join(text.split()))


def _figure(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
