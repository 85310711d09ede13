"""Rewrites rows of the minutes' rollup that earlier releases began, whose histograms have empty bins at either end.

A row shrinks to about a third, and its figures stay the same. Work goes on where it was interrupted: how far it came
is stored with each piece. The space in the table's file is used again for new rows; only `VACUUM FULL` gives it back.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine, text

from monitor.store.database import retriable
from monitor.store.interaction.rollup import KEY
from monitor.store.tables.interactions import HISTOGRAM_BINS, METRICS
from monitor.store.tables.usage import LATENCY

PIECE = 2_000  # rows of one transaction, or those of one minute if it has more
_BINS = (*(f"{metric}_bins" for metric in METRICS), LATENCY)
# Held to the end of the transaction, so that no two processes trim at once.
_REACHED = text('SELECT "until", through FROM rollup_trim FOR UPDATE SKIP LOCKED')
_LAST = text("""
    SELECT max(minute) FROM (
        SELECT minute FROM verdict_minute WHERE minute >= :through AND minute < :before ORDER BY minute LIMIT :most
    ) piece
""")
# A row that a writer has locked is trimmed by that writer. Locks are in the order in which writers take them.
_TRIM = text(f"""
    UPDATE verdict_minute v SET {", ".join(f"{name} = add_bins(v.{name}, NULL)" for name in _BINS)}
    FROM (
        SELECT {", ".join(KEY)} FROM verdict_minute
        WHERE minute >= :through AND minute <= :last AND cardinality({METRICS[0]}_bins) = {HISTOGRAM_BINS}
        ORDER BY {", ".join(KEY)} FOR UPDATE SKIP LOCKED
    ) whole
    WHERE ({", ".join(f"v.{name}" for name in KEY)}) = ({", ".join(f"whole.{name}" for name in KEY)})
""")  # noqa: S608  our own names
_GO_ON = text("UPDATE rollup_trim SET through = :last + interval '1 minute'")
_FINISH = text("DELETE FROM rollup_trim")
_HOURS_STAND = text("SET LOCAL monitor.hours = 'written'")  # what is counted does not change


def trim_piece(engine: Engine, now: datetime) -> bool:
    """Trims the next rows of minutes before `now`; returns whether there may be more of them now.

    Raises:
        Retriable: the database is out of reach; the piece is not trimmed.
    """
    with retriable(), engine.begin() as connection:
        reached = connection.execute(_REACHED).one_or_none()
        if reached is None:
            return False
        before = min(reached.until, now)
        span = {"through": reached.through, "before": before, "most": PIECE}
        last = connection.scalar(_LAST, span)
        if last is None:
            if before == reached.until:
                connection.execute(_FINISH)
            return False
        connection.execute(_HOURS_STAND)
        connection.execute(_TRIM, {"through": reached.through, "last": last})
        connection.execute(_GO_ON, {"last": last})
        return True
