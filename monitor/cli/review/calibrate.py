"""The commands `monitor calibrate` and `monitor profiles`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.review.labelled import assessed
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.errors import WrongSettings
from monitor.core.files import output_file
from monitor.core.settings.load import load_settings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.assess.classify.profile import Profile
    from monitor.review.calibrate.gain import Change, Gain
    from monitor.review.calibrate.run import Calibrated

_COMPARED = {
    "log_loss": "log score of the probabilities (0 is perfect, 0.693 a coin toss)",
    "brier": "Brier score of the probabilities (0 is perfect, 0.25 a coin toss)",
    "auc": "AUC",
    "errors": "wrong verdicts",
    "missed": "self-generated answers that are missed",
    "false_alarms": "grounded answers called self-generated",
}
_FIGURES = {
    "auc": "AUC: how often a made-up answer gets a higher probability than another one",
    "precision": "precision: share of the answers called self-generated that are",
    "recall": "recall: share of the self-generated answers that are found",
    "f1": "F1: precision and recall, weighted alike",
    "f2": "F2: recall counts more",
    "flag_everything_f1": "for comparison: F1 of calling every answer self-generated",
    "brier": "Brier score of the probabilities (0 is perfect, 0.25 is a coin toss)",
    "ece": "calibration error: mean gap between probability and observed share (10 bins)",
}


def calibrate(
    labels: Annotated[list[Path], typer.Argument(help="Labelled JSON Lines, also .gz and .zst; - is standard input.")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Profile file to write; set MONITOR_PROFILE to use it.")],
    objective: Annotated[
        str, typer.Option(help="What the threshold maximises: f1, f2, or recall@0.9 (recall at that precision).")
    ] = "f1",
    name: Annotated[str | None, typer.Option(help="Name of the profile; default: the file's.")] = None,
    profile: Annotated[str | None, typer.Option(help="Profile to start from; default: MONITOR_PROFILE.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the folds and the resamples.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Fit your own profile to labelled answers.

    About 200 of them make its probabilities reliable. Exits with 1 if it is not better on held-out answers than the
    profile it starts from: then do not use it.
    """
    from monitor.assess.classify.profile import LONGEST_NAME
    from monitor.review.calibrate.profile_file import profile_toml
    from monitor.review.calibrate.run import calibrated, objective_of

    objective_of(objective)
    name = name or out.stem
    if len(name) > LONGEST_NAME:
        raise WrongSettings(f"a profile's name has at most {LONGEST_NAME} characters: choose one with --name")
    if out.exists() and not force:
        raise WrongSettings(f"{out} exists already: choose another name, or --force to overwrite it")
    if not out.parent.is_dir():
        raise WrongSettings(f"{out}: folder {out.parent} does not exist")
    with output_file(out) as file:  # made first, so that a folder that cannot be written to costs nobody the wait
        made = assessed(labels, profile)
        found = calibrated(
            made.rows,
            made.assessments,
            start=made.profile,
            name=name,
            objective=objective,
            detector_model=made.detector,
            seed=seed,
        )
        file.write(profile_toml(found.profile))
    if as_json:
        figures = found.profile.calibration.model_dump() if found.profile.calibration else {}
        print_json(
            {
                "profile": found.profile.name,
                "hash": found.profile.hash,
                "left_out": found.left_out,
                **figures,
                **found.gain.as_json(),
            }
        )
    else:
        _print_calibrated(found)
        _print_gain(found.gain, made.profile)
    why = found.gain.against(readable(made.profile.name))
    if why is None:
        sys.stderr.write(f"wrote {out}; set MONITOR_PROFILE={out} to use it\n")
        return
    sys.stderr.write(f"wrote {out}, but do not use it: on held-out answers it {why}; more labels may help\n")
    raise typer.Exit(1)


