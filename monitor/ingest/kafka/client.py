"""Options of the Kafka client from our settings, OAuth tokens, and the meaning of its errors and records."""

from __future__ import annotations

import json
import logging
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from kafka import KafkaConsumer, errors
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.net.sasl.oauth import AbstractTokenProvider
from typing_extensions import override

from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.core.message import Message, Position
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.bounded import BoundedConsumer

_SAME_NAME = (
    *("security_protocol", "ssl_ciphers", "ssl_check_hostname", "sasl_mechanism", "sasl_plain_username"),
    *("client_id", "request_timeout_ms", "metadata_max_age_ms"),
)
_CONSUMER = (
    *("group_id", "group_instance_id", "client_rack", "isolation_level"),
    *("session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms"),
    *("fetch_min_bytes", "fetch_max_wait_ms", "fetch_max_bytes", "max_partition_fetch_bytes"),
)
_FILES = ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile")
_SECRETS = ("ssl_password", "sasl_plain_password")
_TOKEN_MARGIN = 30.0  # seconds before it expires that a token is renewed
_AHEAD = 3600.0  # seconds that a producer's clock may be ahead of ours
_KAFKA_BEGAN = datetime(2011, 1, 1, tzinfo=UTC).timestamp()
_RECONNECT_MS = 2_000  # the client's own half minute would outlast most restarts of a broker
_BOOTSTRAP_MS = 15_000  # at most, for the first answer of any broker
_ASK_AGAIN = 0.2  # seconds
# Errors that waiting does not mend. The client's messages name what was refused, never a password.
_FATAL = (
    errors.AuthorizationError,
    errors.FencedInstanceIdError,
    errors.GroupMaxSizeReachedError,
    errors.InconsistentGroupProtocolError,
    errors.InvalidGroupIdError,
    errors.InvalidSessionTimeoutError,
    errors.InvalidTopicError,
    errors.KafkaConfigurationError,
    errors.SaslAuthenticationFailedError,
    errors.UnsupportedCodecError,
    errors.UnsupportedSaslMechanismError,
    errors.UnsupportedVersionError,
)
_HINTS = {
    errors.FencedInstanceIdError: "another process uses this MONITOR_KAFKA__GROUP_INSTANCE_ID; give each its own",
    errors.InconsistentGroupProtocolError: "other members of the group do not use the cooperative-sticky assignor; "
    "set MONITOR_KAFKA__GROUP_ID to a group of monitor's own",
    errors.AuthorizationError: "the broker's ACLs refuse this user; it needs Read and Describe on the topics, Read "
    "on the group, and Write on the dead-letter topic",
    errors.InvalidSessionTimeoutError: "MONITOR_KAFKA__SESSION_TIMEOUT_MS must be within the broker's "
    "group.min.session.timeout.ms and group.max.session.timeout.ms (6000 and 1800000 unless changed)",
}


_ATTEMPT = re.compile(r"Bootstrap connection to \S+ failed: (?P<problem>.+) \(backoff .*")
_SIGNS = {
    "SaslAuthenticationFailed": "check MONITOR_KAFKA__SASL_…: the broker refuses these credentials",
    "UnsupportedSaslMechanism": "check MONITOR_KAFKA__SASL_MECHANISM: the broker does not offer it",
    "CERTIFICATE_VERIFY_FAILED": "MONITOR_KAFKA__SSL_CAFILE must hold the authority that signed the broker's "
    "certificate, and MONITOR_KAFKA__BOOTSTRAP_SERVERS must use the host name in it",
    "_ALERT_": "the broker asks for a client certificate that it knows: MONITOR_KAFKA__SSL_CERTFILE and …_SSL_KEYFILE",
    "Invalid frame length": "this is not a plain listener: check MONITOR_KAFKA__SECURITY_PROTOCOL",
    "PEM lib": "MONITOR_KAFKA__SSL_CERTFILE and …_SSL_KEYFILE must be PEM, and …_SSL_PASSWORD must open the key",
    "WRONG_VERSION_NUMBER": "this is not a TLS listener: check MONITOR_KAFKA__SECURITY_PROTOCOL",
}


