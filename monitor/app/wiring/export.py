"""Chooses the destinations of verdicts, and which verdicts go there."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

from monitor.core.model import Interaction
from monitor.core.pending import SENDING, Work
from monitor.core.settings.load import Settings

if TYPE_CHECKING:
    from monitor.app.export.destination import Destination
    from monitor.store.interaction.follow_ups import Sends

_TRACED = {Work.SEND_PHOENIX, Work.SEND_LANGFUSE}  # know answers by their trace only
_HASHED = 2**64


def switched_on(settings: Settings) -> frozenset[Work]:
    """The destinations that are set."""
    export = settings.export
    known = {
        Work.SEND_OTLP: export.otlp.endpoint,
        Work.SEND_PHOENIX: export.phoenix.url,
        Work.SEND_LANGFUSE: export.langfuse.url,
        Work.SEND_KAFKA: export.kafka.topic,
    }
    return frozenset(kind for kind in SENDING if known[kind])


def sends(settings: Settings) -> Sends:
    """Tells where the verdict of an interaction goes. One that is not sent now is not sent later either."""
    kinds, export = switched_on(settings), settings.export
    most = int(export.sample * _HASHED)

    def chosen(interaction: Interaction) -> Iterator[Work]:
        if export.apps and interaction.app not in export.apps:
            return
        if export.sample < 1 and _hashed(interaction) >= most:
            return
        for kind in kinds:
            if interaction.trace_id or kind not in _TRACED:
                yield kind

    return chosen if kinds else lambda _: ()


def _hashed(interaction: Interaction) -> int:
    name = f"{interaction.app}\0{interaction.id}".encode(errors="replace")
    return int.from_bytes(sha256(name).digest()[:8])


def destinations(settings: Settings) -> list[Destination]:
    """The destinations that are set.

    Raises:
        WrongSettings: settings of a destination contradict each other.
    """
    export, scores = settings.export, settings.export.scores
    found: list[Destination] = []
    if export.otlp.endpoint:
        from monitor.app.export.otlp import OtlpDestination

        headers = None if export.otlp.headers is None else export.otlp.headers.get_secret_value()
        found.append(OtlpDestination(endpoint=export.otlp.endpoint, headers=headers, scores=scores))
    if export.phoenix.url:
        from monitor.app.export.phoenix import PhoenixDestination

        key = None if export.phoenix.api_key is None else export.phoenix.api_key.get_secret_value()
        found.append(PhoenixDestination(url=export.phoenix.url, api_key=key, scores=scores))
    langfuse = export.langfuse
    if langfuse.url and langfuse.public_key and langfuse.secret_key:
        from monitor.app.export.langfuse import LangfuseDestination

        secret = langfuse.secret_key.get_secret_value()
        found.append(
            LangfuseDestination(url=langfuse.url, public_key=langfuse.public_key, secret_key=secret, scores=scores)
        )
    if export.kafka.topic:
        from monitor.app.export.topic import TopicDestination

        found.append(TopicDestination(settings.kafka, export.kafka.topic))
    return found
