"""Rig of the fault trial: a database and consumers that can be broken, and a producer that counts its messages.

The broker is `monitor.simulate.broker.KafkaCluster`. Everything runs on this machine; only our own processes are ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import psycopg
from kafka import KafkaProducer
from kafka.errors import KafkaError

from monitor.store.embedded_postgres import embedded_database

ROOT = Path(__file__).resolve().parents[2]
SESSION_MS = 3_000
JUNK, TOMBSTONES, REPEATED = 0.01, 0.01, 0.03  # of the messages
ANSWERS = ("Deleted snapshots are kept for 30 days.", "Sorry, I cannot help with that.", "They are kept for ever.")


class Postgres:
    """An embedded PostgreSQL that can be stopped, abruptly or in order, and started again."""

    def __init__(self, folder: Path) -> None:
        folder.parent.chmod(0o711)  # so that root's database lies in it too
        self.url = embedded_database(folder)
        self._data = folder / "postgres"
        self._user = self._data.stat().st_uid
        program, options = (self._data / "postmaster.opts").read_text(encoding="utf-8").split(maxsplit=1)
        self._options = options.strip().replace(f'"-D" "{self._data}"', "")
        self._program = Path(program).with_name("pg_ctl")

    def stop(self, mode: str) -> None:
        """Stops the server; `immediate` amounts to pulling the plug."""
        self._ctl("stop", "-m", mode)

    def start(self) -> None:
        self._ctl("start", "-l", str(self._data / "log"), "-o", self._options)

    def cut(self) -> None:
        """Ends every connection but this one."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(query, values).fetchall()  # type: ignore[call-overload]

    def _ctl(self, *arguments: str) -> None:
        subprocess.run(
            [str(self._program), "-w", "-D", str(self._data), *arguments],
            user=self._user,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )


class Consumer:
    """One `monitor consume`, which can be restarted each time it ends."""

    def __init__(self, name: str, folder: Path, settings: dict[str, str]) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._settings = {**settings, "STATE_DIR": str(folder / "consumers")}  # with the audit key of them all
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0

    def start(self) -> None:
        self._starts += 1
        named = {f"MONITOR_{name}": value for name, value in self._settings.items()}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "monitor", "consume"],
                cwd=ROOT,
                env={**os.environ, **named},
                stdout=log,
                stderr=log,
            )

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def ready(self) -> bool:
        """Whether the consumer has found its database; if it had none at its start, its supervisor starts it again."""
        return self.log.read_text(encoding="utf-8").count("storing in") == self._starts

    def send(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    def end(self, number: int) -> None:
        """Sends a signal that ends the consumer, and waits."""
        if self._process is not None:
            self.send(number)
            self.send(signal.SIGCONT)
            self._process.wait()
            self._process = None


class Producer:
    """Sends events and remembers their ids, and messages that must not become interactions, until it is stopped."""

    def __init__(self, servers: str, topic: str, random: Random) -> None:
        self._topic = topic
        self._random = random
        common = {"bootstrap_servers": servers, "acks": "all", "reconnect_backoff_max_ms": 1_000}
        self._producer = KafkaProducer(**common, linger_ms=5, delivery_timeout_ms=600_000)
        self._doubtful = KafkaProducer(**common, transactional_id=f"{topic}-doubtful")
        self._doubtful_begun = False
        self.sent: set[str] = set()
        self.never: set[str] = set()  # ids in aborted transactions
        self.repeated = self.junk = self.tombstones = self.aborted = 0

    def produce(self, number: int) -> None:
        """Sends about `number` messages, nearly all new interactions. Returns when the brokers have them."""
        for _ in range(number):
            chance = self._random.random()
            if chance < JUNK:
                self.junk += 1
                self._send(f"no JSON, number {self.junk}".encode())
            elif chance < JUNK + TOMBSTONES:
                self.tombstones += 1
                self._send(None)
            elif chance < JUNK + TOMBSTONES + REPEATED and self.sent:
                self.repeated += 1
                self._send(event(self._random.choice(sorted(self.sent)[:100]), self._random))
            else:
                name = f"q-{len(self.sent):07d}"
                self.sent.add(name)
                self._send(event(name, self._random))
        self._producer.flush()

    def abort(self) -> None:
        """Sends a transaction of a few messages and aborts it; their ids must not appear anywhere."""
        try:
            if not self._doubtful_begun:
                self._doubtful.init_transactions()
                self._doubtful_begun = True
            self._doubtful.begin_transaction()
            for _ in range(5):
                name = f"never-{len(self.never)}"
                self.never.add(name)
                self._doubtful.send(self._topic, event(name, self._random))
            self._doubtful.flush()
            self._doubtful.abort_transaction()
            self.aborted += 1
        except KafkaError as error:  # a broker was just killed; an uncommitted transaction is invisible too
            sys.stderr.write(f"the transaction was not even begun: {error!r}\n")

    def close(self) -> None:
        self._producer.close()
        self._doubtful.close()

    def _send(self, value: bytes | None) -> None:
        self._producer.send(self._topic, value, key=str(self._random.random()).encode())


def event(name: str, random: Random) -> bytes:
    """One answer of a chatbot, some 2 kB."""
    text = "Deleted snapshots are kept for 30 days, then they are purged for good. " * 8
    documents = [f"{text} Passage {random.randrange(50)}." for _ in range(3)]
    return json.dumps(
        {
            "id": name,
            "app": "trial",
            "question": "How long are deleted snapshots kept?",
            "answer": random.choice(ANSWERS),
            "retrieved_documents": documents,
        }
    ).encode()


def until(holds: Callable[[], bool], seconds: float, what: str) -> None:
    """Waits for another process, and fails if the condition is not met in time."""
    for _ in range(int(seconds / 0.1)):
        if holds():
            return
        time.sleep(0.1)
    raise TimeoutError(f"after {seconds:.0f} s it is still not so that {what}")
