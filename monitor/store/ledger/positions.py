"""Statements of completeness: what became of each offset of a partition, to be sealed with the rows of the batch.

A statement is made by the process that stores, from what it stores. The statements of a partition are consecutive, so
that one which is missing shows as a gap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from monitor.core.assessment_json import storable
from monitor.core.batch import Tally
from monitor.core.message import Offset, Position, ReadFile
from monitor.core.model import Interaction, Json
from monitor.store.audit_queue import Act, Entry, Kind, act_entry


def statements(
    group: str,
    offsets: Sequence[Offset],
    *,
    stored: Sequence[Interaction],
    known: Sequence[Interaction],
    dead: Iterable[Position],
    at: datetime,
) -> Iterator[Entry]:
    """One entry for each partition of a batch.

    `stored` are its new interactions, `known` those whose id was stored before, and `dead` the positions of messages
    that are none. Where offsets count messages, every other offset was skipped.
    """
    of_stored, of_known = _by_partition(stored), _by_partition(known)
    of_dead = defaultdict(list)
    for place in dead:
        of_dead[place.topic, place.partition].append(place.offset)
    for o in sorted(offsets, key=lambda o: (o.topic, o.partition)):
        partition = o.topic, o.partition
        body: dict[str, Json] = {
            "by": "monitor",
            "at": at.isoformat(),
            "group": group,
            "topic": o.topic,
            "partition": o.partition,
            "topic_id": o.topic_id,
            "first": o.first,
            "next": o.next,
            "received": o.received,
            "stored": _stored(of_stored[partition]),
            "duplicate": [_duplicate(it) for it in sorted(of_known[partition], key=_offset)],
            "dead": _runs(of_dead[partition]),
            "skipped": {skip.value: number for skip, number in o.skipped.items()},
        }
        if o.file is not None:  # its offsets are bytes
            body |= {"lines": o.file.lines, "sha256": o.file.sha256}
        yield act_entry(kind=Kind.POSITIONS, subject=f"{o.topic}/{o.partition}", body=body)


def replayed(files: Sequence[ReadFile], apps: Iterable[str], tally: Tally, *, at: datetime) -> Act:
    """The statement of a replay: which files were read to their ends, and what became of their lines together.

    `apps` are those of the answers in them.
    """
    of_files: list[Json] = [
        {"name": storable(file.name), "lines": file.lines, "blank": file.blank, "sha256": file.sha256} for file in files
    ]
    counts: dict[str, Json] = {
        "received": tally.received,
        "stored": tally.assessed + tally.pending + tally.unscored,
        "duplicate": tally.duplicate,
        "dead": tally.dead,
    }
    body: dict[str, Json] = {"files": of_files, "apps": list[Json](sorted(apps)), **counts}
    return Act(kind=Kind.POSITIONS, by="monitor", at=at, subject="replay", body=body)


def _stored(interactions: Sequence[Interaction]) -> list[Json]:
    """For each app the offsets of its interactions as runs, first and last, and when the interactions occurred."""
    by_app = defaultdict(list)
    for it in interactions:
        by_app[it.app].append(it)
    return [
        {
            "app": app,
            "offsets": _runs(map(_offset, its)),
            "earliest": min(it.occurred_at for it in its).isoformat(),
            "latest": max(it.occurred_at for it in its).isoformat(),
        }
        for app, its in sorted(by_app.items())
    ]


def _duplicate(it: Interaction) -> Json:
    """The offset, what it repeats, and the month, since retention may have closed that to new answers."""
    return [_offset(it), it.app, it.id, f"{it.occurred_at:%Y-%m}"]


def _runs(offsets: Iterable[int]) -> list[Json]:
    runs: list[Json] = []
    first = last = -1
    for offset in sorted(offsets):
        if offset != last + 1 or first < 0:
            if first >= 0:
                runs.append([first, last])
            first = offset
        last = offset
    return [*runs, [first, last]] if first >= 0 else runs


def _by_partition(interactions: Sequence[Interaction]) -> defaultdict[tuple[str, int], list[Interaction]]:
    found = defaultdict(list)
    for it in interactions:
        if it.position is not None:
            found[it.position.topic, it.position.partition].append(it)
    return found


def _offset(it: Interaction) -> int:
    return -1 if it.position is None else it.position.offset
