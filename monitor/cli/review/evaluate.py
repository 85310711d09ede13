"""The command `monitor evaluate`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from monitor.cli.review.labelled import assessed
from monitor.cli.terminal import AsJson, print_json
from monitor.core.errors import WrongSettings
from monitor.review.evaluate.figures import Evaluated, Positive

DRAWS = 1_000  # resamples behind every interval
SUFFIXES = (".html", ".md", ".json")


def evaluate(
    labels: Annotated[list[Path], typer.Argument(help="Labelled JSON Lines, also .gz and .zst; - is standard input.")],
    *,
    profile: Annotated[str | None, typer.Option(help="Profile, by name or path; default: MONITOR_PROFILE.")] = None,
    positive: Annotated[
        Positive,
        typer.Option(help="What counts as positive: a negative label, or an unanswerable question as in the study."),
    ] = Positive.NEGATIVE,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write FILE.html, FILE.md or FILE.json, or all three into a folder."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples behind the intervals.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure the verdicts on labelled answers: ROC, AUC, thresholds, refusals and calibration, with intervals."""
    from monitor.cli.review.evaluation import terminal
    from monitor.review.evaluate.formats import as_json as to_json
    from monitor.review.evaluate.run import evaluated, usable
    from monitor.review.evaluate.tables import Resampling

    targets = _targets(output)
    made = assessed(labels, profile, keep=lambda rows: usable(rows, positive))
    found = evaluated(
        made.rows,
        made.assessments,
        profile=made.profile,
        files=labels,
        positive=positive,
        left_out=made.left_out,
        resampling=Resampling(draws=DRAWS, seed=seed),
    )
    if as_json:
        print_json(to_json(found))
    else:
        console = Console(highlight=False)
        console.print(terminal(found, console.width))
    for target in targets:
        _write(found, target)


def _targets(output: Path | None) -> list[Path]:
    """The files to write.

    Raises:
        WrongSettings: a file of another kind, or in a folder that does not exist.
    """
    if output is None:
        return []
    if output.suffix in SUFFIXES and not output.is_dir():
        if not output.parent.is_dir():
            raise WrongSettings(f"{output}: folder {output.parent} does not exist")
        return [output]
    if output.suffix and not output.is_dir():
        raise WrongSettings(f"{output}: give a folder, or a file that ends in {', '.join(SUFFIXES)}")
    return [output / f"evaluation{suffix}" for suffix in SUFFIXES]


def _write(found: Evaluated, target: Path) -> None:
    from monitor.review.evaluate.formats import as_json, markdown
    from monitor.review.evaluate.page import page

    match target.suffix:
        case ".html":
            from monitor.report.charts.drawing import evaluation_chart

            text = page(found, evaluation_chart)
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
