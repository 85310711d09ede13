"""The ledger as JSON, as totals, and as sentences about every imbalance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from monitor.core.message import Skip
from monitor.store.ledger.ledger import LedgerRow, Recount
from monitor.store.tables.interactions import LEDGER


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
    for one in recounted:
        where = f"{one.topic}/{one.partition}"
        if difference := one.interactions + one.removed - one.assessed - one.pending:
            waiting = f" and {one.pending} as pending" if one.pending else ""
            removed = f" and {one.removed} removed by retention" if one.removed else ""
            counts = (
                f"{one.assessed} were counted as assessed{waiting}, {one.interactions} interactions are stored{removed}"
            )
            yield f"{where}: {counts} ({difference:+})"
        if difference := one.letters - one.dead:
            counts = f"{one.dead} were counted as dead and not purged, {one.letters} open dead letters are stored"
            yield f"{where}: {counts} ({difference:+})"


def expired(rows: Sequence[LedgerRow]) -> str | None:
    """A sentence about messages that expired before they were read: a loss, but no imbalance; None without any."""
    lost = {f"{row.topic}/{row.partition}": row.counts[Skip.EXPIRED] for row in rows if row.counts[Skip.EXPIRED]}
    if not lost:
        return None
    return f"{sum(lost.values())} messages were deleted by the broker's retention before they were read: " + ", ".join(
        f"{number} of {name}" for name, number in lost.items()
    )


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
                "topic": one.topic,
                "partition": one.partition,
                "balanced": one.balanced,
                "assessed": one.assessed,
                "pending": one.pending,
                "interactions": one.interactions,
                "removed": one.removed,
                "dead": one.dead,
                "open_dead_letters": one.letters,
            }
            for one in recounted
        ]
    return found
