"""What a verification does with many checkpoints: nothing holds all of their notes, nothing is quadratic in them."""

from __future__ import annotations

from monitor.audit.merkle import EMPTY_ROOT
from monitor.audit.note import Checkpoint, signed
from monitor.store.audit.checkpoints import notes_not_stored
from monitor.store.audit.checks.ranges import RANGE
from monitor.store.audit.verify import _tasks
from monitor.store.audit_queue import driver
from tests.rig.store.keys import KEY, QUEUE_KEY, SIGNER

RANGES, MARKS = 200, 4_000


def test_the_notes_of_a_witness_are_compared_while_they_are_read(engine):
    note, taken = signed(Checkpoint(origin="monitor", size=7, root=EMPTY_ROOT), SIGNER), []

    def notes():
        for number in range(10_000):
            taken.append(number)
            yield note

    with engine.connect() as connection:
        found = notes_not_stored(driver(connection), notes(), 100)
        assert next(found) == (1, note)
        assert len(taken) <= 1_000


class Size(int):
    """A number of leaves that counts how often it is compared."""

    compared = 0

    def __lt__(self, other):
        Size.compared += 1
        return int(self) < int(other)

    def __gt__(self, other):
        Size.compared += 1
        return int(self) > int(other)

    def __le__(self, other):
        Size.compared += 1
        return int(self) <= int(other)


def test_the_roots_that_witnesses_know_are_shared_out_to_ranges_without_looking_at_all_for_each():
    every = RANGES * RANGE // MARKS
    known = {Size(number): [] for number in range(1, RANGES * RANGE + 1, every)}
    tasks = list(_tasks(0, RANGES * RANGE, known, (KEY,), QUEUE_KEY))
    assert sorted(mark for task in tasks for mark in task.marks) == sorted(known)
    assert all(task.start < mark <= task.end for task in tasks for mark in task.marks)
    assert Size.compared < RANGES * len(known) / 4
