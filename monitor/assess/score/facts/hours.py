"""Reads hours written with an h, which are a time of day or a length of time: 9 h 30, 18h."""

from __future__ import annotations

from monitor.assess.score.facts.dates import HOURS, MINUTES, Moments, of_day
from monitor.assess.score.facts.quantities.quantity import Readings, quantities
from monitor.assess.score.facts.quantities.units import UNITS
from monitor.assess.score.facts.tokens import Tokens

_LONGEST = 2  # figures of an hour


def as_length(tokens: Tokens, i: int) -> Readings:
    """The length of time that the time of day at token `i` may be as well: 150 minutes for 2 h 30."""
    hours, h, minutes = tokens.raw(i).partition("h")
    if tokens.kind(i) != "clock" or not h:
        return ()
    return quantities(((int(hours) * MINUTES + int(minutes), 1.0),), UNITS["min"])


def as_time(tokens: Tokens, i: int, after: int) -> Moments:
    """The time of day that the hours at token `i` may be as well: 18 h."""
    raw = tokens.raw(i)
    if after != i + 2 or tokens.raw(i + 1) != "h" or not raw.isdigit() or len(raw) > _LONGEST or int(raw) > HOURS:
        return ()
    return of_day(int(raw))
