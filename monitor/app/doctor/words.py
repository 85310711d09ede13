"""Words that several checks of `monitor doctor` share."""

from __future__ import annotations

from collections.abc import Sequence

_NAMED = 5  # apps of a finding


def few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
