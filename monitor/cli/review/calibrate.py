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
from monitor.core.settings.load import load_settings

if TYPE_CHECKING:
    from monitor.assess.classify.profile import Profile
    from monitor.review.calibrate.run import Calibrated

_FIGURES = {
    "auc": "AUC: an answer that is made up gets a higher probability than one that is not",
    "precision": "precision: of the answers called self-generated, how many are",
    "recall": "recall: of the self-generated answers, how many are found",
    "f1": "F1 of the two",
    "f2": "F2, recall counts more",
    "flag_everything_f1": "F1 of calling every answer self-generated, to compare",
    "brier": "Brier score of the probabilities (0 is perfect, .25 says nothing)",
    "ece": "calibration error: how far probabilities are from what comes true (10 bins)",
}


def calibrate(
    labels: Annotated[list[Path], typer.Argument(help="Labelled JSON Lines, also .gz and .zst; - is standard input.")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The profile to write; set MONITOR_PROFILE to it.")],
    objective: Annotated[
        str, typer.Option(help="What the threshold is best for: f1, f2, or recall@0.9 (recall at that precision).")
    ] = "f1",
    name: Annotated[str | None, typer.Option(help="Of the profile; default: the file's.")] = None,
    profile: Annotated[str | None, typer.Option(help="To start from, instead of MONITOR_PROFILE.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the folds and the resamples.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Fit a profile of your own to labelled answers; some 200 of them make its probabilities hold."""
    from monitor.assess.classify.profile import LONGEST_NAME
    from monitor.review.calibrate.profile_file import profile_toml
    from monitor.review.calibrate.run import calibrated, objective_of

    objective_of(objective)
    name = name or out.stem
    if len(name) > LONGEST_NAME:
        raise WrongSettings(f"a profile's name has {LONGEST_NAME} characters at most: choose one with --name")
    if out.exists() and not force:
        raise WrongSettings(f"{out} is there already: choose another name, or --force to write over it")
    if not out.parent.is_dir():
        raise WrongSettings(f"{out}: there is no folder {out.parent}")
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
    try:
        out.write_text(profile_toml(found.profile), encoding="utf-8")
    except OSError as error:
        raise WrongSettings(f"cannot write {out}: {error.strerror}") from None
    if as_json:
        print_json({"profile": found.profile.name, "hash": found.profile.hash, "left_out": found.left_out,
                    **(found.profile.calibration.model_dump() if found.profile.calibration else {})})  # fmt: skip
    else:
        _print(found)
    sys.stderr.write(f"wrote {out}: to use it, set MONITOR_PROFILE={out}\n")


def profiles(
    name: Annotated[
        str | None, typer.Argument(help="Name or path: show this one with its weights and figures.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the profiles that ship and the configured one, or show one."""
    from monitor.assess.classify.profile import read_profile, shipped_profiles

    if name is not None:
        found = read_profile(name)
        if as_json:
            print_json({"hash": found.hash, **found.model_dump(mode="json")})
        else:
            _show(found)
        return
    configured = load_settings().profile
    names = shipped_profiles()
    if configured is not None and configured not in names:
        names.append(configured)
    rows = {known: read_profile(known) for known in names}
    if as_json:
        print_json(
            [
                {"name": key, "hash": p.hash, "embedding_model": p.embedding_model, "token_model": p.token_model,
                 "calibrated": p.calibrated, "configured": key == configured}
                for key, p in rows.items()
            ]
        )  # fmt: skip
        return
    table = Table(box=None)
    for heading in ("profile", "hash", "for the embedding model", "calibrated"):
        table.add_column(heading, no_wrap=heading != "profile", overflow="fold")
    for key, p in rows.items():
        state = f"on {p.calibration.rows:,} labels" if p.calibration else "not for your app"
        chosen = " (MONITOR_PROFILE)" if key == configured else ""
        table.add_row(literal(key) + chosen, p.hash[:8], literal(p.embedding_model), state)
    Console(highlight=False).print(table)


def _print(found: Calibrated) -> None:
    if found.left_out:
        Console(highlight=False).print(
            f"{found.left_out:,} answers refuse or have no documents: no use for groundedness"
        )
    _show(found.profile)
    # An interval is as wide as one over the root of the number of sources.
    more = 3 * len(found.rows.made_up)
    Console(highlight=False).print(
        f"about {more:,} more answers that can be used would make the intervals half as wide"
    )


def _show(profile: Profile) -> None:
    made, console = profile.calibration, Console(highlight=False)
    console.print(f"{literal(profile.name)} ({profile.hash}): {literal(profile.note)}")
    weights = Table(title="what moves the probability of self-generated", title_justify="left")
    for heading in ("feature", "weight", "AUC lost without it"):
        weights.add_column(heading, justify="left" if heading == "feature" else "right")
    features = profile.groundedness.features
    for feature in sorted(features, key=lambda f: -abs(features[f].weight)):
        lost = f"{made.importance.get(feature, 0):.3f}" if made else "–"
        weights.add_row(feature, f"{features[feature].weight:+.2f}", lost)
    console.print(weights)
    console.print(f"self-generated from a probability of {profile.groundedness.threshold:.2f} on")
    if made is None:
        return
    console.print(
        f"{made.rows:,} labelled answers from {made.groups:,} sources: {made.self_generated:,} self-generated, "
        f"{made.refusals:,} refusals"
    )
    table = Table(title="judged by profiles fitted without them (5 folds, sources kept together)", title_justify="left")
    for heading in ("", "figure", "95 %"):
        table.add_column(heading, justify="left" if not heading else "right")
    for key, words in _FIGURES.items():
        if key in made.figures:
            low_high = made.intervals.get(key)
            interval = f"{low_high[0]:.3f} – {low_high[1]:.3f}" if low_high else ""
            table.add_row(words, f"{made.figures[key]:.3f}", interval)
    console.print(table)
