"""The brokers that other tests stand on: they serve, keep what they took, refuse strangers and leave nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from kafka.net.sasl.oauth import AbstractTokenProvider

from monitor.core.errors import OutOfReach, WrongSettings
from monitor.simulate import kafka_jars as jars_of
from monitor.simulate.broker import KafkaCluster
from monitor.simulate.kafka_jars import class_archive, java_program, kafka_jars
from tests.rig.ingest import kafka_cluster as given
from tests.rig.ingest.kafka_cluster import KEY_PASSWORD, PASSWORD, USER, read, unsigned_token
from tests.rig.installation import ROOT
from tests.rig.waiting import until

OWNER = """
import sys
from pathlib import Path
from monitor.simulate.broker import KafkaCluster
from monitor.simulate.kafka_jars import kafka_jars
with KafkaCluster(Path(sys.argv[1]), jars=kafka_jars()):
    print("ready", flush=True)
    sys.stdin.read()
"""


def values(records):
    return [record.value for record in records]


@pytest.fixture
def topic(kafka):
    return given.create_topic(kafka, given.new_topic_name())


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_it_takes_what_another_client_sends_in_every_codec(kafka, topic, codec):
    sent = [b"one\nof two lines", "zwölf".encode(), b"\x00" * 10_000]
    given.kcat_produce(kafka, topic, sent, codec=codec, headers=[("origin", b"kcat")])
    given.kcat_produce(kafka, topic, [b"a", None], codec=codec, key="k")
    records = read(kafka, topic, 5)
    assert values(records) == [*sent, b"a", None]
    assert records[0].headers == [("origin", b"kcat")]
    assert [record.key for record in records[2:]] == [None, b"k", b"k"]


def test_it_takes_large_messages(kafka, topic):
    large = b"x" * 12_000_000
    given.produce(kafka, topic, [large])
    given.kcat_produce(kafka, topic, [large], settings={"message.max.bytes": str(2**24)})
    assert [len(value) for value in values(read(kafka, topic, 2))] == [12_000_000] * 2


def test_what_was_aborted_is_not_read(kafka, topic):
    assert given.produce(kafka, topic, [b"a", b"b"], transaction="commit") == [(0, 0), (0, 1)]
    assert given.produce(kafka, topic, [b"c"], transaction="abort") == [(0, 3)]  # an end marker lies between
    given.produce(kafka, topic, [b"d"], key=b"k", headers=[("h", b"1")], timestamp_ms=1_700_000_000_000)
    records = read(kafka, topic, 3, isolation_level="read_committed")
    assert values(records) == [b"a", b"b", b"d"]
    assert values(read(kafka, topic, 4)) == [b"a", b"b", b"c", b"d"]
    last = records[-1]
    assert (last.key, last.headers, last.timestamp) == (b"k", [("h", b"1")], 1_700_000_000_000)


def test_a_group_can_be_questioned_and_a_topic_grows(kafka, topic):
    given.grow_topic(kafka, topic, 3)
    given.produce(kafka, topic, [b"a", b"b"], partition=2)
    group = given.new_topic_name()
    assert given.committed_offsets(kafka, group) == given.group_members(kafka, group) == {}
    with KafkaConsumer(
        topic, bootstrap_servers=kafka, group_id=group, group_instance_id="one", auto_offset_reset="earliest"
    ) as consumer:
        while (topic, 2) not in consumer.assignment() or consumer.position(TopicPartition(topic, 2)) < 2:
            consumer.poll(timeout_ms=200)
        consumer.commit()
        assert given.group_members(kafka, group) == {"one": {(topic, 0), (topic, 1), (topic, 2)}}
    assert given.committed_offsets(kafka, group)[topic, 2] == 2


def test_a_node_comes_back_with_what_it_took_and_answers_after_a_pause():
    with given.cluster() as cluster, ThreadPoolExecutor() as pool:
        servers, topic = cluster.bootstrap_servers, given.new_topic_name()
        given.create_topic(servers, topic)
        for end, value in ((cluster.stop, b"a"), (cluster.kill, b"b")):
            given.produce(servers, topic, [value], acks="all")
            end(1)
            cluster.start(1)
        assert cluster.bootstrap_servers == servers
        assert values(read(servers, topic, 2)) == [b"a", b"b"]
        cluster.pause(1)
        sent = pool.submit(given.produce, servers, topic, [b"c"])
        time.sleep(1)  # on a slow machine this shows less, and is not wrong
        assert not sent.done()
        cluster.resume(1)
        assert sent.result() == [(0, 2)]


def login(mechanism, password=PASSWORD):
    return {"sasl_mechanism": mechanism, "sasl_plain_username": USER, "sasl_plain_password": password}


class Token(AbstractTokenProvider):
    def __init__(self, token):
        super().__init__()
        self._token = token

    def token(self):
        return self._token


def bearer(token):
    return {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": Token(token)}


def certificate(name="client", key=None, **more):
    return {"ssl_certfile": f"{name}.pem", "ssl_keyfile": f"{key or name}.key", **more}


CA, OTHER_CA = {"ssl_cafile": "ca.pem"}, {"ssl_cafile": "other-ca.pem"}
LOGINS = [login("PLAIN"), login("SCRAM-SHA-256"), login("SCRAM-SHA-512"), bearer(unsigned_token())]
WRONG_LOGINS = [
    *(login(mechanism, "wrong") for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")),
    bearer(unsigned_token(seconds=-60)),
]


def ask(cluster, protocol, settings, **more):
    """The topics that a client with these settings sees."""
    files = {name: str(cluster.folder / value) for name, value in settings.items() if name.endswith("file")}
    with KafkaAdminClient(
        bootstrap_servers=cluster.listener(protocol), security_protocol=protocol, **{**settings, **files, **more}
    ) as admin:
        return admin.list_topics()


@pytest.mark.parametrize(
    ("protocol", "settings"),
    [
        *(("SASL_PLAINTEXT", settings) for settings in LOGINS),
        *(("SASL_SSL", {**CA, **settings}) for settings in LOGINS),
        ("SSL", {**CA, **certificate()}),
        ("SSL", {**CA, **certificate(key="client-encrypted", ssl_password=KEY_PASSWORD)}),
    ],
)
def test_a_secured_listener_lets_in_who_has_credentials(secured_kafka, protocol, settings):
    topic = given.create_topic(secured_kafka.bootstrap_servers, given.new_topic_name())
    assert topic in ask(secured_kafka, protocol, settings)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # sockets kafka-python leaves open
@pytest.mark.parametrize(
    ("protocol", "settings"),
    [
        *(("SASL_PLAINTEXT", settings) for settings in WRONG_LOGINS),
        *(("SASL_SSL", {**CA, **settings}) for settings in WRONG_LOGINS),
        ("SASL_SSL", {**OTHER_CA, **login("PLAIN")}),
        ("SSL", CA),
        ("SSL", {**CA, **certificate("other-client")}),
    ],
)
def test_a_secured_listener_refuses_who_has_none(secured_kafka, protocol, settings):
    log = secured_kafka.folder / "node-1.log"
    before = log.stat().st_size
    with pytest.raises(KafkaError):
        ask(secured_kafka, protocol, settings, bootstrap_timeout_ms=1_000)
    gc.collect()
    assert b"Failed authentication" in log.read_bytes()[before:]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kafka"  # the test itself runs in the one above


def running_in(folder):
    """The ids of the processes whose working directory is a folder."""
    return [entry.name for entry in Path("/proc").glob("[0-9]*") if where(entry) == folder.resolve()]


def where(process):
    try:
        return (process / "cwd").readlink()
    except OSError:
        return None


def test_nothing_runs_after_the_block():
    with given.cluster() as cluster:
        folder = cluster.folder
        cluster.pause(1)
        assert len(running_in(folder)) == 2  # the node and its keeper
    assert not running_in(folder)


@pytest.mark.usefixtures("kafka")
def test_nothing_runs_when_its_owner_was_killed(folder):
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with owner:
        assert owner.stdout.readline() == b"ready\n"
        assert len(running_in(folder)) == 2
        owner.send_signal(signal.SIGKILL)
    until("the node and its keeper are gone", lambda: not running_in(folder))


@pytest.mark.usefixtures("kafka")
def test_a_node_that_does_not_start_says_why(folder):
    cluster = KafkaCluster(folder, jars=kafka_jars(), properties={"log.retention.ms": "soon"})
    with pytest.raises(OutOfReach, match=r"log\.retention\.ms"), cluster:
        pass
    with KafkaCluster(folder, jars=kafka_jars()) as cluster:
        cluster.kill(1)
        (folder / "node-1/meta.properties").write_text("version=1\ncluster.id=quillmere\nnode.id=7\n")
        with pytest.raises(OutOfReach, match="node 1 has ended"):
            cluster.start(1)
    assert not running_in(folder)


@pytest.mark.usefixtures("secured_kafka")
def test_java_takes_the_classes_that_the_first_node_left():
    jars = kafka_jars()
    must = ("-Xshare:on", f"-XX:SharedArchiveFile={class_archive(jars)}")  # or it does not start
    ended = subprocess.run([java_program(), *must, "-cp", f"{jars}/*", "-version"], check=False, capture_output=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_node_starts_without_classes_that_are_damaged(folder, tmp_path):
    jars = tmp_path / "jars"
    jars.symlink_to(kafka_jars())
    class_archive(jars).write_bytes(b"no classes" * 1_000)
    with KafkaCluster(folder, jars=jars) as cluster:
        given.create_topic(cluster.bootstrap_servers, "answers")


@pytest.mark.parametrize("present", [(), ("java",)])
def test_what_is_missing_is_named(monkeypatch, tmp_path, present):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    (tmp_path / "java").write_text("#!/bin/sh\necho 'openjdk version \"21.0.2\"' >&2\n")
    if present:
        (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WrongSettings, match="`mvn` is missing" if present else "`java` is missing"):
        kafka_jars(tmp_path / "cache")


def test_an_old_java_is_named(monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").write_text("#!/bin/sh\necho 'java version \"1.8.0_402\"' >&2\n")
    (tmp_path / "bin/java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(WrongSettings, match=r"Java 17 or later, and .* is version 8"):
        kafka_jars(tmp_path / "cache")


def test_half_a_fetch_leaves_no_folder(monkeypatch, tmp_path):
    pom = tmp_path / "pom.xml"
    pom.write_text("<project/>")
    monkeypatch.setattr(jars_of, "_POM", pom)
    for name, says in (("java", "exit 0"), ("mvn", 'echo "cannot resolve"; exit 1')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(OutOfReach, match="cannot resolve"):
        kafka_jars(tmp_path / "cache")
    assert [left.suffix for left in (tmp_path / "cache").iterdir()] == [".lock"]


def test_of_several_at_once_one_fetches_for_all(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    for name, says in (
        ("java", "exit 0"),
        ("mvn", f'sleep 0.2; echo >>{tmp_path}/runs; for to; do :; done; mkdir "${{to#*=}}"; touch "${{to#*=}}/k.jar"'),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with ThreadPoolExecutor() as pool:
        found = set(pool.map(kafka_jars, [tmp_path / "cache"] * 3))
    (jars,) = found
    assert [jar.name for jar in jars.iterdir()] == ["k.jar"]
    assert (tmp_path / "runs").read_text() == "\n"
