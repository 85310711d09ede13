"""What changed, as a message, the dashboard and the report are given it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from monitor.alert.explain.finding import Cluster, ExampleAnswer, Finding, Part
from monitor.alert.explain.sentences import tell
from monitor.core.model import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What goes with the answers of the window that match `signal`, most telling first in every tuple.

    The counts are of the rows that were read, which may be samples of window and baseline. `looked_at` is how many
    values were compared. Dimensions, values and words come from outside: whoever shows them escapes them.
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
    telling: tuple[ExampleAnswer, ...] = ()

    @property
    def rate(self) -> float | None:
        """Share of the window's answers that match; None without any answer."""
        return self.matching / self.answers if self.answers else None

    @property
    def before(self) -> float | None:
        """The same of the baseline."""
        return self.before_matching / self.before_answers if self.before_answers else None

    def sentences(self) -> list[str]:
        """At most five, each on one line and under 200 characters, most telling first; not escaped."""
        return tell(
            signal=self.signal,
            rate=self.rate,
            before=self.before,
            looked_at=self.looked_at,
            findings=self.findings,
            clusters=self.clusters,
        )

    def to_json(self) -> dict[str, Json]:
        """As JSON."""
        dumped: dict[str, Json] = _ADAPTER.dump_python(self, mode="json")
        return dumped

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> Explanation:
        """The reverse of `to_json`. Keys it does not know are ignored.

        Raises:
            ValueError: it is no explanation.
        """
        return _ADAPTER.validate_python(payload)


_ADAPTER = TypeAdapter(Explanation)
