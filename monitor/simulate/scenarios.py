"""Scenarios: lists of phases, each with a rate of traffic and a mix of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from monitor.core.model import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A stretch of time: its name, answers per minute, the share of each kind, the prompt, whether retrieval works."""

    name: str
    lasts: timedelta
    per_minute: float
    mix: Mapping[Verdict, float]
    prompt_version: str = "support-2026-10"
    retrieval_broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Consecutive phases, played in steps of equal length."""

    phases: tuple[Phase, ...]
    step: timedelta

    @property
    def lasts(self) -> timedelta:
        """The time from the start of the first step to the end of the last."""
        return sum((phase.lasts for phase in self.phases), timedelta())

    @property
    def steps(self) -> int:
        """The number of steps; the last step may extend past the last phase."""
        return -(-self.lasts // self.step)

    def phase_at(self, since_start: timedelta) -> Phase:
        """The phase at this time after the start; the last one goes on for ever."""
        for phase in self.phases:
            if since_start < phase.lasts:
                return phase
            since_start -= phase.lasts
        return self.phases[-1]


_USUAL = {Verdict.GROUNDED: 0.90, Verdict.REFUSAL: 0.06, Verdict.SELF_GENERATED: 0.04}

# The vector index was rebuilt from the wrong folder: retrieval returns the office handbook, so the bot either says
# that it does not know or answers from memory.
RETRIEVAL_OUTAGE = Scenario(
    step=timedelta(seconds=15),
    phases=(
        Phase(name="usual traffic", lasts=timedelta(minutes=5), per_minute=60, mix=_USUAL),
        Phase(
            name="retrieval outage",
            lasts=timedelta(minutes=4),
            per_minute=60,
            mix={Verdict.REFUSAL: 0.55, Verdict.SELF_GENERATED: 0.45},
            retrieval_broken=True,
        ),
        Phase(name="retrieval mended", lasts=timedelta(minutes=6), per_minute=60, mix=_USUAL),
    ),
)

# The outage above is mended; then a new version of the prompt lets the bot answer from memory, and that goes on.
TWO_INCIDENTS = Scenario(
    step=timedelta(seconds=15),
    phases=(
        Phase(name="usual traffic", lasts=timedelta(minutes=3), per_minute=60, mix=_USUAL),
        Phase(
            name="retrieval outage",
            lasts=timedelta(minutes=3),
            per_minute=60,
            mix={Verdict.REFUSAL: 0.55, Verdict.SELF_GENERATED: 0.45},
            retrieval_broken=True,
        ),
        Phase(name="retrieval mended", lasts=timedelta(minutes=5), per_minute=60, mix=_USUAL),
        Phase(
            name="new prompt",
            lasts=timedelta(minutes=4),
            per_minute=60,
            mix={Verdict.GROUNDED: 0.25, Verdict.REFUSAL: 0.05, Verdict.SELF_GENERATED: 0.70},
            prompt_version="support-2026-11",
        ),
    ),
)
