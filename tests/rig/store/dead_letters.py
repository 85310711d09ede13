"""Messages consumed into dead letters, and retried."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

from monitor.core.message import Offset, Position, Skip
from monitor.ingest.decode import Decoder
from monitor.store.deadletters.dead_letters import LetterFilter, settle
from monitor.store.ledger.ledger import Ledger
from tests.factories.answers import NOON, a_batch, a_message, an_assessment

TOPIC = "answers"
STRICT, TODAY = Decoder(max_text_chars=30), Decoder()  # a long answer was a dead letter before the limit was raised


def an_event(id_, answer="Yes."):
    return json.dumps({"id": id_, "question": "Q?", "retrieved_documents": ["D."], "answer": answer}).encode()


def mendable(id_):
    return an_event(id_, "An answer that is longer than thirty characters.")


def assessed(interactions):
    return [replace(an_assessment(), interaction=it) for it in interactions]


def consume(writer, log, *, first=0, expected=None, partition=0, decoder=STRICT):
    """Writes a batch as a reader of Kafka would: `log` has a message or a reason for none at each offset from `first`.

    Returns how far that went.
    """
    messages = [
        a_message(value, position=Position(topic=TOPIC, partition=partition, offset=n), headers=(("h", b"\xff"),))
        for n, value in enumerate(log, first)
        if isinstance(value, bytes)
    ]
    interactions, dead, _ = decoder.decode_batch(messages)
    offset = Offset(
        topic=TOPIC,
        partition=partition,
        expected=expected,
        begin=first,
        next=first + len(log),
        received=len(messages),
        skipped=Counter(entry for entry in log if isinstance(entry, Skip)),
    )
    writer.write(a_batch(*assessed(interactions), dead_letters=tuple(dead), offsets=(offset,)))
    return offset.next


def retried(writer, letters, ids, decoder=TODAY):
    """One batch of a retry, as `monitor.app.deadletters` puts it together."""
    found = letters.open_letters(ids)
    interactions, dead, _ = decoder.decode_batch([letter.message for letter in found])
    why = {id(d.message): d for d in dead}
    alive = [letter for letter in found if id(letter.message) not in why]
    still = [(letter, why[id(letter.message)]) for letter in found if id(letter.message) in why]
    return settle(writer, list(zip(alive, assessed(interactions), strict=True)), still, NOON)


def in_balance(engine):
    rows, recounted = Ledger(engine).read(recount=True)
    wrong = [row for row in rows if not row.balanced] + [one for one in recounted if not one.balanced]
    assert wrong == []
    return {(row.group, row.topic, row.partition): dict(+Counter(row.counts)) for row in rows}


def ids_of(letters, **wanted):
    return letters.page(LetterFilter(**wanted), after=0, last=2**62, most=10_000, most_bytes=2**30)


def everything(rows):
    tables = "dead_letter", "interaction", "interaction_key", "assessment", "verdict_minute", "consumer_offset"
    return [rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables]
