"""What the pages of probes show: each probe's newest figures with their course, and the figures of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from markupsafe import Markup

from monitor.privacy.masking import redact
from monitor.probe.figures import Mean, RunFigures
from monitor.probe.result import ProbeRun
from monitor.report.charts.drawing import for_every_width
from monitor.report.charts.probes import WIDTH, ScorePoint, scores_chart
from monitor.web.base.escape import escape_invisible
from monitor.web.base.page import own_drawing

SHOWN_RUNS: Final = 30  # of a probe's course
_FEWEST = 2  # runs of a course
FIGURE_WORDS: Mapping[str, str] = {
    "correctness": "Correctness of the first answers (1 to 5)",
    "wscore": "wscore: weighted over the turns (0 to 5)",
    "lscore": "lscore: turns to the best answer",
    "mscore": "mscore: the best answers (0 to 5)",
    "unsure": "Not sure (share of the judged)",
}
OUTCOMES: Mapping[str, tuple[str, str]] = {
    "better": ("▲ better", "good"),
    "worse": ("▼ worse", "bad"),
    "no_difference_shown": ("no difference shown", ""),
    "too_few": ("too few questions", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeView:
    """A probe with its newest run that is done; `drawing` is None with fewer than two runs."""

    run: ProbeRun
    figures: RunFigures
    drawing: Markup | None


def probe_views(newest: Iterable[tuple[ProbeRun, RunFigures]]) -> list[ProbeView]:
    """The probes of runs that are in order of probe, app and environment, each with the course of its runs."""
    views = []
    for _, its in groupby(newest, key=lambda one: (one[0].probe, one[0].app, one[0].environment)):
        runs = [*its]
        run, found = runs[0]
        views.append(ProbeView(run=run, figures=found, drawing=_course(runs)))
    return views


def shown(text: str) -> str:
    """A text of a person, a chatbot or the judge: personal data masked, invisible characters written out."""
    return escape_invisible(redact(text))


def named_figures(found: RunFigures, run: ProbeRun) -> list[tuple[str, str, Mean]]:
    """Name, words and value of each figure that a run of so many turns has."""
    names = FIGURE_WORDS if run.turns > 1 else ("correctness", "unsure")
    return [(name, FIGURE_WORDS[name], found.named(name)) for name in names]


def _course(runs: Sequence[tuple[ProbeRun, RunFigures]]) -> Markup | None:
    points = tuple(
        _point(name, run.number, value)
        for run, its in reversed(runs)
        for name in (("correctness", "wscore") if run.turns > 1 else ("correctness",))
        if (value := its.named(name)).mean is not None
    )
    if len(runs) < _FEWEST or not points:
        return None
    about = "Mean scores of the newest runs"
    return own_drawing(for_every_width(lambda width: scores_chart(points, about, width=width), WIDTH))


def _point(name: str, run: int, value: Mean) -> ScorePoint:
    middle = value.mean or 0.0
    low, high = (middle if bound is None else bound for bound in (value.lower, value.upper))
    return ScorePoint(run, name, *(round(1000 * min(max(x, 0.0), 5.0)) for x in (middle, low, high)))
