"""Where reading a partition begins: what the store says, held against what the log still has."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from monitor.core.errors import WrongSettings
from monitor.core.message import StoredOffset

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What a broker has of a partition: the first offset, the next one to come, and the id of its topic, if known."""

    first: int
    last: int
    topic_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The broker would not let us read on where we were; `cut` is where the log was cut off, if it says so."""

    cut: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Read from `at`; count from `begin`, of which `expired` offsets are gone."""

    begin: int
    at: int
    expired: int = 0


def start_of(
    name: str,
    found: Log,
    stored: StoredOffset | None,
    *,
    refused: Refused | None = None,
    bounds: tuple[int, int] | None = None,
) -> Start:
    """Where to go on in the partition called `name`, or to begin where nothing is `stored`.

    Raises:
        WrongSettings: of a span, `bounds`, the group has read another one.
    """
    if stored is None:
        at = found.first if bounds is None else bounds[0]
        return Start(begin=at, at=at)
    if stored.topic_id and found.topic_id and stored.topic_id != found.topic_id:
        return _again(name, stored.next, found, found.first if bounds is None else bounds[0])
    if bounds is not None and (stored.next > bounds[1] or found.first < bounds[0] > stored.next):
        raise WrongSettings(f"this group has read another span of {name}; name a new --group")
    if stored.next < found.first:
        lost = found.first - stored.next
        log.error("%s: %d messages were deleted before they were read, up to offset %d", name, lost, found.first)
        return Start(begin=stored.next, at=found.first, expired=lost)
    if refused is None or (stored.next <= found.last if refused.cut is None else stored.next <= refused.cut):
        return Start(begin=stored.next, at=stored.next)
    return _again(name, stored.next, found, found.first if refused.cut is None else max(found.first, refused.cut))


def _again(name: str, reached: int, found: Log, at: int) -> Start:
    log.error(
        "%s was read up to %d, but this is another log, made anew or cut off, which ends at %d; it is read from %d on, "
        "and what is stored already counts as duplicate", name, reached, found.last, at,
    )  # fmt: skip
    return Start(begin=at, at=at)
