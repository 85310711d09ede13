"""The explanation of an alert, as messages, the pages and the report use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from monitor.alert.explain.cause import Cause, Told
from monitor.alert.explain.cause_words import conclusion
from monitor.alert.explain.finding import Cluster, Diagnoses, ExampleAnswer, Finding, Part
from monitor.alert.explain.sentences import sentences_of
from monitor.core.model import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What the answers of the window that match `signal` have in common; every tuple has the most telling entry first.

    The counts are of the rows that were read, which may be samples of window and baseline. `looked_at` is the number of
    values compared. Dimensions, values and words come from outside: the caller escapes them.
    """

    signal: str
    answers: int
    matching: int
    before_answers: int
    before_matching: int
    looked_at: int
    findings: tuple[Finding, ...] = ()
    parts: tuple[Part, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    diagnoses: Diagnoses = field(default_factory=Diagnoses)  # of all answers
    telling: tuple[ExampleAnswer, ...] = ()
    cause: Cause | None = None  # None: an earlier release made the explanation

    @property
    def rate(self) -> float | None:
        """Share of the window's answers that match; None without answers."""
        return self.matching / self.answers if self.answers else None

    @property
    def before(self) -> float | None:
        """Share of the baseline's answers that match; None without answers."""
        return self.before_matching / self.before_answers if self.before_answers else None

    def conclusion(self) -> list[str]:
        """The cause in at most three sentences of one line: which part broke, how sure that is, what to do next."""
        return conclusion(self.cause, self.telling) if self.cause else []

    def sentences(self) -> list[str]:
        """At most five sentences of one line and under 200 characters, most telling first; not escaped.

        The diagnoses are left out where the conclusion rests on them, and says how much they rose.
        """
        concluded = self.cause is not None and self.cause.missed is not Told.OPEN
        return sentences_of(
            signal=self.signal,
            rate=self.rate,
            before=self.before,
            looked_at=self.looked_at,
            findings=self.findings,
            clusters=self.clusters,
            diagnoses=Diagnoses() if concluded else self.diagnoses,
        )

    def to_json(self) -> dict[str, Json]:
        dumped: dict[str, Json] = _ADAPTER.dump_python(self, mode="json")
        return dumped

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> Explanation:
        """Reads what `to_json` returns; unknown keys are ignored.

        Raises:
            ValueError: `payload` is not an explanation.
        """
        return _ADAPTER.validate_python(payload)


_ADAPTER = TypeAdapter(Explanation)
