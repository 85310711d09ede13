"""`monitor replay`: reads files once and stores every answer."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import Event, Lock
from typing import TextIO

from pydantic_core import from_json

from monitor.app.background.collecting import collecting, finish
from monitor.app.wiring.application import Application
from monitor.core.assessment_json import assessment_json, encode, rejection
from monitor.core.batch import Batch, Tally
from monitor.core.errors import Fatal, WrongSettings
from monitor.core.files import output_file
from monitor.core.model import Verdict
from monitor.core.retry import Interrupted, Retry
from monitor.ingest.files import FileSource
from monitor.ingest.mapping import EventMap
from monitor.store.audit_queue import record_act
from monitor.store.collect.parts import TraceKey
from monitor.store.ledger.positions import replayed

PATIENCE = 300.0  # seconds of waiting for a database or provider before giving up
SHOWN = 10  # rejected lines named at the end

Progress = Callable[[FileSource, Tally], None]


@dataclass(slots=True)
class Unchanged:
    """The answers that are stored under another profile already: replaying them changes no verdict."""

    answers: int = 0
    apps: set[str] = field(default_factory=set)
    first: datetime | None = None
    last: datetime | None = None

    def add(self, app: str, at: datetime) -> None:
        self.answers += 1
        self.apps.add(app)
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)


class Summary:
    """The ledger of the input, the number of answers per verdict, their apps, and the first rejected lines.

    `negative` is the app and the id of the first answer that refuses or is self-generated.

    `collected` messages hold spans, of `traces`, or several turns. `turns` counts what this process stored of them, by
    outcome, duplicates included.
    """

    def __init__(self) -> None:
        self.tally = Tally()
        self.verdicts: Counter[Verdict] = Counter()
        self.negative: tuple[str, str] | None = None
        self.rejected: list[str] = []
        self.unchanged = Unchanged()
        self.other_texts: list[str] = []  # some of the answers whose id is stored with another text
        self.with_other_texts = 0  # all of them
        self.apps: set[str] = set()
        self.collected = 0
        self.traces: set[TraceKey] = set()
        self.turns: Counter[str] = Counter()
        self._ids: set[str] = set()  # of the turns that traces and messages may give

    def add(self, batch: Batch, tally: Tally) -> None:
        """Adds a stored batch; the verdicts count every answer read, duplicates included."""
        self.tally += tally
        self._add_verdicts(batch)
        self.rejected += map(rejection, batch.dead_letters[: SHOWN - len(self.rejected)])
        self.collected += len(batch.collected)
        for one in batch.collected:
            traces = {span.trace_id for span in one.spans} | {record.trace_id for record in one.logs}
            self.traces.update((one.app or "", trace_id) for trace_id in traces)
            self._ids.update(traces, (from_json(event).get("id") for event in one.events))

    def add_turns(self, batch: Batch) -> Batch:
        """Counts our turns in a batch of the inbox, and returns it without any others."""
        own = replace(
            batch,
            assessments=tuple(a for a in batch.assessments if a.interaction.id in self._ids),
            unscored=tuple(it for it in batch.unscored if it.id in self._ids),
        )
        self._add_verdicts(own)
        self.turns.update(assessed=len(own.assessments), unscored=len(own.unscored))
        return own

    def _add_verdicts(self, batch: Batch) -> None:
        self.apps.update(a.interaction.app for a in batch.assessments)
        self.verdicts.update(a.verdict for a in batch.assessments)
        if self.negative is None:
            self.negative = next(
                ((a.interaction.app, a.interaction.id) for a in batch.assessments if a.verdict.negative), None
            )


def replay(
    application: Application,
    files: Sequence[Path],
    *,
    output: Path | None,
    app: str | None,
    dialect: str | None,
    event_map: EventMap | None = None,
    progress: Progress,
    stop: Event,
) -> Summary:
    """Reads every record of `files` once and stores the answers; the traces in them are closed at the end.

    `output` gets one assessment a line, in the order of the input, duplicates included (`-` is standard output).

    Raises:
        WrongSettings: a file or the output cannot be opened; nothing was read.
        OutOfReach, Fatal: a service stayed down or refused; committed batches stay, and a second run skips them.
    """
    if output is not None and output.is_file() and any(file.exists() and file.samefile(output) for file in files):
        raise WrongSettings(f"{output}: is one of the files to read; write the output to another file")
    limit = application.settings.ingest.max_message_bytes
    source = FileSource(files, max_message_bytes=limit, now=application.now)
    summary = Summary()
    writing = Lock()  # turns are written on a thread of their own
    with _writing(output) as out:
        application.prepare()

        def written(batch: Batch, tally: Tally) -> None:
            if batch.collected and not summary.collected:
                beside.enter_context(collecting(application, stop, turns_written))
            with writing:
                _write(out, output, batch)
                summary.add(batch, tally)
            if tally.duplicate:
                wanted = [(a.interaction.app, a.interaction.id) for a in batch.assessments]
                others = application.queries.with_other_texts([a.interaction for a in batch.assessments])
                summary.with_other_texts += len(others)
                summary.other_texts += others[: SHOWN - len(summary.other_texts)]
                for name, at in application.queries.under_other_profiles(wanted, application.assessing.profile.hash):
                    summary.unchanged.add(name, at)
            progress(source, summary.tally)

        def turns_written(batch: Batch, _: Tally) -> None:
            with writing:
                _write(out, output, summary.add_turns(batch))

        with ExitStack() as beside:
            flow = application.flow(
                source,
                app=app,
                dialect=dialect,
                event_map=event_map,
                stop=stop,
                written=written,
                patience=PATIENCE,
            )
            try:
                flow.run()
            finally:
                source.close()
            if summary.collected:
                again = Retry(stop=stop, patience=PATIENCE)
                with suppress(Interrupted):
                    again(lambda: finish(application, summary.traces, stop))
        if source.read_whole and not stop.is_set():
            record_act(
                application.engine, replayed(source.read_whole, summary.apps, summary.tally, at=application.now())
            )
    return summary


def _write(out: TextIO | None, path: Path | None, batch: Batch) -> None:
    if out is None:
        return
    try:
        out.writelines(encode(assessment_json(a)) + "\n" for a in batch.assessments)
        out.flush()
    except OSError as error:  # a full disk, or a pipe that no process reads any more
        name = "standard output" if out is sys.stdout else path
        raise Fatal(
            f"cannot write {name} any more: {error.strerror}\n"
            "the answers read until then are stored; make room, or name another --output, and replay the same files"
        ) from None


@contextmanager
def _writing(path: Path | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
    elif str(path) == "-":
        yield sys.stdout
    else:
        with output_file(path) as file:
            yield file
