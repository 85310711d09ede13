"""Learns from labels what the judge's word weighs in each app, again every hour."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from monitor.assess.judge.sampling import SamplingPolicy
from monitor.assess.judge.word import learnt
from monitor.core.errors import MonitorError
from monitor.store.pending.hearing import Hearing
from monitor.store.review.judged_labels import JudgedLabels

log = logging.getLogger(__name__)

_AGAIN = timedelta(hours=1)


@dataclass(slots=True, kw_only=True)
class Hearings:
    """Gives the `Hearing` of the moment. Where labels cannot be read, the weights stay as they were."""

    labels: JudgedLabels
    sampling: SamplingPolicy
    now: Callable[[], datetime]
    _current: Hearing = field(init=False)
    _learnt: datetime | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._current = Hearing(sampling=self.sampling)

    def __call__(self) -> Hearing:
        now = self.now()
        if self._learnt is None or not timedelta() <= now - self._learnt < _AGAIN:  # or the clock was set back
            self._learnt = now
            try:
                weights = {app: learnt(words) for app, words in self.labels.by_app().items()}
            except MonitorError as error:
                log.warning("the weights of the judge's word are not learnt anew: %s", error)
            else:
                self._current = replace(self._current, weights=weights)
        return self._current
