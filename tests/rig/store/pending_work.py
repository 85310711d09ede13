"""Sets interactions aside, claims pending work and finishes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from monitor.core.message import Offset, Position
from monitor.core.pending import SENDING, Work
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.ledger import Ledger
from tests.factories.answers import (
    A_STAND_IN,
    NOON,
    a_batch,
    a_dead_letter,
    an_assessment,
    an_interaction,
)

TOPIC = "answers"
LEASE = timedelta(minutes=15)
EVERY_KIND = tuple(kind for kind in Work if kind not in SENDING)  # claimed with its interaction
LATER = NOON + timedelta(hours=1)


@dataclass
class Reader:
    """Writes what a consumer of one partition would: interactions with their places, and how far it has read."""

    writer: Writer
    topic: str = TOPIC
    partition: int = 0
    reached: int = 0

    def write(self, *, assessed=(), pending=(), unscored=(), dead=0):
        """Interactions by their ids, or as they are; gives the tally of the batch."""
        first, placed = self.reached, iter(range(self.reached, self.reached + 10_000))

        def placed_(it):
            it = it if not isinstance(it, str) else an_interaction(id=it)
            return replace(it, position=self.place(next(placed)))

        made = [an_assessment(interaction=placed_(it), support=A_STAND_IN) for it in assessed]
        batch = a_batch(
            *made,
            pending=tuple(map(placed_, pending)),
            unscored=tuple(map(placed_, unscored)),
            dead_letters=tuple(
                a_dead_letter(position=self.place(n)) for n, _ in zip(placed, range(dead), strict=False)
            ),
            received=(received := len(assessed) + len(pending) + len(unscored) + dead),
            offsets=(self.offset(first, received),),
        )
        tally = self.writer.write(batch)
        self.reached += batch.received
        return tally

    def place(self, offset):
        return Position(topic=self.topic, partition=self.partition, offset=offset)

    def offset(self, first, number):
        return Offset(
            topic=self.topic,
            partition=self.partition,
            expected=first or None,
            begin=first,
            next=first + number,
            received=number,
        )


def set_aside(writer, *ids, **over):
    """Interactions that were stored without an assessment and without a ledger."""
    its = tuple(an_interaction(id=id_, **over) for id_ in ids)
    return writer.write(a_batch(pending=its, received=len(its)))


def claim(queue, *kinds, now=NOON, most=1000):
    return queue.claim(kinds or EVERY_KIND, now, most=most, lease=LEASE)


def assessed(claims, **over):
    return [(c, an_assessment(interaction=c.interaction, **over)) for c in claims]


def ids(claims):
    return [c.interaction.id for c in claims]


def in_balance(engine):
    """What the ledgers say, by group, topic and partition, having made sure that all of it adds up."""
    rows, recounted = Ledger(engine).read(recount=True)
    assert [row for row in rows if not row.balanced] + [one for one in recounted if not one.balanced] == []
    names = ("received", "assessed", "duplicate", "dead", "pending")
    return {(row.group, row.topic, row.partition): tuple(row.counts[name] for name in names) for row in rows}


def the_queue(rows):
    return rows("SELECT kind, interaction_id FROM pending ORDER BY kind, interaction_id")
