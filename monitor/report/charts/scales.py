"""Maps values to pixels, and chooses the ticks of an axis: round numbers, and round times in UTC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from math import ceil, floor, log10, sqrt
from typing import TypeAlias

Tick: TypeAlias = tuple[float, str]  # where it is on the axis, as a value, and what it says

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_WEEK = 7 * _DAY
# Seconds between the ticks of an axis of time.
_STEPS = (
    *(1, 5, 15, 30),
    *(_MINUTE * n for n in (1, 5, 15, 30)),
    *(_HOUR * n for n in (1, 3, 6, 12)),
    *(_DAY, 2 * _DAY),
    *(_WEEK * n for n in (1, 4, 13, 52, 520, 5200)),
)
_FIRST_MONDAY = 4 * _DAY  # seconds from the epoch, which was a Thursday
_THOUSANDS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_MOST_TICKS = 1000  # more cannot be asked for
_BETWEEN = 6  # pixels between the words of two ticks
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` on the pixels from `start` to `end`. Without a span, every value is in the middle."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + share * (self.end - self.start)


def rounded_span(low: float, high: float, count: int, *, whole: bool = False) -> tuple[float, float, float]:
    """`low` and `high` moved outwards to multiples of the step that makes about `count` ticks, and that step.

    The step is 1, 2 or 5 times a power of ten, and at least 1 if `whole`.
    """
    if high <= low:
        high = low + 1
    power = 10 ** floor(log10((high - low) / count))
    over = (high - low) / count / power
    step = power * (10 if over >= sqrt(50) else 5 if over >= sqrt(10) else 2 if over >= sqrt(2) else 1)
    step = max(step, 1) if whole else step
    return floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step, step


def ticks(low: float, high: float, step: float, say: Callable[[float, float], str]) -> list[Tick]:
    """A tick at every multiple of `step` from `low` to `high`; `say` gets a tick's value and the step."""
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [(n * step, say(n * step, step)) for n in range(first, min(last, first + _MOST_TICKS) + 1)]


def as_percent(value: float, step: float) -> str:
    return f"{100 * value:.{_decimals(100 * step)}f}%"


def as_number(value: float, step: float) -> str:
    return f"{value:,.{_decimals(step)}f}".replace("-", "−")


def as_amount(value: float, _step: float) -> str:
    """A count in few characters: `800`, `1.2k`, `30M`."""
    for unit, letter in _THOUSANDS:
        if value >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:g}"


def _decimals(step: float) -> int:
    return max(0, -floor(log10(step) + 1e-9))


def time_ticks(start: datetime, end: datetime, count: int, *, days: bool) -> list[Tick]:
    """About `count` ticks between two times, as seconds from the epoch; as dates if `days`, otherwise as times."""
    low, high = start.timestamp(), end.timestamp()
    wanted = (high - low) / count
    step = min(_STEPS, key=lambda seconds: max(seconds / wanted, wanted / seconds)) if wanted > 0 else _HOUR
    step = max(step, _DAY) if days else step
    origin = _FIRST_MONDAY if step >= _WEEK else 0
    first, last = ceil((low - origin) / step), floor((high - origin) / step)
    return [
        (at, date_words(datetime.fromtimestamp(at, UTC)) if days else f"{datetime.fromtimestamp(at, UTC):%H:%M}")
        for at in (origin + n * step for n in range(first, min(last, first + _MOST_TICKS) + 1))
    ]


def date_words(day: date) -> str:
    """`Nov 2`, in English whatever the locale of the process is."""
    return f"{_MONTHS[day.month - 1]} {day.day}"


def spaced(marked: Sequence[Tick], scale: Scale, width_of: Callable[[str], float]) -> list[Tick]:
    """Every tick, or every second, fourth …, so that no words of two neighbours touch; linear in the ticks."""
    every = 1
    while every < len(marked):
        kept = marked[::every]
        gaps = (scale(b) - scale(a) - (width_of(one) + width_of(next_)) / 2 for (a, one), (b, next_) in pairwise(kept))
        if all(gap > _BETWEEN for gap in gaps):
            return list(kept)
        every *= 2
    return list(marked[:1])


def padded(times: Sequence[datetime]) -> tuple[datetime, datetime]:
    """From half a step before the first of evenly spaced times to half a step after the last; at least an hour."""
    first, last = min(times), max(times)
    half = max((last - first) / max(len(times) - 1, 1) / 2, timedelta(minutes=0 if last > first else 30))
    return first - half, last + half
