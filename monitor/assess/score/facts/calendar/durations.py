"""Reads what may be a length of time as well as a time of day or a decade: 9 h 30, 18h, 30s."""

from __future__ import annotations

from dataclasses import replace

from monitor.assess.score.facts.calendar.clock import HOURS, MINUTES, of_day
from monitor.assess.score.facts.calendar.moment import Moments
from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.quantity import Readings, quantities
from monitor.assess.score.facts.quantities.units import UNITS
from monitor.assess.score.facts.tokens import Tokens

_OF_LIFE = listed("my your his her our their early mid late")  # "in his 20s"
_IN = listed("in of since from during by")  # "in the 90s", but "the 30s limit"
_LONGEST = 2  # figures of an hour, and of a decade that may be seconds


def as_length(tokens: Tokens, i: int) -> Readings:
    """The length of time that the date at token `i` may be as well: 150 minutes for 2 h 30, 30 seconds for 30s."""
    raw = tokens.raw(i)
    hours, h, minutes = raw.partition("h")
    if tokens.kind(i) == "clock" and h:
        total = quantities(((int(hours) * MINUTES + int(minutes), 1.0),), UNITS["min"])
        return tuple(replace(q, parts=True) for q in total)
    decade = tokens.kind(i) == "digits" and len(raw) == _LONGEST and tokens.raw(i + 1) == "s" and tokens.glued(i + 1)
    before = tokens.word(i - 1)
    surely = (
        before in _OF_LIFE or (before == "the" and tokens.word(i - 2) in _IN) or tokens.gap(i)[-1:] in {"'", "’", "‘"}
    )
    if decade and not surely:
        return quantities(((float(raw), 1.0),), UNITS["s"])
    return ()


def as_time(tokens: Tokens, i: int, after: int) -> Moments:
    """The time of day that the hours at token `i` may be as well: 18 h."""
    raw = tokens.raw(i)
    if after != i + 2 or tokens.raw(i + 1) != "h" or not raw.isdigit() or len(raw) > _LONGEST or int(raw) > HOURS:
        return ()
    return of_day(int(raw))
