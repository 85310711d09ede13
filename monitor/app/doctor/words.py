"""Words that several checks of `monitor doctor` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_NAMED = 5  # apps of a finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """What a check found that works, and yet wants somebody's look: `mended_by` is the next step."""

    detail: str
    mended_by: str


def few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
