"""How a count becomes an observation. Adding a method is one file and one line in `METHODS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from monitor.alert.methods.threshold import threshold

if TYPE_CHECKING:
    from monitor.alert.rule import Rule
    from monitor.alert.window import Observation, WindowCount

Method: TypeAlias = "Callable[[Rule, WindowCount], Observation]"

METHODS: Mapping[str, Method] = {
    "threshold": threshold,
}
