"""What observers are told of a batch: its place in the source, the producers' traces, and what became of it.

No text of a chatbot is among it. Lists are cut, so that what is told does not grow with the batch.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from monitor.core.batch import Batch, Tally
from monitor.core.message import Message, Offset
from monitor.core.stage import Value

MOST_PRODUCERS = 128  # as many links as OpenTelemetry's SDK keeps on a span by default
MOST_IDS, MOST_APPS = 50, 20
LONGEST = 200  # characters of a name that an event brings
_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16
# W3C Trace Context, section 3.2: later versions may append fields; version ff is invalid.
_TRACEPARENT = re.compile(rb"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL)


def arrival(messages: Sequence[Message], offsets: Sequence[Offset]) -> dict[str, Value]:
    """Where a batch comes from; `partition` and `offset` only if all of it is from one partition."""
    attributes: dict[str, Value] = {"messages": len(messages), "producers": producers(messages)}
    topics = {m.position.topic for m in messages}
    partitions = {(m.position.topic, m.position.partition) for m in messages}
    if len(topics) == 1:
        attributes["topic"] = min(topics)[:LONGEST]
    if len(partitions) == 1:
        attributes["partition"] = messages[0].position.partition
        attributes["offset"] = messages[0].position.offset
    if any(offset.topic_id for offset in offsets):  # which only Kafka gives
        attributes["broker"] = "kafka"
    return attributes


def producers(messages: Sequence[Message]) -> tuple[str, ...]:
    """The distinct `traceparent` headers, in order, without malformed ones, as W3C Trace Context asks."""
    found: dict[str, None] = {}
    for message in messages:
        values = [value for name, value in message.headers if name == "traceparent"]
        if len(values) == 1 and (parent := _traceparent(values[0])) is not None:
            found[parent] = None
            if len(found) == MOST_PRODUCERS:
                break
    return tuple(found)


def _traceparent(value: bytes) -> str | None:
    match = _TRACEPARENT.fullmatch(value)
    if match is None:
        return None
    version, trace, span, flags, more = match.groups()
    if trace.decode() == _NO_TRACE or span.decode() == _NO_SPAN or (version == b"00" and more is not None):
        return None
    return b"-".join((b"00", trace, span, flags)).decode()


def outcome(batch: Batch, tally: Tally) -> dict[str, Value]:
    """What became of a batch: its apps and interactions, its verdicts, and its ledger."""
    interactions = [*(a.interaction for a in batch.assessments), *batch.pending, *batch.unscored]
    apps = sorted({it.app for it in interactions})
    return {
        "apps": [app[:LONGEST] for app in apps[:MOST_APPS]],
        "interaction_ids": [it.id[:LONGEST] for it in interactions[:MOST_IDS]],
        **Counter(a.verdict.value for a in batch.assessments),
        "assessed": tally.assessed,
        "duplicate": tally.duplicate,
        "dead": tally.dead,
        "pending": tally.pending,
        "unscored": tally.unscored,
    }
