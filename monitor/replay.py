"""`monitor replay`: files through the whole flow, once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TextIO

from monitor.app import Application
from monitor.errors import WrongSettings
from monitor.ingest.files import FileSource
from monitor.model import Batch, DeadLetter, Tally
from monitor.retry import Retry
from monitor.stages import Stages
from monitor.wire import assessment_json, encode

PATIENCE = 300.0  # seconds of waiting for a database or provider before giving up
SHOWN = 10  # rejected lines that are named at the end

Progress = Callable[[FileSource, Tally], None]


class Rejected:
    """The first few dead letters, for the summary."""

    def __init__(self) -> None:
        self.first: list[DeadLetter] = []

    def add(self, letters: Sequence[DeadLetter]) -> None:
        """Keeps what still has room."""
        self.first.extend(letters[: SHOWN - len(self.first)])

    def lines(self) -> list[str]:
        """One line each: `file:line: path: problem`."""
        return [
            f"{letter.message.position.topic}:{letter.message.position.offset}: {letter.path}: {letter.problem}"
            for letter in self.first
        ]


def replay(
    application: Application,
    files: Sequence[Path],
    *,
    output: Path | None,
    app: str | None,
    dialect: str | None,
    progress: Progress,
    stop: Event,
) -> tuple[Tally, Rejected]:
    """Reads every line of `files` once and stores what it becomes; returns the ledger and what was rejected.

    `output` gets one assessment a line, in the order of the input, duplicates included (`-` is standard output).

    Raises:
        WrongSettings: a file or the output cannot be opened; nothing was read then.
        OutOfReach, Fatal: a service stayed away or refused; what was committed stays, and a second run skips it.
    """
    if output is not None and output.is_file() and any(file.exists() and file.samefile(output) for file in files):
        raise WrongSettings(f"{output}: is one of the files to read; write the output to another one")
    settings = application.settings.ingest
    source = FileSource(files, max_message_bytes=settings.max_message_bytes, now=application.now)
    rejected, total = Rejected(), Tally()
    with _writing(output) as out:
        application.migrate()
        application.queries.keep_profile(application.profile, application.now())

        def written(batch: Batch, tally: Tally) -> None:
            nonlocal total
            if out is not None:
                out.writelines(encode(assessment_json(a)) + "\n" for a in batch.assessments)
            rejected.add(batch.dead_letters)
            total += tally
            progress(source, total)

        try:
            return Stages(
                source=source,
                decode=application.decoder(app=app, dialect=dialect).decode_batch,
                assess=application.pipeline.assess,
                store=application.store,
                retry=Retry(stop=stop, patience=PATIENCE),
                stop=stop,
                written=written,
                batch_messages=settings.batch_events,
                batch_bytes=settings.batch_bytes,
                poll_seconds=settings.batch_ms / 1000,
            ).run(), rejected
        finally:
            source.close()


@contextmanager
def _writing(path: Path | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
    elif str(path) == "-":
        yield sys.stdout
    else:
        try:
            file = path.open("w", encoding="utf-8")
        except OSError as error:
            raise WrongSettings(f"cannot write {path}: {error.strerror}") from None
        with file:
            yield file
