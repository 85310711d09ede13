"""Tells whether documents fit their questions, and questions are asked, as before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain.answer import AnswerRow
from monitor.alert.explain.cause import Told
from monitor.core.figures.proportions import Floats

_CLEAR = 1.645  # standard errors: 5 % one-sided
_FEWEST_PAST = 20  # similarities of a topic, with fewer those of all topics count
_POOR = 0.33  # mean place among the earlier ones below which documents fit less than before; ½ if nothing changed
_UNLIKE = 0.65  # chance that an earlier question was more familiar than a bad answer's, from which on these are new
_MOST_EARLIER, _MOST_PROBES = 250, 80  # questions that are embedded, if their wording does not recur

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How well the documents of some answers fit their questions, and whether that is poor.

    `mean` is their mean place among the earlier answers of the same topic, by QRD; 0 without documents.
    """

    poor: Told
    mean: float | None


def fit_of(bad: Sequence[AnswerRow], baseline: Sequence[AnswerRow]) -> Fit:
    """Compares QRD with that of the baseline, as far as the same embedding model measured both.

    The mean of n places of unchanged answers is ½. Its variance is that of the places, to which one unchanged place is
    added (of variance 1/12), divided by n.
    """
    past: dict[tuple[str | None, str | None], list[float]] = defaultdict(list)
    for row in baseline:
        if row.qrd is not None:
            past[row.embedding_model, row.topic or ""].append(row.qrd)
            past[row.embedding_model, None].append(row.qrd)
    ordered = {key: np.sort(values) for key, values in past.items() if len(values) >= _FEWEST_PAST}
    places = [place for row in bad if (place := _place(row, ordered)) is not None]
    if not places:
        return Fit(poor=Told.OPEN, mean=None)
    mean = float(np.mean(places))
    variance = (np.sum((np.array(places) - mean) ** 2) + 1 / 12) / len(places)
    return Fit(poor=_told(_POOR - mean, sqrt(variance / len(places))), mean=mean)


def _place(row: AnswerRow, past: dict[tuple[str | None, str | None], Floats]) -> float | None:
    """The share of earlier answers with a lower QRD, ties counted half."""
    if "no_documents" in row.reasons:
        return 0.0
    of_topic = past.get((row.embedding_model, row.topic or ""), past.get((row.embedding_model, None)))
    if row.qrd is None or of_topic is None:
        return None
    below, up_to = np.searchsorted(of_topic, row.qrd, "left"), np.searchsorted(of_topic, row.qrd, "right")
    return float(below + up_to) / (2 * len(of_topic))


class Familiarity:
    """Whether some questions are unlike those that were answered before.

    The familiarity of a question is the cosine to the nearest earlier one, 1 where the wording recurs. Some of the
    earlier questions, the probes, are compared with the rest: they say how familiar a question usually is. `texts` have
    to be embedded for that.
    """

    def __init__(self, asked: Sequence[str], earlier: Sequence[str], alike: Sequence[str]) -> None:
        """`asked` are the questions of bad answers, `earlier` those of good ones before, `alike` of the same place.

        Without enough `alike`, the probes are any of `earlier`. The order of all is random, but the same every time.
        """
        counted = Counter(map(_wording, earlier))
        probes = (alike if len(alike) >= _FEWEST_PAST else earlier)[:_MOST_PROBES]
        # None: the wording recurs
        self._asked = [None if _wording(text) in counted else text for text in asked[:_MOST_PROBES]]
        self._probes = [None if counted[_wording(text)] > 1 else text for text in probes]
        strange = list(dict.fromkeys(text for text in (*self._asked, *self._probes) if text is not None))
        past = dict.fromkeys(text for text in (*alike[: _MOST_EARLIER // 2], *earlier) if text not in set(strange))
        self._strange, self._past = strange, list(past)[:_MOST_EARLIER]

    @property
    def texts(self) -> list[str]:
        return [*self._strange, *self._past] if self._strange and self._past else []

    def told(self, vectors: Vectors | None) -> Told:
        """Whether the asked questions are unlike the earlier ones. Without `vectors` only wordings are compared.

        `vectors` are the unit vectors of `texts`. The measure is the chance that a probe is more familiar than an asked
        question, ties counted half, with the variance (n + m + 1)/12nm of the Mann-Whitney statistic (H. Mann and
        D. Whitney, On a test of whether one of two random variables is stochastically larger than the other, Annals of
        Mathematical Statistics 18 (1947), 50-60).
        """
        n, m = len(self._asked), len(self._probes)
        if not n or not m:
            return Told.OPEN
        nearest: dict[str, float] = {}
        if vectors is not None and len(vectors):
            similar = vectors[: len(self._strange)] @ vectors[len(self._strange) :].T
            nearest = dict(zip(self._strange, np.nan_to_num(similar.max(axis=1)).tolist(), strict=True))
        asked, probes = (
            np.array([1.0 if text is None else nearest.get(text, 0.0) for text in side])
            for side in (self._asked, self._probes)
        )
        more = (probes[:, None] > asked[None]).mean() + (probes[:, None] == asked[None]).mean() / 2
        return _told(float(more) - _UNLIKE, sqrt((n + m + 1) / (12 * n * m)))


def _told(above: float, error: float) -> Told:
    """Whether a figure is above its line, `above` it by so much, with this standard error."""
    if abs(above) < _CLEAR * error:
        return Told.OPEN
    return Told.YES if above > 0 else Told.NO


def _wording(question: str) -> str:
    return " ".join(question.casefold().split())