def profiles(
    name: Annotated[
        str | None, typer.Argument(help="Name or path of a profile to show with its weights and figures.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the shipped profiles, those of earlier releases and the configured one, or show one of them."""
    from monitor.assess.classify.profile import earlier_profiles, read_profile, shipped_profiles

    if name is not None:
        found = read_profile(name)
        if as_json:
            print_json({"hash": found.hash, **found.model_dump(mode="json")})
        else:
            _show(found)
        return
    configured = load_settings().profile
    earlier = earlier_profiles()
    names = [*shipped_profiles(), *earlier]
    if configured is not None and configured not in names:
        names.append(configured)
    rows = {known: read_profile(known) for known in names}
    if as_json:
        print_json(
            [
                {
                    "name": key,
                    "hash": p.hash,
                    "embedding_model": p.embedding_model,
                    "token_model": p.token_model,
                    "calibrated": p.calibrated,
                    "note": p.note,
                    "configured": key == configured,
                    "earlier": key in earlier,
                }
                for key, p in rows.items()
            ]
        )
        return
    table = Table(box=None)
    for heading in ("profile", "hash", "for the embedding model", "calibrated"):
        table.add_column(heading, no_wrap=heading != "profile", overflow="fold")
    for key, p in rows.items():
        state = f"on {p.calibration.rows:,} labels" if p.calibration else "not for your app"
        told = " (earlier)" if key in earlier else ""
        told += " (MONITOR_PROFILE)" if key == configured else ""
        table.add_row(literal(key) + told, p.hash[:8], literal(p.embedding_model), state)
    console = Console(highlight=False)
    console.print(table)
    if configured is not None:  # its note says whether `calibrate` advised against it
        console.print(f"{literal(configured)}: {literal(rows[configured].note)}", soft_wrap=True)


def _print_calibrated(found: Calibrated) -> None:
    if found.left_out:
        Console(highlight=False).print(
            f"{found.left_out:,} answers refuse or have no documents, so groundedness cannot be fitted to them"
        )
    _show(found.profile)
    # The width of an interval falls with the root of the number of answers, so half the width takes four times as many.
    more = 3 * len(found.rows.made_up)
    Console(highlight=False).print(f"about {more:,} more usable answers would halve the width of the intervals")


def _print_gain(found: Gain, start: Profile) -> None:
    console = Console(highlight=False)
    table = Table(title=f"{literal(start.name)} against it, on the same held-out answers", title_justify="left")
    for heading in ("", "before", "after", "difference (95% interval)"):
        table.add_column(heading, justify="right" if heading else "left")
    for key, words in _COMPARED.items():
        table.add_row(words, *_change(found.changes[key]))
    for one in found.apps:
        table.add_row(f"wrong verdicts of {literal(one.app)} ({one.answers:,} answers)", *_change(one.errors))
    console.print(table)
    if start.calibration is not None:
        console.print(f"{literal(start.name)} was calibrated too: where it has seen these labels, it looks too good")


def _change(change: Change) -> tuple[str, str, str]:
    before, after = ("–" if value is None else f"{value:.3f}" for value in (change.before, change.after))
    if change.low is None or change.high is None or change.before is None or change.after is None:
        return before, after, "–"
    return before, after, f"{change.after - change.before:+.3f} ({change.low:+.3f} – {change.high:+.3f})"


def _show(profile: Profile) -> None:
    made, console = profile.calibration, Console(highlight=False)
    console.print(f"{literal(profile.name)} ({profile.hash}): {literal(profile.note)}")
    weights = Table(title="weights in the probability of self-generated", title_justify="left")
    for heading in ("feature", "weight", "AUC lost without it"):
        weights.add_column(heading, justify="left" if heading == "feature" else "right")
    features = profile.groundedness.features
    for feature in sorted(features, key=lambda f: -abs(features[f].weight)):
        lost = f"{made.importance.get(feature, 0):.3f}" if made else "–"
        weights.add_row(feature, f"{features[feature].weight:+.2f}", lost)
    console.print(weights)
    console.print(f"an answer is self-generated from a probability of {profile.groundedness.threshold:.2f}")
    if made is None:
        return
    console.print(
        f"{made.rows:,} labelled answers from {made.groups:,} sources: {made.self_generated:,} self-generated, "
        f"{made.refusals:,} refusals"
    )
    table = Table(title="measured on held-out answers (5 folds, sources kept together)", title_justify="left")
    for heading in ("", "figure", "95% interval"):
        table.add_column(heading, justify="left" if not heading else "right")
    for key, words in _FIGURES.items():
        if key in made.figures:
            low_high = made.intervals.get(key)
            interval = f"{low_high[0]:.3f} – {low_high[1]:.3f}" if low_high else ""
            table.add_row(words, f"{made.figures[key]:.3f}", interval)
    console.print(table)
