"""Apache Kafka for tests: clusters to ask for, and clients of other makes that fill and question them.

`kafka` is the broker that `MONITOR_TEST_KAFKA` names (bootstrap servers, no credentials), if it names one. All other
clusters are started with the machine's Java.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from monitor.core.errors import Fatal
from monitor.simulate.broker import KafkaCluster
from monitor.simulate.kafka_jars import class_archive, kafka_jars
from tests.rig.services import Shared, missing

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its own files by deprecated functions
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.errors import KafkaError
    from kafka.net.inet import KafkaNetSocket

Headers = Sequence[tuple[str, bytes]]

ADVICE = "Kafka is needed (MONITOR_TEST_KAFKA may name one for most tests)"
BROKER = f"""
import sys
from pathlib import Path
from monitor.core.errors import Fatal
from monitor.simulate.broker import KafkaCluster
from monitor.simulate.kafka_jars import kafka_jars
try:
    with KafkaCluster(Path(sys.argv[1]), jars=kafka_jars()) as started:
        print(started.bootstrap_servers, flush=True)
        sys.stdin.read()
except Fatal as error:
    sys.exit(f"{ADVICE}: {{error}}")
"""

# A secured cluster's: made up, and good for nothing else.
USER, PASSWORD, KEY_PASSWORD = "quillmere", "quillmere-secret", "quillmere-key"
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
SECURED = ("SASL_PLAINTEXT", "SASL_SSL", "SSL")
_LOGIN = {
    "PLAIN": f'plain.PlainLoginModule required user_{USER}="{PASSWORD}"',
    "SCRAM-SHA-256": "scram.ScramLoginModule required",
    "SCRAM-SHA-512": "scram.ScramLoginModule required",
    "OAUTHBEARER": 'oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker"',
}
_SECURED_PROPERTIES = {
    "sasl.enabled.mechanisms": ",".join(_LOGIN),
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": "server.pem",
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": "ca.pem",
    "listener.name.ssl.ssl.client.auth": "required",
    **{
        f"listener.name.{name}.{mechanism.lower()}.sasl.jaas.config": f"org.apache.kafka.common.security.{login};"
        for name in ("sasl_plaintext", "sasl_ssl")
        for mechanism, login in _LOGIN.items()
    },
}


class _ClosedWhenForgotten(socket.socket):
    """A socket that closes itself: kafka-python forgets those that it is connecting as their client is closed."""

    def __del__(self) -> None:
        self.close()


def pytest_configure() -> None:
    KafkaNetSocket.socket = lambda _, family, kind, protocol: _ClosedWhenForgotten(family, kind, protocol)


@contextmanager
def cluster(**arguments: Any) -> Iterator[KafkaCluster]:
    """A cluster of its own for the block, with `KafkaCluster`'s arguments but for `folder` and `jars`.

    Where none can be started the test is skipped, or fails if services are required.
    """
    with tempfile.TemporaryDirectory(prefix="monitor-kafka-") as folder, ExitStack() as stack:
        with _needed():
            started = stack.enter_context(KafkaCluster(Path(folder), jars=_jars(), **arguments))
        yield started


@contextmanager
def secured_cluster() -> Iterator[KafkaCluster]:
    """One broker that listens with `SECURED` too.

    SASL_PLAINTEXT and SASL_SSL take PLAIN and SCRAM with `USER` and `PASSWORD`, and OAUTHBEARER with `unsigned_token`;
    SSL asks for a client's certificate. `folder` holds ca.pem, client.pem, client.key and client-encrypted.key (with
    `KEY_PASSWORD`), and the same of another authority, which the broker does not know, with `other-` before the names.
    """
    scram = [f"{mechanism}=[name={USER},password={PASSWORD}]" for mechanism in SCRAM]
    with tempfile.TemporaryDirectory(prefix="monitor-kafka-") as name, ExitStack() as stack:
        folder = Path(name)
        with _needed():
            make_certificates(folder)
            make_certificates(folder, "other-")
            started = stack.enter_context(
                KafkaCluster(
                    folder,
                    jars=_jars(),
                    listeners=SECURED,
                    properties=_SECURED_PROPERTIES,
                    formatted_with=[part for user in scram for part in ("--add-scram", user)],
                )
            )
        yield started


@cache
def _jars() -> Path:
    """Kafka's jars, with their class archive: the first process of all that runs tests here makes it."""
    jars = kafka_jars()
    archive = class_archive(jars)
    if not os.access(archive.parent, os.W_OK):  # brokers start without it too
        return jars
    with archive.with_suffix(".lock").open("w") as lock, tempfile.TemporaryDirectory(prefix="monitor-kafka-") as folder:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            with KafkaCluster(Path(folder), jars=jars, archives_classes=True) as started:
                started.stop(1)
    return jars


