"""Every way to a broker that asks who we are; what is wrong is said once and plainly, and no secret with it."""

from __future__ import annotations

import gc
import json
import logging
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs

import pytest

from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import client_options, connected
from tests.rig.ingest.consuming import answers, consuming, settings_for
from tests.rig.ingest.kafka_cluster import (
    KEY_PASSWORD,
    PASSWORD,
    SCRAM,
    USER,
    create_topic,
    new_topic_name,
    produce,
    unsigned_token,
)
from tests.rig.waiting import until

# sockets of failed handshakes are left to the garbage collector by the client
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
CREDENTIALS = {"sasl_plain_username": USER, "sasl_plain_password": PASSWORD}


@pytest.fixture(autouse=True)
def _sockets_are_collected():
    yield
    gc.collect()


@pytest.fixture
def token_server():
    """The token endpoint of an OAuth server, and what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked.append((self.headers["Authorization"], parse_qs(body)))
            answer = json.dumps({"access_token": unsigned_token(), "expires_in": 3600}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/token", asked
        server.shutdown()
        thread.join()


def tls(cluster, **over):
    return {"ssl_cafile": cluster.folder / "ca.pem", **over}


def ways(cluster, tmp_path):
    """Settings that let us in, by name."""
    token = tmp_path / "token"
    token.write_text(unsigned_token() + "\n")
    plain = {"security_protocol": "SASL_PLAINTEXT", "bootstrap_servers": cluster.listener("SASL_PLAINTEXT")}
    secured = tls(cluster, security_protocol="SASL_SSL", bootstrap_servers=cluster.listener("SASL_SSL"))
    mutual = tls(
        cluster,
        security_protocol="SSL",
        bootstrap_servers=cluster.listener("SSL"),
        ssl_certfile=cluster.folder / "client.pem",
    )
    return {
        "PLAIN": {**plain, **CREDENTIALS, "sasl_mechanism": "PLAIN"},
        **{mechanism: {**secured, **CREDENTIALS, "sasl_mechanism": mechanism} for mechanism in SCRAM},
        "OAUTHBEARER": {**secured, "sasl_mechanism": "OAUTHBEARER", "sasl_oauthbearer_token_path": token},
        "mTLS": {**mutual, "ssl_keyfile": cluster.folder / "client.key"},
        "mTLS, key with a password": {
            **mutual,
            "ssl_keyfile": cluster.folder / "client-encrypted.key",
            "ssl_password": KEY_PASSWORD,
        },
    }


WAYS = ("PLAIN", *SCRAM, "OAUTHBEARER", "mTLS", "mTLS, key with a password")


@pytest.mark.parametrize("way", WAYS)
def test_messages_are_read_by_every_way_in(secured_kafka, database, rows, tmp_path, way, caplog):
    caplog.set_level(logging.INFO)
    topic = create_topic(secured_kafka.bootstrap_servers, new_topic_name())
    produce(secured_kafka.bootstrap_servers, topic, answers(1))
    settings = ways(secured_kafka, tmp_path)[way]
    with consuming(settings_for(settings.pop("bootstrap_servers"), database, topic, **settings)):
        until("it is stored", lambda: rows("SELECT id FROM interaction") == [("q-1",)])
    for secret in (PASSWORD, KEY_PASSWORD, unsigned_token()[:40]):
        assert secret not in caplog.text


def test_client_credentials_are_exchanged_for_a_token_once(secured_kafka, token_server):
    url, asked = token_server
    settings = KafkaSettings(
        bootstrap_servers=secured_kafka.listener("SASL_PLAINTEXT"),
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_oauthbearer_token_endpoint_url=url,
        sasl_oauthbearer_client_id="monitor",
        sasl_oauthbearer_client_secret="s3cret",
        sasl_oauthbearer_scope="kafka",
    )
    consumer = connected(settings)
    assert isinstance(consumer.topics(), set)
    consumer.close()
    assert asked == [
        ("Basic bW9uaXRvcjpzM2NyZXQ=", {"grant_type": ["client_credentials"], "scope": ["kafka"]}),
    ]


WRONG = {
    "authority": ("SCRAM-SHA-256", {"ssl_cafile": "other-ca.pem"}, "MONITOR_KAFKA__SSL_CAFILE"),
    "client of another authority": (
        "mTLS",
        {"ssl_certfile": "other-client.pem", "ssl_keyfile": "other-client.key"},
        "client certificate",
    ),
    "no client certificate": ("mTLS", {"ssl_certfile": None, "ssl_keyfile": None}, "client certificate"),
    "key's password": ("mTLS, key with a password", {"ssl_password": "wrong-one"}, "SSL_PASSWORD"),
}
# Here the broker may just hang up, or tell why later than the client waits.
HINTED = {
    "password": ("SCRAM-SHA-256", {"sasl_plain_password": "wrong-one"}),
    "password of PLAIN": ("PLAIN", {"sasl_plain_password": "wrong-one"}),
    "user": ("SCRAM-SHA-512", {"sasl_plain_username": "nobody"}),
    "protocol": ("mTLS", {"security_protocol": "PLAINTEXT"}),
}


def wrong(cluster, tmp_path, way, over):
    files = {name: cluster.folder / value for name, value in over.items() if str(value).endswith((".pem", ".key"))}
    return KafkaSettings(**{**ways(cluster, tmp_path)[way], **over, **files, "request_timeout_ms": 6_000})


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_with_the_setting_that_mends_it(secured_kafka, tmp_path, what):
    way, over, said = WRONG[what]
    with pytest.raises(WrongSettings, match=said) as raised:
        connected(wrong(secured_kafka, tmp_path, way, over))
    assert "wrong-one" not in str(raised.value)


@pytest.mark.parametrize("what", HINTED)
def test_what_makes_a_broker_hang_up_is_at_least_hinted_at(secured_kafka, tmp_path, what):
    with pytest.raises((WrongSettings, Retriable), match="MONITOR_KAFKA__S") as raised:
        connected(wrong(secured_kafka, tmp_path, *HINTED[what]))
    assert "wrong-one" not in str(raised.value)


@pytest.mark.parametrize(
    ("over", "problem"),
    [
        ({"bootstrap_servers": ()}, "BOOTSTRAP_SERVERS"),
        ({"security_protocol": "SASL_SSL"}, "SASL_MECHANISM"),
        ({"sasl_mechanism": "PLAIN"}, "SECURITY_PROTOCOL"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"}, "SASL_PLAIN_USERNAME"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}, "TOKEN_PATH"),
        ({"ssl_cafile": "/nowhere/ca.pem"}, "SSL_CAFILE.*cannot read /nowhere/ca.pem"),
    ],
)
def test_settings_that_contradict_each_other_are_wrong_before_anything_is_asked(over, problem):
    with pytest.raises(WrongSettings, match=problem):
        client_options(KafkaSettings(**{"bootstrap_servers": ("127.0.0.1:9",), **over}))


def test_a_session_timeout_that_the_broker_does_not_allow_stops_us(kafka, database):
    topic = create_topic(kafka, new_topic_name())
    settings = settings_for(kafka, database, topic, session_timeout_ms=500, heartbeat_interval_ms=100)
    with pytest.raises(Fatal, match="SESSION_TIMEOUT_MS"), consuming(settings) as consumer:
        consumer.ended()
