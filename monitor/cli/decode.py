"""The command `monitor decode`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from monitor.cli.terminal import AppOfEvents, Dialect, Map, plural
from monitor.core.model import Unscored
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_OF_ONE
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.decode import Reading

_SHOWN_CHARS = 400  # of a text in a panel
_SHOWN_DOCUMENTS = 10
_SHOWN_PROBLEMS = 20
_PAGE = "`monitor docs start/traces`"


def decode(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Events or traces: JSON Lines, OTLP bodies, the Collector's files, CSV; - is standard input."
        ),
    ],
    *,
    dialect: Dialect = None,
    places: Map = None,
    app_name: AppOfEvents = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a native event a line.")] = False,
) -> None:
    """Show what would be read from files: each interaction, or why there is none. Stores nothing.

    Several files are read together, since a trace may be spread over them.
    """
    from monitor.app.decode import decode_files
    from monitor.app.wiring.application import utc_now
    from monitor.core.settings.load import load_settings
    from monitor.ingest.mapping import event_map

    reading = decode_files(
        files, load_settings(), dialect=dialect, app=app_name, event_map=event_map(places or ()), now=utc_now
    )
    if as_json:
        for event in reading.events:
            sys.stdout.write(json.dumps(event, ensure_ascii=False) + "\n")
    else:
        console = Console()
        for event in reading.events:
            console.print(_panel(event))
    _print_rest(reading)
    if reading.rejected:
        raise typer.Exit(1)


def _panel(event: dict[str, Any]) -> Panel:
    documents = event.get("retrieved_documents")
    lines = [_line("question", event.get("question"))]
    if documents is None:
        lines.append(_line("documents", None))
    for number, document in enumerate((documents or [])[:_SHOWN_DOCUMENTS], start=1):
        score = "" if document.get("score") is None else f" ({document['score']:.3g})"
        lines.append(_line(f"document {number}", document.get("text"), f"{document.get('id') or 'no id'}{score}  "))
    if documents is not None and len(documents) > _SHOWN_DOCUMENTS:
        lines.append(Text(f"             and {len(documents) - _SHOWN_DOCUMENTS} more", style="dim"))
    lines.append(_line("answer", event.get("answer")))
    facts = [
        f"{name} {event[key]}"
        for name, key in (("app", "app"), ("model", "model"), ("conversation", "conversation_id"))
        if event.get(key)
    ]
    if event.get("latency_ms") is not None:
        facts.append(f"{event['latency_ms'] / 1000:.3g} s")
    usage = event.get("usage") or {}
    if usage:
        facts.append(f"{usage.get('input') or 0} + {usage.get('output') or 0} tokens")
    lines.append(Text(readable(" · ".join(facts)), style="dim"))
    if unscored := event.get("unscored"):
        reason = Unscored(unscored)
        said = f"no scores: the turn {UNSCORED_OF_ONE[reason]}; {UNSCORED_ADVICE[reason]} ({_PAGE})"
        lines.append(Text(said, style="yellow"))
    return Panel(Group(*lines), title=Text(readable(str(event["id"]))), title_align="left")


def _line(name: str, text: str | None, before: str = "") -> Text:
    line = Text(f"{name:<13}", style="bold")
    if text is None:
        return line.append(f"{readable(before)}not known", style="dim not bold")
    shown = readable(" ".join(text.split()))
    line.append(readable(before), style="cyan not bold")
    return line.append(shown if len(shown) <= _SHOWN_CHARS else shown[:_SHOWN_CHARS] + "…", style="not bold")


def _print_rest(reading: Reading) -> None:
    """Says on standard error what gave no event, and why."""
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    unscored = sum(1 for event in reading.events if event.get("unscored"))
    summary = plural(len(reading.events), "interaction")
    summary += f", {unscored} of them without scores" if unscored else ""
    err.print(summary + (f", and feedback on {plural(reading.feedback, 'answer')}" if reading.feedback else ""))
    if len(reading.without_turn) <= _SHOWN_PROBLEMS:
        for none in reading.without_turn:
            err.print(f"  trace {none.trace_id}: no interaction, {none.because}", style="dim", markup=False)
    else:
        for because, number in Counter(none.because for none in reading.without_turn).most_common():
            err.print(f"  {plural(number, 'trace')} without interaction: {because}", style="dim", markup=False)
    for line in reading.rejected[:_SHOWN_PROBLEMS]:
        err.print(f"  rejected {readable(line)}", style="yellow", markup=False)
    if (more := len(reading.rejected) - _SHOWN_PROBLEMS) > 0:
        err.print(f"  and {more} more rejected", style="yellow")
    if reading.wrong_parts:
        err.print(f"  left out as wrong: {reading.wrong_parts} of the spans and log records", style="yellow")
    if not (reading.events or reading.feedback or reading.without_turn or reading.rejected):
        err.print("the files hold no event and no span")
