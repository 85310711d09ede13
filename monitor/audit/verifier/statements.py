"""Statements of completeness: what became of every offset of a partition, and which of it the export holds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from monitor.audit.verifier.terms import POSITIONS


class Statements:
    """The statements of an export, and what they say of its records.

    `at_the_edge` counts what was stored of which a statement speaks of other times too. `notes` says what stays open.
    """

    def __init__(self) -> None:
        self.bodies: dict[tuple[Any, ...], list[Any]] = {}  # by group, topic, partition and id of the topic
        self.replays: list[Any] = []
        self.positions: dict[tuple[Any, Any], set[int]] = {}  # of the messages of interactions, by topic and partition
        self.at_the_edge = 0
        self.notes: list[str] = []

    def see(self, record: Any, *, proved: bool) -> None:
        """Takes a record: what it states, or where the message of an interaction stood."""
        if record["kind"] == "interaction" and record.get("source_topic") is not None:
            partition = (record["source_topic"], record["source_partition"])
            self.positions.setdefault(partition, set()).add(record["source_offset"])
        if record["kind"] == POSITIONS and "files" in record["body"]:
            self.replays.append(record["body"])
        elif record["kind"] == POSITIONS and proved:
            body = record["body"]
            reading = (body["group"], body["topic"], body["partition"], body["topic_id"])
            self.bodies.setdefault(reading, []).append(body)

    def faults(self, about: Any) -> Iterator[str]:
        """Names gaps between statements, and offsets that were stored and are not in the export."""
        for (group, topic, partition, _), bodies in sorted(self.bodies.items()):
            reached, known = None, sorted(self.positions.get((topic, partition), ()))
            for body in sorted(bodies, key=lambda its: (its["first"], its["next"])):
                if reached is not None and body["first"] > reached:
                    gap = offsets_of(topic, partition, reached, body["first"] - 1)
                    yield f"{gap}: no statement says what became of that, as the group {group} reads it"
                reached = body["next"] if reached is None else max(reached, body["next"])
                for its in body.get("stored", ()):
                    missing = [run for low, high in its["offsets"] for run in absent(low, high, known)]
                    if about["app"] not in (None, its["app"]) or not missing:
                        continue
                    if not instants_within(about, its):
                        self.at_the_edge += 1
                        continue
                    for first, last in missing:
                        named = offsets_of(topic, partition, first, last)
                        yield f"{named}: stored for {its['app']}, and the record is not in the export"

    def summary(self) -> Iterator[str]:
        """What the statements say together, a line for each partition."""
        for (group, topic, partition, _), bodies in sorted(self.bodies.items()):
            counts: Counter[str] = Counter()
            for body in bodies:
                for its in body.get("stored", ()):
                    counts["stored"] += sum(last - first + 1 for first, last in its["offsets"])
                counts["duplicate"] += len(body.get("duplicate", ()))
                counts["dead"] += sum(last - first + 1 for first, last in body.get("dead", ()))
                counts.update({f"skipped ({why})": number for why, number in body.get("skipped", {}).items()})
            said = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
            first, end = min(body["first"] for body in bodies), max(body["next"] for body in bodies)
            yield f"complete: {offsets_of(topic, partition, first, end - 1)}, as {group} read it, without a gap: {said}"
            for body in bodies:
                if body.get("unstated"):
                    gap = offsets_of(topic, partition, body["first"], body["next"] - 1)
                    self.notes.append(f"nobody stated what became of {gap}, as {body['by']} recorded at {body['at']}")
        for body in self.replays:
            for file in body["files"]:
                yield f"replayed: {file['name']}, {file['lines']} lines, SHA-256 {file['sha256']}"
            counted = ", ".join(f"{body[name]} {name}" for name in ("received", "stored", "duplicate", "dead"))
            yield f"        {counted}, as recorded at {body['at']}"
        if self.at_the_edge:
            yield f"        {self.at_the_edge} statements speak of other times too: they are not checked"

    def left_out(self) -> str:
        """What an export cannot show about what it does not hold."""
        if not self.bodies:
            return "that no record was left out"
        return "that what never reached these partitions was recorded; what happened in others"


def offsets_of(topic: str, partition: int, first: int, last: int) -> str:
    """Offsets of a partition in words; those of a file are bytes."""
    named = f"offset {first}" if first == last else f"offsets {first} to {last}"
    return f"{named} of {topic}/{partition}"


def absent(first: int, last: int, known: Sequence[int]) -> list[tuple[int, int]]:
    """The runs of offsets from `first` to `last` that are not known; `known` ascends, with nothing in it twice."""
    runs: list[tuple[int, int]] = []
    for offset in known[bisect_left(known, first) : bisect_right(known, last)]:
        if offset > first:
            runs.append((first, offset - 1))
        first = offset + 1
    return [*runs, (first, last)] if first <= last else runs


def instants_within(about: Any, its: Any) -> bool:
    """Whether all answers of which a statement speaks are of the span of the export."""
    start, end, earliest, latest = (
        instant(text) for text in (about["from"], about["to"], its["earliest"], its["latest"])
    )
    return start <= earliest and latest < end


def instant(text: str) -> datetime:
    """A time in the form of RFC 3339; Python before 3.11 does not read a Z."""
    return datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)
