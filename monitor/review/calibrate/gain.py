"""Compares a calibrated profile with the one that it started from, on answers that the fit had not seen.

Both judge the same answers: the start as it is, the calibrated one by the fits that left the answer's source out. The
differences have intervals by bootstrap over sources, so that what both find hard cancels out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monitor.review.calibrate.crossval import DRAWS, CrossValidated
from monitor.review.calibrate.fit import Rows
from monitor.review.calibrate.logistic import Bools, Floats, probabilities
from monitor.review.evaluate.bootstrap import bootstrap_over_groups
from monitor.review.evaluate.statistics import once, ratio, weighted_auc

_LEAST = 1e-6  # a probability of 0 or 1 that is wrong would cost infinitely much
_COIN = 0.5  # the AUC of probabilities that say nothing
FIGURES: Final = ("log_loss", "brier", "auc", "errors", "missed", "false_alarms")
_PROPER: Final = ("log_loss", "brier")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A figure before and after, and the 95 % interval of after − before; None where it is undefined."""

    before: float | None
    after: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppErrors:
    """The share of wrong verdicts among the held-out answers of one app."""

    app: str
    answers: int
    errors: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What calibration changes, by the names of `FIGURES`; verdict errors by app too, where there are several.

    `errors` is the share of wrong verdicts, `missed` that of self-generated answers not flagged, `false_alarms` that of
    grounded answers flagged. `tells` is whether the calibrated profile surely tells the two apart: an interval of
    its AUC above .5.
    """

    changes: Mapping[str, Change]
    apps: Sequence[AppErrors]
    tells: bool
    counts_errors: bool

    @property
    def better(self) -> bool:
        """Whether it tells anything, and a proper score or the verdicts are surely better, neither surely worse.

        Without `tells`, probabilities that say nothing would pass for better than overconfident ones. Verdict errors
        count unless the objective was to trade false alarms for misses.
        """
        surely_better = any(change.high is not None and change.high < 0 for change in self._counted)
        return self.tells and surely_better and not self.worse

    def against(self, start: str) -> str | None:
        """Why not to use the profile instead of the one called `start`, as words after "it"; None if it is better."""
        if self.better:
            return None
        if not self.tells:
            return "does not clearly tell self-generated answers from grounded ones"
        return f"is worse than {start}" if self.worse else f"is not clearly better than {start}"

    @property
    def worse(self) -> bool:
        """Whether a proper score or the verdicts are surely worse."""
        return any(change.low is not None and change.low > 0 for change in self._counted)

    @property
    def _counted(self) -> list[Change]:
        return [self.changes[name] for name in (*_PROPER, *["errors"] * self.counts_errors)]

    def as_json(self) -> dict[str, Any]:
        return {
            "better": self.better,
            "tells": self.tells,
            "comparison": {name: _rounded(change) for name, change in self.changes.items()},
            "apps": [{"app": a.app, "answers": a.answers, "errors": _rounded(a.errors)} for a in self.apps],
        }


def gain(
    rows: Rows, judged: CrossValidated, apps: NDArray[np.str_], rng: np.random.Generator, *, objective: str
) -> Gain:
    """The gain on `rows`, of which `judged` holds the held-out probabilities; `apps` names the app of each row."""
    start = probabilities(rows.prior)
    before = _Judged(start, start >= rows.start.threshold, rows.made_up)
    after = _Judged(judged.probability, judged.flagged, rows.made_up)
    changes = _changes(before, after, rows.groups, rng)
    names = np.unique(apps)
    by_app = []
    for name in names if len(names) > 1 else ():
        of_app = apps == name
        errors = _changes(before.where(of_app), after.where(of_app), rows.groups[of_app], rng)["errors"]
        by_app.append(AppErrors(app=str(name), answers=int(of_app.sum()), errors=errors))
    (own,) = bootstrap_over_groups(weighted_auc(judged.probability, rows.made_up), rows.groups, DRAWS, rng)
    return Gain(
        changes=changes,
        apps=by_app,
        tells=own is not None and own.low > _COIN,
        counts_errors=objective == "f1",
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """Probabilities and flags of one profile, with the labels, each of shape (n,)."""

    probability: Floats
    flagged: Bools
    made_up: Bools

    def where(self, kept: Bools) -> _Judged:
        return _Judged(self.probability[kept], self.flagged[kept], self.made_up[kept])

    def figures(self, weights: Floats) -> Floats:
        """FIGURES in the last axis for weights of shape (draws, n)."""
        p = np.clip(self.probability, _LEAST, 1 - _LEAST)
        loss = -np.log(np.where(self.made_up, p, 1 - p))
        squares = (self.probability - self.made_up) ** 2
        wrong = (self.flagged != self.made_up).astype(np.float64)
        bad, good = self.made_up.astype(np.float64), (~self.made_up).astype(np.float64)
        total = weights.sum(axis=1)
        return np.column_stack(
            [
                ratio(weights @ loss, total),
                ratio(weights @ squares, total),
                weighted_auc(self.probability, self.made_up)(weights)[:, 0],
                ratio(weights @ wrong, total),
                ratio(weights @ (wrong * bad), weights @ bad),
                ratio(weights @ (wrong * good), weights @ good),
            ]
        )


def _changes(before: _Judged, after: _Judged, groups: NDArray[np.str_], rng: np.random.Generator) -> dict[str, Change]:
    whole = once(before.made_up)
    pairs = zip(before.figures(whole)[0].tolist(), after.figures(whole)[0].tolist(), strict=True)
    found = bootstrap_over_groups(lambda w: after.figures(w) - before.figures(w), groups, DRAWS, rng)
    return {
        name: Change(
            before=None if np.isnan(old) else old,
            after=None if np.isnan(new) else new,
            low=None if interval is None else interval.low,
            high=None if interval is None else interval.high,
        )
        for name, (old, new), interval in zip(FIGURES, pairs, found, strict=True)
    }


def _rounded(change: Change) -> dict[str, float | None]:
    return {name: None if value is None else round(value, 4) for name, value in asdict(change).items()}