@contextmanager
def _needed() -> Iterator[None]:
    try:
        yield
    except Fatal as error:
        missing(f"{ADVICE}: {error}")


@pytest.fixture(scope="session")
def kafka(shared: Shared) -> str:
    """Bootstrap servers of one broker that all tests share; each makes topics of its own (`new_topic_name`)."""
    if given := os.environ.get("MONITOR_TEST_KAFKA"):
        return given
    with _needed():
        _jars()
    return shared.service("kafka", BROKER, shared.folder / "kafka")


@pytest.fixture(scope="module")
def secured_kafka(_no_settings_of_the_user: None) -> Iterator[KafkaCluster]:
    """See `secured_cluster`."""
    with secured_cluster() as started:
        yield started


@pytest.fixture(scope="module")
def _shared_three_brokers(_no_settings_of_the_user: None) -> Iterator[KafkaCluster]:
    with cluster(brokers=3) as started:
        yield started


@pytest.fixture
def three_brokers(_shared_three_brokers: KafkaCluster) -> Iterator[KafkaCluster]:
    """Three brokers that a test may stop, kill and pause; all run again for the next one."""
    yield _shared_three_brokers
    _shared_three_brokers.start_all()


def new_topic_name() -> str:
    return f"monitor-test-{uuid4().hex[:12]}"


def create_topic(
    bootstrap: str, name: str, partitions: int = 1, replication: int = 1, configs: Mapping[str, str] | None = None
) -> str:
    """Returns the name when every partition has its leader."""
    wanted = {"num_partitions": partitions, "replication_factor": replication, "configs": dict(configs or {})}
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        admin.create_topics({name: wanted}, wait_for_metadata=True)
    return name


def grow_topic(bootstrap: str, name: str, partitions: int) -> None:
    """Gives a topic as many partitions in all."""
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        admin.create_partitions({name: partitions})


