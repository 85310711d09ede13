"""Settings of Kafka: what is read, and how its client connects."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from monitor.core.settings.sections import DialectChoice, Section, split


def _session_timeout(given: dict[str, Any]) -> int:
    """Short, so that a dead consumer's partitions do not wait; it fits the heartbeat and the poll interval given."""
    usual: int = 45_000 if given.get("group_instance_id") else 7_000
    longest: int = given.get("max_poll_interval_ms", usual)  # absent where it is wrong itself
    heartbeat: int = given.get("heartbeat_interval_ms", 0)
    return min(max(usual, 3 * heartbeat), longest)


def _pattern(value: str | None) -> str | None:
    try:
        re.compile(value or "")
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return value


TopicName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$")]
Topics = Annotated[tuple[TopicName, ...], NoDecode, BeforeValidator(split)]
Servers = Annotated[
    tuple[Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[^\s:\[\]]+)(:[0-9]{1,5})?$")], ...],
    NoDecode,
    BeforeValidator(split),
]
Amount = Annotated[int, Field(gt=0, lt=2**31)]  # an int32 of Kafka's protocol


class TopicSettings(Section):
    """Settings for one topic, which override those of `ingest`."""

    dialect: DialectChoice | None = None
    app: str | None = Field(None, min_length=1)
    environment: str | None = Field(None, min_length=1)
    map: dict[str, str] = Field({}, description="where the fields of native events stand, as with --map")


class KafkaSettings(Section):
    """The Kafka topics to read. Client options have the names that kafka-python uses."""

    bootstrap_servers: Servers = Field((), description="host:port, separated by commas")
    topics: Topics = Field((), description="separated by commas")
    topic_pattern: Annotated[str | None, AfterValidator(_pattern)] = Field(
        None, description="a regular expression instead of topics; also matches topics created later"
    )
    by_topic: dict[str, TopicSettings] = Field({}, description="dialect, app, environment and map for single topics")
    group_id: str = Field("monitor", min_length=1, description="the consumer group; offsets are kept under this name")
    group_instance_id: str | None = Field(
        None, description="makes the process a static member of the group; different for each process"
    )
    client_id: str = Field("monitor", description="the name of the client in the broker's logs")
    client_rack: str = Field("", description="the rack of the client, so that it reads from the nearest replica")
    auto_offset_reset: Literal["earliest", "latest"] = Field("earliest", description="where a new group starts")
    isolation_level: Literal["read_committed", "read_uncommitted"] = Field(
        "read_committed", description="read_committed leaves out what a producer's transaction took back"
    )
    heartbeat_interval_ms: Amount = Field(2_000, description="how often the group hears from the process")
    max_poll_interval_ms: Amount = Field(
        300_000, description="how long a process may take between polls before it counts as dead"
    )
    session_timeout_ms: Amount = Field(
        default_factory=_session_timeout,
        description="when a dead consumer's partitions are given to others; with group_instance_id 45000 by default",
    )
    metadata_max_age_ms: Amount = Field(30_000, description="how soon new topics and partitions are found")
    request_timeout_ms: Amount = Field(30_000, description="how long a request may take")
    fetch_min_bytes: Amount = Field(1, description="bytes that the broker waits for before it answers")
    fetch_max_wait_ms: Amount = Field(250, description="how long it waits for them")
    fetch_max_bytes: Amount = Field(16 * 2**20, description="the most bytes of one answer")
    max_partition_fetch_bytes: Amount = Field(2 * 2**20, description="the most bytes of one partition in it")
    max_record_batch_bytes: Amount = Field(
        64 * 2**20, description="decompressed; a record batch with more becomes a dead letter, unread"
    )
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="how the connection is secured"
    )
    ssl_cafile: Path | None = Field(
        None, description="PEM file of the authorities that are trusted; default: the system's"
    )
    ssl_certfile: Path | None = Field(None, description="PEM file of the client's certificate")
    ssl_keyfile: Path | None = Field(None, description="PEM file of its key")
    ssl_password: SecretStr | None = Field(None, description="of that key")
    ssl_crlfile: Path | None = Field(None, description="PEM file of revoked certificates")
    ssl_ciphers: str | None = Field(None, description="OpenSSL's list of ciphers; default: OpenSSL's own")
    ssl_check_hostname: bool = Field(default=True, description="whether the broker's certificate must bear its name")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = Field(
        None, description="how the client signs in; goes with SASL_PLAINTEXT and SASL_SSL"
    )
    sasl_plain_username: str | None = Field(None, description="for PLAIN and SCRAM")
    sasl_plain_password: SecretStr | None = Field(None, description="for PLAIN and SCRAM")
    sasl_oauthbearer_token_path: Path | None = Field(None, description="file with a token, read for each connection")
    sasl_oauthbearer_token_endpoint_url: str | None = Field(
        None, description="exchanges client credentials for a token"
    )
    sasl_oauthbearer_client_id: str | None = Field(None, description="of the client credentials")
    sasl_oauthbearer_client_secret: SecretStr | None = Field(None, description="of the client credentials")
    sasl_oauthbearer_scope: str | None = Field(None, description="the scope to ask for")
    dead_letter_topic: str | None = Field(None, description="gets a copy of each dead letter")
    max_consecutive_dead: int = Field(
        500, ge=0, description="stop after this many dead letters of a partition in a row; 0: never"
    )
    max_dead_ratio: float = Field(
        0.5, ge=0, le=1, description="stop if a larger share of the last 1,000 messages is dead; 1: never"
    )

    def reads(self, topic: str) -> bool:
        """Whether `topic` is one of those to read."""
        return topic in self.topics or (self.topic_pattern is not None and bool(re.match(self.topic_pattern, topic)))

    @model_validator(mode="after")
    def _in_proportion(self) -> Self:
        if not self.heartbeat_interval_ms < self.session_timeout_ms <= self.max_poll_interval_ms:
            raise ValueError(
                "must hold: heartbeat_interval_ms < session_timeout_ms ≤ max_poll_interval_ms; in force are "
                f"{self.heartbeat_interval_ms}, {self.session_timeout_ms} and {self.max_poll_interval_ms}"
            )
        if not self.fetch_max_wait_ms < self.request_timeout_ms:
            raise ValueError("must hold: fetch_max_wait_ms < request_timeout_ms")
        return self
