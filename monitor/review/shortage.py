"""What labels calibration still lacks: usable answers of each class, and how many more labels that takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from monitor.core.model import Verdict

NEEDED: Final = 20  # usable answers of either class, without which calibration is refused
BETTER = 200  # labels in all; with fewer, expect little
LATELY = 50  # newest labelled answers, by which the present rate goes
CLASSES = (Verdict.SELF_GENERATED, Verdict.GROUNDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedLabel:
    """The label that people agree on for an answer; `usable` if groundedness can be fitted to it."""

    label: Verdict
    usable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """What calibration lacks after these labels, the newest last."""

    labels: Sequence[CountedLabel]

    def usable(self, class_: Verdict) -> int:
        return sum(one.usable and one.label is class_ for one in self.labels)

    def missing(self, class_: Verdict) -> int:
        return max(NEEDED - self.usable(class_), 0)

    def more(self, class_: Verdict) -> int | None:
        """How many more labels the class takes at the present rate; None if none came lately, so that none is known."""
        lately = self.labels[-LATELY:]
        found = sum(one.usable and one.label is class_ for one in lately)
        if not self.missing(class_):
            return 0
        return ceil(self.missing(class_) * len(lately) / found) if found else None

    @property
    def lacks(self) -> Verdict | None:
        """The class that takes the most labels, self-generated if the two take alike; None if neither lacks any."""
        short = [class_ for class_ in CLASSES if self.missing(class_)]
        return max(short, key=lambda class_: (self.more(class_) is None, self.more(class_) or 0), default=None)

    @property
    def words(self) -> str:
        """What is missing, as a sentence without a full stop."""
        if self.lacks is None:
            both = " and ".join(f"{self.usable(class_)} {_shown(class_)}" for class_ in CLASSES)
            short = BETTER - len(self.labels)
            better = f"; {short} more labels, {BETTER} in all, make it better" if short > 0 else ""
            return f"enough labels for calibration: {both} answers that it can use{better}"
        short_of = [class_ for class_ in CLASSES if self.missing(class_)]
        counts = " and ".join(f"{self.usable(class_)} of {NEEDED} {_shown(class_)}" for class_ in short_of)
        more, lately = self.more(self.lacks), min(len(self.labels), LATELY)
        if more is not None:
            rate = f"about {more:,} more labels at the present rate"
        else:
            one = "one" if len(short_of) == 1 else _shown(self.lacks)
            rate = f"none of the last {lately} labels was {one}" if lately else "nothing is labelled yet"
        return f"calibration has {counts} answers that it can use: {rate}"

    def as_json(self) -> dict[str, Any]:
        """`more_labels` is null where the present rate is unknown."""
        return {
            "labels": len(self.labels),
            "classes": [
                {
                    "class": class_.value,
                    "usable": self.usable(class_),
                    "needed": NEEDED,
                    "missing": self.missing(class_),
                    "more_labels": self.more(class_),
                }
                for class_ in CLASSES
            ],
            "lacks": self.lacks,
            "words": self.words,
        }


def _shown(class_: Verdict) -> str:
    return class_.replace("_", "-")
