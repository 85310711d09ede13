"""The command `monitor evaluate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monitor.errors import WrongSettings
from monitor.evaluate.figures import Evaluated, Positive
from monitor.retry import Interrupted, Retry
from monitor.settings import Settings, load_settings
from monitor.terminal import AsJson, print_json, stopping

if TYPE_CHECKING:
    from monitor.evaluate.labels import Labelled

DRAWS = 1_000  # resamples behind every interval
PATIENCE = 300.0  # seconds of waiting for a provider before giving up
SUFFIXES = (".html", ".md", ".json")


def evaluate(
    labels: Annotated[list[Path], typer.Argument(help="Labelled JSON Lines, also .gz and .zst; - is standard input.")],
    *,
    profile: Annotated[str | None, typer.Option(help="Name or path, instead of MONITOR_PROFILE.")] = None,
    positive: Annotated[
        Positive, typer.Option(help="negative: by the label. unanswerable: by `answerable`, as in the study.")
    ] = Positive.NEGATIVE,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a page too: FILE.html, FILE.md or FILE.json, or all into a folder."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the resamples behind the intervals.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure the verdicts on labelled answers: ROC and AUC, thresholds, refusals, calibration, all with intervals."""
    from monitor.app import Application
    from monitor.evaluate.labels import read_labels
    from monitor.evaluate.rendering import as_json as to_json
    from monitor.evaluate.rendering import terminal
    from monitor.evaluate.run import assess_all, evaluated, usable
    from monitor.evaluate.tables import Resampling

    targets = _targets(output)
    with stopping() as stop, Application(without_sidecar(profile)) as application:
        rows = read_labels(
            labels,
            decode=application.decoder(dialect="native").decode_batch,
            now=application.now,
            max_message_bytes=application.settings.ingest.max_message_bytes,
        )
        kept = usable(rows, positive)
        retry = Retry(stop=stop, patience=PATIENCE)
        pipeline = application.pipeline
        with progress(kept, stop) as report:
            assessments = assess_all(kept, lambda batch: retry(lambda: pipeline.assess(batch)), report)
    found = evaluated(
        kept,
        assessments,
        profile=pipeline.profile,
        files=labels,
        positive=positive,
        left_out=len(rows) - len(kept),
        resampling=Resampling(draws=DRAWS, seed=seed),
    )
    if as_json:
        print_json(to_json(found))
    else:
        console = Console(highlight=False)
        console.print(terminal(found, console.width))
    for target in targets:
        _write(found, target)


def without_sidecar(profile: str | None) -> Settings:
    """Those in force, but for the profile and without the sidecar, which would need a database for its budget."""
    settings = load_settings() if profile is None else load_settings(profile=profile)
    if settings.sidecar.mode == "off":
        return settings
    sys.stderr.write("the sidecar is not asked: rows without supporting documents get extractive ones\n")
    return settings.model_copy(update={"sidecar": settings.sidecar.model_copy(update={"mode": "off"})})


@contextmanager
def progress(rows: list[Labelled], stop: Event) -> Iterator[Callable[[int], None]]:
    """A function that is told how many rows are assessed; it ends the work when the process is to stop."""
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


def _targets(output: Path | None) -> list[Path]:
    """The files to write.

    Raises:
        WrongSettings: none of these kinds, or in a folder that is not there.
    """
    if output is None:
        return []
    if output.suffix in SUFFIXES and not output.is_dir():
        if not output.parent.is_dir():
            raise WrongSettings(f"{output}: there is no folder {output.parent}")
        return [output]
    if output.suffix and not output.is_dir():
        raise WrongSettings(f"{output}: name a folder, or a file that ends in {', '.join(SUFFIXES)}")
    return [output / f"evaluation{suffix}" for suffix in SUFFIXES]


def _write(found: Evaluated, target: Path) -> None:
    from monitor.evaluate.page import page
    from monitor.evaluate.rendering import as_json, markdown

    match target.suffix:
        case ".html":
            text = page(found)
        case ".md":
            text = markdown(found)
        case _:
            text = json.dumps(as_json(found), ensure_ascii=False, indent=2) + "\n"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WrongSettings(f"cannot write {target}: {error.strerror}") from None
    sys.stderr.write(f"wrote {target}\n")