def kcat_produce(
    bootstrap: str,
    topic: str,
    values: Iterable[bytes | None],
    *,
    codec: str | None = None,
    key: str | None = None,
    headers: Headers = (),
    partition: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Sends messages with kcat, so by librdkafka; `settings` are its own, such as message.max.bytes.

    Values may hold any bytes but none may be empty; None is a tombstone, which needs a key.
    """
    kcat = shutil.which("kcat")
    if kcat is None:
        missing("kcat is needed: apt-get install kcat")
    values = list(values)
    assert all(value or (value is None and key) for value in values), "kcat leaves such messages out"
    end, colon = uuid4().hex, uuid4().hex  # values may hold whatever people use to part messages
    options = ["-D", end, "-Z"]
    options += ["-K", colon] if key else []
    options += ["-z", codec] if codec else []
    options += ["-p", str(partition)] if partition is not None else []
    options += [part for name, value in headers for part in ("-H", f"{name}={value.decode()}")]
    options += [part for setting in (settings or {}).items() for part in ("-X", "=".join(setting))]
    before = f"{key}{colon}".encode() if key else b""
    sent = subprocess.run(
        [kcat, "-P", "-b", bootstrap, "-t", topic, *options],
        input=b"".join(before + (value or b"") + end.encode() for value in values),
        capture_output=True,
        check=False,
    )
    assert sent.returncode == 0, sent.stderr.decode()


def produce(
    bootstrap: str,
    topic: str,
    values: Iterable[bytes | None],
    *,
    key: bytes | None = None,
    headers: Headers = (),
    partition: int | None = None,
    timestamp_ms: int | None = None,
    transaction: str | None = None,
    **settings: Any,
) -> list[tuple[int, int]]:
    """Sends messages with kafka-python and returns their (partition, offset).

    `transaction` is "commit" or "abort": all of them in one, ended that way. `settings` are the producer's.
    """
    if transaction:
        settings["transactional_id"] = f"monitor-test-{uuid4().hex[:12]}"
    with KafkaProducer(bootstrap_servers=bootstrap, **{"max_request_size": 2**24, **settings}) as producer:
        if transaction:
            producer.init_transactions()
            producer.begin_transaction()
        sent = [
            producer.send(topic, value, key=key, headers=list(headers), partition=partition, timestamp_ms=timestamp_ms)
            for value in values
        ]
        producer.flush()  # an abort drops what was not sent
        if transaction:
            {"commit": producer.commit_transaction, "abort": producer.abort_transaction}[transaction]()
        written = [future.get() for future in sent]
    return [(record.partition, record.offset) for record in written]


def read(bootstrap: str, topic: str, number: int, **settings: Any) -> list[Any]:
    """The first messages of a topic. It goes on until they are there."""
    found: list[Any] = []
    with KafkaConsumer(topic, bootstrap_servers=bootstrap, **{"auto_offset_reset": "earliest", **settings}) as consumer:
        while len(found) < number:
            for records in consumer.poll(timeout_ms=200).values():
                found += records
    return found


def committed_offsets(bootstrap: str, group: str) -> dict[TopicPartition, int]:
    """What a group has committed; a key equals the tuple (topic, partition)."""
    offsets = _asked(bootstrap, lambda admin: admin.list_group_offsets(group)[group])
    return {place: committed.offset for place, committed in offsets.items()}


def group_members(bootstrap: str, group: str) -> dict[str, set[tuple[str, int]]]:
    """The (topic, partition)s of each member, by its instance id if it has one, else its member id.

    Empty for a group that does not exist, and while members come and go.
    """
    described = _asked(bootstrap, lambda admin: admin.describe_groups([group])[group])
    if described["group_state"] != "Stable":
        return {}
    return {
        member["group_instance_id"] or member["member_id"]: {
            (of["topic"], partition)
            for of in member["member_assignment"]["assigned_partitions"]
            for partition in of["partitions"]
        }
        for member in described["members"]
    }


def _asked(bootstrap: str, question: Callable[[KafkaAdminClient], Any]) -> Any:
    """The answer, once there is one: a broker makes the place where groups are kept when it first hears of one."""
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        while True:
            try:
                return question(admin)
            except KafkaError as error:
                if not error.retriable:
                    raise
            time.sleep(0.05)  # what a broker does can only be asked again


def unsigned_token(user: str = USER, *, seconds: float = 3_600) -> str:
    """A bearer token that a secured cluster takes for `seconds`: without a signature, RFC 7515's `alg: none`."""
    now = time.time()
    parts = ({"alg": "none"}, {"sub": user, "iat": now - 60, "exp": now + seconds})
    return ".".join([base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]) + "."


def make_certificates(folder: Path, prefix: str = "") -> None:
    """An authority, and what it signed: the server's certificate and a client's, as PEM."""
    openssl = shutil.which("openssl")
    if openssl is None:
        missing("certificates are needed: apt-get install openssl")

    def make(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=folder, check=True, capture_output=True)

    def new(name: str, subject: str, *arguments: str) -> None:
        files = ("-keyout", f"{prefix}{name}.key", "-out", f"{prefix}{name}.pem")
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        make("req", "-x509", *curve, "-days", "2", "-subj", f"/CN={subject}", *files, *arguments)

    signed = ("-CA", f"{prefix}ca.pem", "-CAkey", f"{prefix}ca.key", "-addext", "basicConstraints=critical,CA:FALSE")
    new("ca", f"{prefix}authority")
    new("server", "localhost", *signed, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    new("client", USER, *signed)
    lock = ("-v2", "aes-256-cbc", "-passout", f"pass:{KEY_PASSWORD}")
    make("pkcs8", "-topk8", *lock, "-in", f"{prefix}client.key", "-out", f"{prefix}client-encrypted.key")
    server = folder / f"{prefix}server.pem"  # the broker reads both from one file
    server.write_bytes((folder / f"{prefix}server.key").read_bytes() + server.read_bytes())
