"""Runs a real Apache Kafka on 127.0.0.1 with the machine's Java, for demos, tests and benchmarks.

KRaft, each node broker and controller in one.
"""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, SIGTERM
from typing import Self

from monitor.core.errors import OutOfReach
from monitor.simulate.kafka_jars import class_archive, java_environment, java_program, last_lines, run

_OWN_TOPICS = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
_READY = "Kafka Server started"
_TO_START, _TO_STOP = 180.0, 30.0  # seconds; on an idle machine either takes two or three
# Below the ports that the system hands out: those of a stopped node are still free when it starts again.
_PORTS = range(20_000, 32_000)
_JVM = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_LOGGED = (
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaConfig=warn",  # several hundred lines a start
)
# Java is the child of a process that obeys our end of a pipe, signal by signal, and kills it when that end closes: so
# the broker dies with us however we end, and no signal goes to a process id that meanwhile belongs to another.
_KEEPER = """
import os, subprocess, sys, threading
java = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
def obey():
    for line in sys.stdin:
        java.send_signal(int(line))
    java.kill()
threading.Thread(target=obey, daemon=True).start()
os._exit(java.wait() & 255)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    """A started node: its keeper, our end of the keeper's pipe, and where its part of the log begins."""

    process: subprocess.Popen[bytes]
    orders: int
    log_from: int


