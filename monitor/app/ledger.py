"""The ledger as JSON, as totals, and as sentences about every imbalance; and how far reading has come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.core.message import Skip
from monitor.store.ledger.ledger import LedgerRow, Recount, source_of
from monitor.store.ledger.progress import ReadingStore
from monitor.store.tables.ledger import LEDGER

_LOST = {
    Skip.EXPIRED: "were deleted by the broker's retention before they were read",
    Skip.UNREADABLE: (
        "were in record batches that cannot be decompressed; the first message of each is recorded as a dead letter"
    ),
    "called_off": "were never assessed, since their interactions were erased or removed by retention first",
}


def complaints(rows: Sequence[LedgerRow], recounted: Sequence[Recount]) -> Iterator[str]:
    """One sentence per difference: its place, size and meaning; nothing if everything balances."""
    for row in rows:
        where = f"{row.group}, {row.topic}/{row.partition}"
        if row.unaccounted:
            n = row.unaccounted
            what = f"{n} messages are in no outcome" if n > 0 else f"{-n} messages are in more than one outcome"
            yield f"{where}: received and its outcomes differ by {n}: {what}"
        if row.unread:
            n = row.unread
            what = f"{n} offsets were neither read nor skipped" if n > 0 else f"{-n} messages were counted twice"
            yield f"{where}: the offsets and what was read of them differ by {n}: {what}"
    for recount in recounted:
        where = f"{recount.topic}/{recount.partition}"
        outcomes = recount.assessed + recount.pending + recount.unscored
        if difference := recount.interactions + recount.removed - outcomes:
            waiting = f" and {recount.pending} as pending" if recount.pending else ""
            waiting += f" and {recount.unscored} as unscored" if recount.unscored else ""
            removed = f" and {recount.removed} removed by retention" if recount.removed else ""
            counted = f"{recount.assessed} were counted as assessed{waiting}"
            counts = f"{counted}, {recount.interactions} interactions are stored{removed}"
            yield f"{where}: {counts} ({difference:+})"
        if difference := recount.letters - recount.dead:
            counts = (
                f"{recount.dead} were counted as dead and not purged, {recount.letters} open dead letters are stored"
            )
            yield f"{where}: {counts} ({difference:+})"


def losses(rows: Sequence[LedgerRow]) -> Iterator[str]:
    """A sentence for each reason for which messages were skipped or not assessed, which is no imbalance."""
    for name, what in _LOST.items():
        lost = {f"{row.topic}/{row.partition}": row.counts[name] for row in rows if row.counts[name]}
        if lost:
            where = ", ".join(f"{number} of {place}" for place, number in lost.items())
            yield f"{sum(lost.values())} messages {what}: {where}"


def totals(rows: Sequence[LedgerRow]) -> dict[str, int]:
    """The sum of each count over all rows."""
    return {name: sum(row.counts[name] for row in rows) for name in LEDGER}


def ledger_json(rows: Sequence[LedgerRow], recounted: Sequence[Recount] | None) -> dict[str, Any]:
    """`{balanced, rows, total}` and, after a recount, `recount`; `unaccounted` and `unread` are the differences."""
    found: dict[str, Any] = {
        "balanced": not any(complaints(rows, recounted or [])),
        "rows": [
            {
                "group": row.group,
                "topic": row.topic,
                "partition": row.partition,
                "live": row.live,
                "next_offset": row.next_offset,
                **row.counts,
                "balanced": row.balanced,
                "unaccounted": row.unaccounted,
                "unread": row.unread,
            }
            for row in rows
        ],
        "total": totals(rows),
    }
    if recounted is not None:
        found["recount"] = [
            {
                "topic": recount.topic,
                "partition": recount.partition,
                "balanced": recount.balanced,
                "assessed": recount.assessed,
                "pending": recount.pending,
                "unscored": recount.unscored,
                "interactions": recount.interactions,
                "removed": recount.removed,
                "dead": recount.dead,
                "open_dead_letters": recount.letters,
            }
            for recount in recounted
        ]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSource:
    """How far the reading of a topic or file has come: `behind` is in seconds.

    `left` is the number of its messages that are not read; None where no process has looked for a day.
    """

    name: str
    looked_at: datetime
    behind: float
    left: int | None

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.name,
            "looked_at": self.looked_at,
            "behind_seconds": round(self.behind, 3),
            "left": self.left,
        }


def read_sources(reading: ReadingStore, now: datetime, *, among: Sequence[LedgerRow] | None) -> list[ReadSource]:
    """The sources that were read in the last 30 days, by name; with `among` only those of these rows."""
    lags = {counts.labels["source"]: counts.counts[0].sum for counts in reading.lags(now)}
    seen, unread = reading.last_seen(now), reading.unread(now)
    names = lags.keys() if among is None else lags.keys() & {source_of(row.topic) for row in among}
    return [
        ReadSource(name=name, looked_at=seen[name], behind=lags[name], left=unread.get(name))
        for name in sorted(names)
        if name in seen  # somebody may have it forgotten between the two queries
    ]
