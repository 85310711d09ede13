"""Reads labelled files and assesses their rows, for `evaluate` and `calibrate`, with a progress line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monitor.cli.opening import opened
from monitor.cli.terminal import stopping
from monitor.core.retry import Interrupted, Retry
from monitor.core.settings.load import Settings, load_settings

if TYPE_CHECKING:
    from monitor.assess.classify.profile import Profile
    from monitor.core.model import Assessment
    from monitor.review.evaluate.labels import Labelled

PATIENCE = 300.0  # seconds of waiting for a provider before giving up


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """Labelled rows with one assessment each. `left_out` rows were read and dropped; `detector` is its model's name."""

    rows: Sequence[Labelled]
    assessments: Sequence[Assessment]
    left_out: int
    profile: Profile
    detector: str | None


def assessed(
    labels: Sequence[Path],
    profile: str | None,
    *,
    keep: Callable[[list[Labelled]], list[Labelled]] = lambda rows: rows,
) -> Assessed:
    """Assesses the rows of the files that `keep` returns, under the profile, without a database.

    Raises:
        WrongSettings: a file or the profile cannot be used.
    """
    from monitor.review.evaluate.labels import read_labels
    from monitor.review.evaluate.run import assess_all

    with stopping() as stop, opened(_without_sidecar(profile), migrated=False) as application:
        rows = read_labels(
            labels,
            decode=application.decoder(dialect="native").decode_batch,
            now=application.now,
            max_message_bytes=application.settings.ingest.max_message_bytes,
        )
        kept = keep(rows)
        retry = Retry(stop=stop, patience=PATIENCE)
        pipeline = application.assessing.pipeline
        with _progress(kept, stop) as report:
            assessments = assess_all(kept, lambda batch: retry(lambda: pipeline.assess(batch)), report)
        return Assessed(
            rows=kept,
            assessments=assessments,
            left_out=len(rows) - len(kept),
            profile=pipeline.profile,
            detector=None if pipeline.detector is None else pipeline.detector.model,
        )


def _without_sidecar(profile: str | None) -> Settings:
    """The settings in force with this profile and without the sidecar, whose budget needs a database."""
    settings = load_settings() if profile is None else load_settings(profile=profile)
    if settings.sidecar.mode == "off":
        return settings
    sys.stderr.write("the sidecar is not asked: rows without supporting documents get extractive ones\n")
    return settings.model_copy(update={"sidecar": settings.sidecar.model_copy(update={"mode": "off"})})


@contextmanager
def _progress(rows: list[Labelled], stop: Event) -> Iterator[Callable[[int], None]]:
    """Yields a function that shows how many rows are assessed, and ends the work once `stop` is set."""
    with Progress(
        TextColumn("assessing"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    ) as bar:
        task = bar.add_task("assessing", total=len(rows))

        def report(done: int) -> None:
            bar.update(task, completed=done)
            if stop.is_set():
                raise Interrupted("stopped before the end; nothing was written")

        yield report
