"""Kafka by the command line: as a person starts it, stops it, gets it wrong, and looks at what became of it."""

from __future__ import annotations

import signal
import socket

import pytest
from kafka import KafkaAdminClient, KafkaConsumer

from tests.rig.ingest.consuming import answers
from tests.rig.ingest.kafka_cluster import create_topic, kcat_produce, new_topic_name, produce
from tests.rig.installation import REFUSAL, RULES
from tests.rig.waiting import until
from tests.servers.slack import CHANNEL, TOKEN, shown, slack_server

HASH = {"EMBEDDING__PROVIDER": "hash", "INGEST__BATCH_MS": "50", "EVALUATION_INTERVAL": "0.5"}


@pytest.fixture
def topic(kafka):
    return create_topic(kafka, new_topic_name(), partitions=2)


@pytest.fixture
def settings(kafka, topic):
    return {
        **HASH,
        "KAFKA__BOOTSTRAP_SERVERS": kafka,
        "KAFKA__TOPICS": topic,
        "KAFKA__GROUP_ID": f"group-{topic}",
        "KAFKA__METADATA_MAX_AGE_MS": "500",
    }


@pytest.fixture
def stored(rows):
    def wait(number):
        until(f"{number} are stored", lambda: rows("SELECT count(*) FROM interaction") == [(number,)])

    return wait


def test_kafka_is_run_with_alerts_and_stopped_in_order(monitor, kafka, topic, settings, stored, tmp_path, event):
    (tmp_path / "rules.yaml").write_text(RULES)
    with slack_server() as slack:
        running = monitor.start(
            "run",
            **{**settings, "EMBEDDING__PROVIDER": "minilm"},
            RULES=str(tmp_path / "rules.yaml"),
            SLACK__BOT_TOKEN=TOKEN,
            SLACK__CHANNEL=CHANNEL,
            SLACK__API_URL=slack.url,
        )
        kcat_produce(kafka, topic, [event(f"r-{n}", answer=REFUSAL).encode() for n in range(6)])
        stored(6)

        def told():
            return any("The bot refuses." in shown(posted.payload) for posted in list(slack.messages.values()))

        until("Slack was told", told)
        assert running.terminate() == 0
    assert f"reading {topic}" in running.err
    assert "6 received = 6 assessed" in running.err
    assert monitor.json("ledger", **settings)["total"]["assessed"] == 6


def test_a_topic_in_the_wrong_dialect_stops_the_consumer_loudly_and_is_brought_back(
    monitor, kafka, topic, settings, stored, rows
):
    produce(kafka, topic, answers(*range(700)), partition=0)
    wrong = {**settings, "KAFKA__BY_TOPIC": f'{{"{topic}": {{"dialect": "ragas"}}}}', "INGEST__BATCH_EVENTS": "64"}
    ended = monitor.run("consume", **wrong)
    assert ended.returncode == 1
    assert "cannot be interactions" in ended.stderr
    assert "KAFKA__BY_TOPIC" in ended.stderr
    buried = rows("SELECT count(*) FROM dead_letter")[0][0]
    assert 0 < buried < 500  # what came before the limit; the rest is still ahead
    running = monitor.start("consume", **settings)
    stored(700 - buried)
    assert running.terminate() == 0
    retried = monitor.run("deadletters", "retry", "--all", **settings)
    assert retried.returncode == 0, retried.stderr
    stored(700)
    ledger = monitor.json("ledger", "--recount", **settings)
    assert ledger["balanced"]
    assert (ledger["total"]["received"], ledger["total"]["assessed"], ledger["total"]["dead"]) == (700, 700, 0)


def test_dead_letters_are_mirrored_with_where_they_stood(monitor, kafka, topic, settings, rows):

    mirror = create_topic(kafka, new_topic_name())
    kcat_produce(kafka, topic, [b"no JSON"], key="k", headers=[("trace", b"1")], partition=1)
    running = monitor.start("consume", **settings, KAFKA__DEAD_LETTER_TOPIC=mirror)
    until("it is buried", lambda: rows("SELECT 1 FROM dead_letter"))
    assert running.terminate() == 0
    with KafkaConsumer(mirror, bootstrap_servers=kafka, auto_offset_reset="earliest") as consumer:
        record = next(consumer)
    assert (record.value, record.key) == (b"no JSON", b"k")
    headers = dict(record.headers)
    assert headers["trace"] == b"1"
    assert headers["monitor.topic"] == topic.encode()
    assert (headers["monitor.partition"], headers["monitor.offset"]) == (b"1", b"0")
    assert b"is not JSON" in headers["monitor.problem"]


def test_a_span_is_assessed_anew_and_explained_beside_the_live_verdict(monitor, kafka, topic, settings, stored):
    produce(kafka, topic, answers(1, 2))
    running = monitor.start("consume", **settings)
    stored(2)
    assert running.terminate() == 0
    again = monitor.run("consume", "--from", "beginning", "--group", "again", "--profile", "hash", **settings)
    assert again.returncode == 0, again.stderr
    assert "2 received = 0 assessed + 2 duplicate" in again.stderr
    assert [row["group"] for row in monitor.json("ledger", **settings)["rows"] if not row["live"]] == ["again"] * 2


