"""The part of the composition root that wires decoding: bytes to interactions, redacted as the settings say."""

from __future__ import annotations

from collections.abc import Callable

from monitor.app.wiring.prices import prices_of
from monitor.core.settings.load import Settings
from monitor.core.settings.privacy import RedactionSettings
from monitor.core.settings.sections import TopicSettings
from monitor.ingest.decode import AUTO, Decoder, TopicDecoder
from monitor.ingest.mapping import EventMap
from monitor.privacy.redaction.redactor import Redactor, redactor
from monitor.privacy.tag_digest import tag_digest


def topic_decoder(
    settings: Settings,
    *,
    app: str | None,
    dialect: str | None,
    event_map: EventMap | None = None,
    tag_key: Callable[[], bytes],
) -> TopicDecoder:
    """Decodes each topic by its own settings; `app`, `dialect` and `event_map` come before any setting.

    `tag_key` gives the key of the digests of redacted tags, and is called when the first is made.
    """

    def of(topic: TopicSettings | None) -> Decoder:
        return decoder(settings, topic, app=app, dialect=dialect, event_map=event_map)

    by_topic = {name: of(topic) for name, topic in settings.kafka.by_topic.items()}
    apps = {name: topic.app for name, topic in settings.kafka.by_topic.items() if topic.app is not None}
    return TopicDecoder(
        of(None),
        by_topic,
        redactor_of(settings.redaction, tag_key),
        apps={**apps, "": app} if app else apps,
        prices=prices_of(settings),
    )


def decoder(
    settings: Settings,
    topic: TopicSettings | None = None,
    *,
    app: str | None,
    dialect: str | None,
    event_map: EventMap | None = None,
) -> Decoder:
    """Decodes by the settings of a topic, or of what comes from no topic; the rest as in `topic_decoder`.

    Raises:
        WrongSettings: there is no such dialect, or one is given beside a mapping.
    """
    ingest, topic = settings.ingest, topic or TopicSettings()
    places = event_map or (EventMap(topic.map) if topic.map and dialect is None else None)
    return Decoder(
        dialect=dialect or (AUTO if places else topic.dialect or ingest.dialect),
        event_map=places,
        app=app or topic.app or ingest.app,
        environment=topic.environment or ingest.environment,
        max_message_bytes=ingest.max_message_bytes,
        max_text_chars=ingest.max_text_chars,
        max_documents=ingest.max_documents,
    )


def redactor_of(redaction: RedactionSettings, tag_key: Callable[[], bytes]) -> Redactor | None:
    """What replaces personal data as the settings say; None if nothing is to be replaced."""
    if not redaction.kinds and not redaction.patterns:
        return None

    def digest_of_tag(name: str, value: str) -> str:
        return tag_digest(tag_key(), name, value)

    return redactor(redaction.kinds, redaction.regions, redaction.patterns, digest_of_tag=digest_of_tag)
