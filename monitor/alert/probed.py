"""The runs of a probe, as rules read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from monitor.core.text.credentials import without_credentials
from monitor.core.text.duration import spelled
from monitor.core.text.plain import plain
from monitor.privacy.masking import redact

LEAST_JUDGED: Final = 0.5  # share of a run's questions; of a chatbot that hardly answered, nothing else can be said
MAX_AGE: Final = timedelta(days=14)  # of the newest run; an older one says nothing any more
LOOKED_BACK: Final = timedelta(days=35)  # to runs that the newest one is compared with: five of a weekly probe
RUNS: Final = 6  # of each probe that are read
NOTHING_OF_LATE: Final = f"no run has ended in the last {spelled(MAX_AGE)}"
_LONGEST: Final = 500  # characters of an error
_OF_RUN = re.compile(r"(?:only \d+ questions of )?run (\d+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedRun:
    """A run that has ended: the value of each of its questions that has one, and how many questions it had.

    `judged` counts the questions with a judged answer, `chatbot` is its version ('': unknown), `turns` the most of a
    conversation. `error` is what ended the run early.
    """

    number: int
    ended_at: datetime
    chatbot: str
    turns: int
    items: int
    judged: int
    values: Mapping[str, float]
    error: str | None = None

    @property
    def says_enough(self) -> bool:
        return says_enough(self.judged, of=self.items)

    @property
    def said(self) -> str:
        """`run 12 judged 3 of 30 questions`, or what ended it early, without personal data."""
        if self.error:
            return f"run {self.number}: {plain(redact(without_credentials(self.error)))[:_LONGEST]}"
        only = "" if self.says_enough else "only "
        return f"run {self.number} judged {only}{self.judged} of {self.items} questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The newest runs of a probe, the newest first, and those of earlier ones that were asked for.

    The newest one ended in the last `MAX_AGE`.
    """

    probe: str
    app: str
    environment: str
    runs: tuple[ProbedRun, ...]

    @property
    def labels(self) -> Mapping[str, str]:
        return {"probe": self.probe, "app": self.app, "environment": self.environment}


def says_enough(judged: int, *, of: int) -> bool:
    """Whether a run with so many judged questions says anything of the chatbot."""
    return judged >= LEAST_JUDGED * of


def run_of_detail(detail: str | None) -> int | None:
    """The number of the run that an alert is about, from the detail of its observation; None if it names none."""
    found = _OF_RUN.match(detail or "")
    return int(found[1]) if found else None
