"""`monitor decode`: what would be read from files, without storing any of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from monitor.app.wiring.decoding import decoder
from monitor.core.errors import InvalidMessage
from monitor.core.message import Message
from monitor.core.model import Interaction, Json
from monitor.core.settings.load import Settings
from monitor.core.trace import Collected, LogRecord, Span
from monitor.ingest.bodies import messages_of_file
from monitor.ingest.decode import Decoder
from monitor.ingest.dialects import native
from monitor.ingest.mapping import EventMap
from monitor.ingest.traces.event import native_event
from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turn import NoTurn, Turn
from monitor.ingest.traces.turns import turns
from monitor.review.export import native_event as exported_event


@dataclass(slots=True)
class Reading:
    """What files hold: native events, traces without a turn, messages that cannot be read, and feedback."""

    events: list[dict[str, Json]] = field(default_factory=list)
    without_turn: list[NoTurn] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    wrong_parts: int = 0  # spans and log records that were left out of requests that are read otherwise
    feedback: int = 0  # answers that it is on, in events of its own


def decode_files(
    files: Sequence[Path],
    settings: Settings,
    *,
    dialect: str | None,
    app: str | None,
    event_map: EventMap | None = None,
    now: Callable[[], datetime],
) -> Reading:
    """Reads all files as one collection: a trace may be spread over several of them.

    `dialect` and `app` come before the settings. Nothing is redacted. Events come in the order of the files, turns of
    traces after them in the order of their start.

    Raises:
        WrongSettings: a file cannot be read, or there is no such dialect.
    """
    of_files = decoder(settings, app=app, dialect=dialect, event_map=event_map)
    of_turns = decoder(settings, app=app, dialect=native.DIALECT.name)
    reading = Reading()
    spans: dict[str, list[Span]] = {}
    logs: dict[str, list[LogRecord]] = {}
    for message in (message for path in files for message in messages_of_file(path, now=now)):
        for read in _read(message, reading, of_files, of_turns):
            if isinstance(read, Interaction):
                reading.events.append(_event(read))
                continue
            reading.feedback += len(read.feedback)
            reading.wrong_parts += read.rejected
            for span in read.spans:
                spans.setdefault(span.trace_id, []).append(span)
            for log in read.logs:
                logs.setdefault(log.trace_id, []).append(log)
    ids = dict.fromkeys([*spans, *logs])
    found = turns([Trace(spans.get(i, ()), logs.get(i, ())) for i in ids])
    reading.without_turn = [one for one in found if isinstance(one, NoTurn)]
    told = sorted((one for one in found if isinstance(one, Turn)), key=lambda turn: (turn.started, turn.trace_id))
    reading.events += [json.loads(native_event(turn, app=turn.service or app or settings.ingest.app)) for turn in told]
    return reading


def _read(
    message: Message, reading: Reading, decoder: Decoder, decoder_of_turns: Decoder
) -> Iterable[Interaction | Collected]:
    """What a message holds, with the turns in it read too; one that cannot be read is noted."""
    try:
        read = decoder.decode(message)
    except InvalidMessage as error:
        place = message.position
        reading.rejected.append(f"{place.topic}, {place.offset}: {error}")
        return
    yield read
    for turn in read.events if isinstance(read, Collected) else ():
        yield from _read(replace(message, value=turn, size=len(turn)), reading, decoder_of_turns, decoder_of_turns)


def _event(interaction: Interaction) -> dict[str, Json]:
    """The native event; of a turn without scores, texts that are not known are null."""
    event: dict[str, Json] = json.loads(json.dumps(exported_event(interaction)))
    if interaction.unscored is None:
        return event
    listed = event["retrieved_documents"]
    documents: list[Json] = [
        {**one, "text": one["text"] or None}
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict)
    ]
    texts: dict[str, Json] = {name: event[name] or None for name in ("question", "answer")}
    return {**event, **texts, "retrieved_documents": documents, "unscored": interaction.unscored.value}