@pytest.mark.parametrize(
    ("arguments", "over", "code", "said"),
    [
        (("run",), {"KAFKA__BOOTSTRAP_SERVERS": ""}, 2, "name files, or set MONITOR_KAFKA__BOOTSTRAP_SERVERS"),
        (("consume",), {"KAFKA__TOPICS": ""}, 2, "MONITOR_KAFKA__TOPICS"),
        (("consume", "--from", "beginning"), {}, 2, "--group of its own"),
        (("consume", "--from", "soon", "--group", "x"), {}, 2, "--from"),
        (("consume", "--from", "beginning", "--group", "x", "--topic", "nowhere"), {}, 2, "no such topic: nowhere"),
        (
            ("consume",),
            {"KAFKA__BOOTSTRAP_SERVERS": "127.0.0.1:9", "KAFKA__REQUEST_TIMEOUT_MS": "1000"},
            3,
            "127.0.0.1:9",
        ),
        (("consume",), {"KAFKA__DEAD_LETTER_TOPIC": "nowhere"}, 2, "there is no topic nowhere"),
        (("consume",), {"KAFKA__TOPICS": "rag", "KAFKA__DEAD_LETTER_TOPIC": "rag"}, 2, "its dead letters would loop"),
        (("consume",), {"KAFKA__TOPICS": "a b"}, 2, "MONITOR_KAFKA__TOPICS"),
        (("consume",), {"KAFKA__TOPICS": "", "KAFKA__TOPIC_PATTERN": "rag(["}, 2, "MONITOR_KAFKA__TOPIC_PATTERN"),
        (("doctor",), {"KAFKA__BOOTSTRAP_SERVERS": "host:abc"}, 2, "MONITOR_KAFKA__BOOTSTRAP_SERVERS"),
        (("consume",), {"KAFKA__BY_TOPIC": "{bad"}, 2, "MONITOR_KAFKA"),
        (("consume",), {"KAFKA__SESSION_TIMEOUT_MS": "99999999999"}, 2, "MONITOR_KAFKA__SESSION_TIMEOUT_MS"),
        (("consume",), {"KAFKA__MAX_POLL_INTERVAL_MS": "1000"}, 2, "MAX_POLL_INTERVAL_MS"),
        (("consume",), {"KAFKA__SECURITY_PROTOCOL": "SASL_SSL"}, 2, "SASL_MECHANISM"),
        (("consume",), {"KAFKA__GROUPID": "x"}, 2, "MONITOR_KAFKA__GROUPID"),
    ],
)
def test_what_is_wrong_is_one_clear_message(monitor, settings, arguments, over, code, said):
    ended = monitor.run(*arguments, **{**settings, **over})
    assert (ended.returncode, "Traceback" in ended.stderr) == (code, False)
    assert said in ended.stderr


def test_doctor_looks_at_the_topics(monitor, topic, settings):
    found = {check["check"]: check for check in monitor.json("doctor", **settings)}
    assert found["kafka"]["detail"].endswith(f"{topic} (2 partitions)")
    missing = {**settings, "KAFKA__TOPICS": "nowhere"}
    found = {check["check"]: check for check in monitor.json("doctor", code=1, **missing)}
    assert found["kafka"]["good"] is False


def test_the_demo_goes_through_the_configured_broker_and_leaves_nothing_there(fresh, kafka):

    ended = fresh.run("demo", "--kafka", "--plain", KAFKA__BOOTSTRAP_SERVERS=kafka)
    assert ended.returncode == 0, ended.stderr
    assert "pending → firing" in ended.stdout
    assert "firing → resolved" in ended.stdout
    with KafkaAdminClient(bootstrap_servers=kafka) as admin:
        assert not [name for name in admin.list_topics() if "monitor-demo" in str(name)]
    there = {"STATE_DIR": f"{fresh.settings['STATE_DIR']}/demo"}
    ledger = fresh.json("ledger", "--recount", **there)
    assert ledger["balanced"]
    assert ledger["total"]["received"] == ledger["total"]["assessed"] > 500


def test_a_second_interrupt_is_not_needed(monitor, topic, settings, kafka, stored):
    produce(kafka, topic, answers(1))
    running = monitor.start("consume", **settings)
    stored(1)
    running.process.send_signal(signal.SIGINT)
    assert running.ended() == 0


@pytest.mark.parametrize("command", ["run", "consume"])
def test_whoever_interrupts_it_while_it_connects_need_not_wait_for_the_broker(monitor, command):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and never says a word
        servers = f"127.0.0.1:{silent.getsockname()[1]}"
        running = monitor.start(command, **HASH, KAFKA__BOOTSTRAP_SERVERS=servers, KAFKA__TOPICS="rag")
        until("it connects", lambda: "connecting to" in running.err)
        running.process.send_signal(signal.SIGINT)
        assert running.ended() == 0, running.err
    assert "0 received" in running.err
    assert "MONITOR_KAFKA__BOOTSTRAP_SERVERS is" not in running.err  # it did not go on until the client gave up
