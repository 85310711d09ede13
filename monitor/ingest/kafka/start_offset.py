"""Decides where to start reading a partition, from the stored offset and the offsets in the log."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from monitor.core.errors import WrongSettings
from monitor.core.message import StoredOffset

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The log of a partition: its first offset, the next one to come, and the id of its topic, if known."""

    first: int
    last: int
    topic_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The broker refused our offset; `cut` is where the log was truncated, if the broker says so."""

    cut: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Read from `at` and count from `begin`; `expired` offsets between them are gone."""

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
    """Where to continue in the partition called `name`, or to start if nothing is `stored`.

    Raises:
        WrongSettings: the group has read another span than `bounds`.
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
        "%s was read up to %d, but its log was recreated or truncated and ends at %d; reading again from %d, "
        "and stored answers count as duplicates",
        name,
        reached,
        found.last,
        at,
    )
    return Start(begin=at, at=at)