class KafkaCluster:
    """A cluster of one or three nodes, numbered from 1, for the length of a `with` block; it starts empty.

    What belongs to it lies in `folder`: properties, data and logs (`node-1.log`). `listeners` names further protocols
    to listen with beside PLAINTEXT, `properties` are brokers' settings that go before those here; a relative path in
    them is below `folder`. `formatted_with` are arguments of `StorageTool format`. With `archives_classes` a node
    that is stopped leaves the `class_archive`. Calls are for one thread at a time.

    Raises:
        OutOfReach: no port is free.
        WrongSettings: Java is missing or too old; raised, as the next one, when the block is entered.
        OutOfReach: a node does not start; the message ends with its log.
    """

    def __init__(
        self,
        folder: Path,
        *,
        jars: Path,
        brokers: int = 1,
        listeners: Iterable[str] = (),
        properties: Mapping[str, str] | None = None,
        formatted_with: Iterable[str] = (),
        archives_classes: bool = False,
    ) -> None:
        self.nodes, names = range(1, brokers + 1), ("PLAINTEXT", "CONTROLLER", *listeners)
        ports = iter(_free_ports(brokers * len(names)))
        self._ports = {node: {name: next(ports) for name in names} for node in self.nodes}
        self.folder, self._jars = folder, jars
        self._archives_classes = archives_classes
        self._properties, self._formatted_with = dict(properties or {}), tuple(formatted_with)
        self._running: dict[int, _Running] = {}

    @property
    def bootstrap_servers(self) -> str:
        """Where clients without credentials begin, as `host:port,host:port`."""
        return self.listener("PLAINTEXT")

    def listener(self, name: str) -> str:
        """The bootstrap servers of one protocol: PLAINTEXT or one of `listeners`."""
        return ",".join(f"127.0.0.1:{ports[name]}" for ports in self._ports.values())

    def __enter__(self) -> Self:
        self._java, self._archive = java_program(), class_archive(self._jars).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        for node in self.nodes:
            self._file(node, "properties").write_text(self._node_properties(node), encoding="utf-8")
        try:
            self._format()
            self.start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for node in list(self._running):
            self.kill(node)

    def start(self, node: int, *, wait: bool = True) -> None:
        """Starts a stopped node with its earlier ports and data; without a majority of nodes none gets ready."""
        taken, orders = os.pipe()
        broker = [*self._command(*_LOGGED, "kafka.Kafka"), self._file(node, "properties").name]
        keeper = [sys.executable, "-I", "-S", "-c", _KEEPER, *broker]
        with self._file(node, "log").open("ab") as log:
            log_from = log.tell()
            process = subprocess.Popen(  # noqa: S603  our own program
                keeper,
                cwd=self.folder,
                env=java_environment(),
                stdin=taken,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )  # in a session of its own, so that Ctrl-C reaches only us
        os.close(taken)
        self._running[node] = _Running(process=process, orders=orders, log_from=log_from)
        if wait:
            self.wait_ready()

    def start_all(self) -> None:
        """Starts all stopped nodes and resumes paused ones."""
        for node in self._running:
            self.resume(node)
        for node in set(self.nodes) - set(self._running):
            self.start(node, wait=False)
        self.wait_ready()

    def wait_ready(self) -> None:
        """Returns when every node that runs has joined the cluster and serves clients."""
        deadline = time.monotonic() + _TO_START
        for node, running in self._running.items():
            while running.process.poll() is not None or _READY not in self._log_of(node):
                self.check()
                if time.monotonic() > deadline:
                    raise OutOfReach(f"Kafka's node {node} does not get ready:\n{last_lines(self._log_of(node))}")
                time.sleep(0.05)

    def check(self) -> None:
        """Makes sure that no node has ended by itself, as on a full disk.

        Raises:
            OutOfReach: one has; the message ends with its log.
        """
        for node, running in self._running.items():
            if running.process.poll() is not None:
                raise OutOfReach(f"Kafka's node {node} has ended:\n{last_lines(self._log_of(node))}")

    def stop(self, node: int) -> None:
        """Stops a node with SIGTERM, and kills it if that takes too long."""
        self._send(node, SIGCONT)
        self._send(node, SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._running[node].process.wait(_TO_STOP)
        self.kill(node)
        if self._archives_classes and self._new_archive.exists():
            self._new_archive.replace(self._archive)

    def kill(self, node: int) -> None:
        self._send(node, SIGKILL)
        running = self._running.pop(node)
        os.close(running.orders)
        running.process.wait()

    def pause(self, node: int) -> None:
        """Halts a node with its connections open, like a machine that hangs, until `resume`."""
        self._send(node, SIGSTOP)

    def resume(self, node: int) -> None:
        self._send(node, SIGCONT)

    def _send(self, node: int, signal: int) -> None:
        with suppress(BrokenPipeError):  # it ended by itself
            os.write(self._running[node].orders, f"{signal:d}\n".encode())

    def _format(self) -> None:
        tool = self._command("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "kafka.tools.StorageTool", "format")
        for node in self.nodes:
            config = self._file(node, "properties").name
            ended = run(*tool, "-t", "quillmere", "-c", config, *self._formatted_with, cwd=self.folder)
            if ended.returncode:
                raise OutOfReach(f"the storage of Kafka's node {node} cannot be made:\n{last_lines(ended.stdout)}")

    def _command(self, *what: str) -> list[str]:
        classes = f"-XX:SharedArchiveFile={self._archive}"  # Java goes on without one that it cannot use
        if self._archives_classes:
            classes = f"-XX:ArchiveClassesAtExit={self._new_archive}"
        return [self._java, *_JVM, classes, "-cp", f"{self._jars.resolve()}/*", *what]

    @property
    def _new_archive(self) -> Path:
        """In the archive's folder, so that it takes that place in one step."""
        return self._archive.with_name(f"{self._archive.name}.{os.getpid()}")

    def _file(self, node: int, ending: str) -> Path:
        return self.folder / f"node-{node}.{ending}"

    def _log_of(self, node: int) -> str:
        return self._file(node, "log").read_bytes()[self._running[node].log_from :].decode(errors="replace")

    def _node_properties(self, node: int) -> str:
        ports = self._ports[node]
        spoken = {name: "PLAINTEXT" if name == "CONTROLLER" else name for name in ports}
        copies, in_step = (3, 2) if len(self._ports) > 1 else (1, 1)
        properties = {
            "node.id": node,
            "process.roles": "broker,controller",
            "controller.quorum.voters": ",".join(f"{n}@127.0.0.1:{p['CONTROLLER']}" for n, p in self._ports.items()),
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
            "listener.security.protocol.map": ",".join(map(":".join, spoken.items())),
            "log.dirs": f"node-{node}",  # seen from the cluster's folder, where it runs
            "auto.create.topics.enable": "false",
            "default.replication.factor": copies,
            "min.insync.replicas": in_step,
            "message.max.bytes": 16 * 2**20,
            "replica.fetch.max.bytes": 16 * 2**20,
            "log.cleaner.dedupe.buffer.size": 8 * 2**20,  # by default half of the heap
            **{f"{topic}.num.partitions": copies for topic in _OWN_TOPICS},
            **{f"{topic}.replication.factor": copies for topic in _OWN_TOPICS},
            **{f"{topic}.min.isr": in_step for topic in _OWN_TOPICS[1:]},
            # what else would be waited for: members that join late, ones that are gone, brokers that are gone
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 1_000,
            "broker.heartbeat.interval.ms": 500,
            "broker.session.timeout.ms": 3_000,
            **self._properties,
        }
        return "".join(f"{name}={value}\n" for name, value in properties.items())


def _free_ports(number: int) -> Iterable[int]:
    """Ports of 127.0.0.1 that are free at the moment.

    Raises:
        OutOfReach: there are not so many, or none can be used at all, as without a loopback device.
    """
    free: set[int] = set()
    problem = ""
    for port in random.sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                free.add(port)
            except OSError as error:
                problem = f": {error.strerror}"
        if len(free) == number:
            return free
    raise OutOfReach(f"no port of 127.0.0.1 from {_PORTS[0]} to {_PORTS[-1]} is free for Kafka{problem}")