def client_options(kafka: KafkaSettings) -> dict[str, Any]:
    """The options of every kafka-python client: servers, names, TLS and SASL.

    Raises:
        WrongSettings: no server is set, a file cannot be read, or settings contradict each other.
    """
    if not kafka.bootstrap_servers:
        raise WrongSettings("no Kafka is set: MONITOR_KAFKA__BOOTSTRAP_SERVERS=host:9092")
    options: dict[str, Any] = {name: getattr(kafka, name) for name in _SAME_NAME}
    for name in _FILES:
        options[name] = _readable(name, getattr(kafka, name))
    for name in _SECRETS:
        secret = getattr(kafka, name)
        options[name] = None if secret is None else secret.get_secret_value()
    _check_sasl(kafka)
    if kafka.sasl_mechanism == "OAUTHBEARER":
        options["sasl_oauth_token_provider"] = _Tokens(kafka)
    timeout = min(_BOOTSTRAP_MS, kafka.request_timeout_ms)
    # not every client accepts each option
    options = {name: value for name, value in options.items() if value is not None}
    return options | {"bootstrap_servers": list(kafka.bootstrap_servers), "bootstrap_timeout_ms": timeout}


def _readable(name: str, path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        with path.open("rb"):
            return str(path)
    except OSError as error:
        raise WrongSettings(f"MONITOR_KAFKA__{name.upper()}: cannot read {path}: {error.strerror}") from None


def _check_sasl(kafka: KafkaSettings) -> None:
    sasl = kafka.security_protocol.startswith("SASL")
    if sasl != (kafka.sasl_mechanism is not None):
        missing = "SASL_MECHANISM" if sasl else "SECURITY_PROTOCOL to SASL_SSL (or SASL_PLAINTEXT)"
        raise WrongSettings(f"SASL needs both a protocol and a mechanism: set MONITOR_KAFKA__{missing}")
    if kafka.sasl_mechanism == "OAUTHBEARER":
        if (kafka.sasl_oauthbearer_token_path is None) == (kafka.sasl_oauthbearer_token_endpoint_url is None):
            raise WrongSettings(
                "OAUTHBEARER needs either MONITOR_KAFKA__SASL_OAUTHBEARER_TOKEN_PATH or …_TOKEN_ENDPOINT_URL"
            )
        if kafka.sasl_oauthbearer_token_endpoint_url is not None and kafka.sasl_oauthbearer_client_id is None:
            raise WrongSettings("a token endpoint needs MONITOR_KAFKA__SASL_OAUTHBEARER_CLIENT_ID and …_CLIENT_SECRET")
    elif sasl and (kafka.sasl_plain_username is None or kafka.sasl_plain_password is None):
        raise WrongSettings("MONITOR_KAFKA__SASL_PLAIN_USERNAME and …_SASL_PLAIN_PASSWORD are both needed")


def connected(kafka: KafkaSettings) -> BoundedConsumer:
    """A consumer without partitions, which never uses offsets committed to Kafka.

    Raises:
        Retriable: no broker is reachable for now.
        WrongSettings, Fatal: the settings contradict each other, or the broker refuses them.
    """
    with kafka_errors(), _explained():
        return BoundedConsumer(
            max_record_batch_bytes=kafka.max_record_batch_bytes,
            **client_options(kafka),
            **{name: getattr(kafka, name) for name in _CONSUMER},
            partition_assignment_strategy=[CooperativeStickyAssignor],
            enable_auto_commit=False,
            auto_offset_reset="none",
            reconnect_backoff_max_ms=_RECONNECT_MS,
            allow_auto_create_topics=False,
            metrics_enabled=False,
        )


@contextmanager
def _explained() -> Iterator[None]:
    """Adds why no broker accepts us: the client writes that to its log only, and raises a timeout."""
    attempts = _FailedAttempts()
    logger = logging.getLogger("kafka.net")
    logger.addHandler(attempts)
    propagated, logger.propagate = logger.propagate, False
    try:
        yield
    except errors.KafkaTimeoutError as error:
        for sign, hint in _SIGNS.items():
            if problem := next((problem for problem in attempts.problems if sign in problem), None):
                raise WrongSettings(f"kafka: {problem}\n{hint}") from error
        closed = any("socket disconnected" in problem for problem in attempts.problems)
        hint = (
            "\nBrokers hang up like this on wrong credentials, or if they expect TLS: "
            "check MONITOR_KAFKA__SECURITY_PROTOCOL and …_SASL_…"
        )
        raise Retriable(
            f"kafka: {attempts.problems[-1] if attempts.problems else error}{hint if closed else ''}"
        ) from error
    finally:
        logger.propagate = propagated
        logger.removeHandler(attempts)


class _FailedAttempts(logging.Handler):
    """Collects the problem of each failed attempt to connect."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.problems: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        found = _ATTEMPT.fullmatch(record.getMessage())
        if found:
            self.problems.append(found["problem"])


@contextmanager
def kafka_errors() -> Iterator[None]:
    """Turns errors that waiting may mend into `Retriable`, and all others into `Fatal`."""
    try:
        yield
    except _FATAL as error:
        hint = next((hint for kind, hint in _HINTS.items() if isinstance(error, kind)), None)
        raise Fatal(f"kafka: {error}" + (f"\n{hint}" if hint else "")) from error
    except errors.KafkaError as error:
        raise Retriable(f"kafka: {error}") from error
    except ssl.SSLError as error:  # from loading certificates; a server's refusal is a KafkaError
        raise WrongSettings(f"kafka: the certificates of MONITOR_KAFKA__SSL_… cannot be used: {error}") from None


def topics_seen(consumer: KafkaConsumer) -> set[str]:
    """The topics that we may see. Tries for a while, since the first broker asked may be down.

    Raises:
        Retriable, Fatal: see `kafka_errors`.
    """
    until = time.monotonic() + _BOOTSTRAP_MS / 1000
    while True:
        try:
            with kafka_errors():
                return set(consumer.topics())
        except Retriable:
            if time.monotonic() >= until:
                raise
        time.sleep(_ASK_AGAIN)


def message_of(record: Any, now: datetime) -> Message:
    """A record of the client as a message; `now` is when it was polled."""
    value = record.value
    return Message(
        value=value,
        position=Position(topic=record.topic, partition=record.partition, offset=record.offset),
        received_at=_received(record.timestamp, now),
        headers=tuple([(name, content or b"") for name, content in record.headers]),
        key=record.key,
        size=len(value),
    )


def _received(milliseconds: int | None, now: datetime) -> datetime:
    """The record's timestamp, or `now` if that is not plausible."""
    if milliseconds is None or not _KAFKA_BEGAN <= milliseconds / 1000 <= now.timestamp() + _AHEAD:
        return now
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


class _Tokens(AbstractTokenProvider):  # type: ignore[misc]  # kafka-python ships no types
    """A token for OAUTHBEARER, from a file or by the client credentials grant of RFC 6749 §4.4."""

    def __init__(self, kafka: KafkaSettings) -> None:
        super().__init__()
        self._kafka = kafka
        self._token = ""
        self._good_until = 0.0
        self._lock = Lock()

    @override
    def token(self) -> str:
        """A valid token, cached until shortly before it expires.

        Raises:
            KafkaError: no token is available for now.
        """
        path = self._kafka.sasl_oauthbearer_token_path
        if path is not None:
            try:
                return path.read_text(encoding="ascii").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise errors.SaslAuthenticationFailedError(f"{path}: holds no token: {error}") from None
        with self._lock:
            if time.monotonic() >= self._good_until:
                self._token, lasts = self._fetched()
                self._good_until = time.monotonic() + lasts - _TOKEN_MARGIN
            return self._token

    def _fetched(self) -> tuple[str, float]:
        kafka = self._kafka
        secret = kafka.sasl_oauthbearer_client_secret
        pair = f"{kafka.sasl_oauthbearer_client_id}:{'' if secret is None else secret.get_secret_value()}"
        form = {"grant_type": "client_credentials"}
        if kafka.sasl_oauthbearer_scope:
            form["scope"] = kafka.sasl_oauthbearer_scope
        url = str(kafka.sasl_oauthbearer_token_endpoint_url)
        if not url.startswith(("https://", "http://")):
            raise errors.KafkaConfigurationError(f"{url}: the token endpoint is no http address")
        request = urllib.request.Request(  # noqa: S310  checked above
            url,
            data=urllib.parse.urlencode(form).encode(),
            headers={"Authorization": "Basic " + b64encode(pair.encode()).decode()},
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
                answer = json.load(response)
            return str(answer["access_token"]), float(answer.get("expires_in", 300))
        except (OSError, ValueError, KeyError, TypeError) as error:  # an HTTPError is an OSError
            raise errors.KafkaConnectionError(f"no token from {url}: {error}") from None
