"""Where Kafka is started: odd folders and locales, Java that does not run, a cache that cannot be written to."""

from __future__ import annotations

import os
import shutil
import socket

import pytest

from monitor.core.errors import OutOfReach, WrongSettings
from monitor.simulate import broker
from monitor.simulate.broker import KafkaCluster
from monitor.simulate.kafka_jars import java_program, kafka_jars
from tests.rig.ingest.kafka_cluster import create_topic


def program(path, says):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)


@pytest.mark.usefixtures("kafka")
def test_a_home_with_spaces_and_umlauts_will_do_in_the_locale_c(monkeypatch, tmp_path):
    """As of a service, or under cron: Java would read every path as ASCII."""
    home = tmp_path / "Jürgen Ölmann"
    jars = shutil.copytree(kafka_jars(), home / "jars")
    monkeypatch.setenv("LC_ALL", "C")
    with KafkaCluster(home / "kafka", jars=jars) as cluster:
        create_topic(cluster.bootstrap_servers, "answers")


def test_a_java_that_does_not_run_is_named_with_what_it_says(monkeypatch, tmp_path):
    program(tmp_path / "bin/java", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(WrongSettings, match=r"does not run(?s:.*)Unable to locate a Java Runtime"):
        java_program()


def test_a_java_home_may_be_relative_though_kafka_runs_in_its_own_folder(monkeypatch, tmp_path):
    program(tmp_path / "jdk/bin/java", "exit 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAVA_HOME", "jdk")
    assert java_program() == str(tmp_path / "jdk/bin/java")


def test_a_cache_that_cannot_be_made_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    for name in ("java", "mvn"):
        program(tmp_path / name, "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "a file").touch()
    with pytest.raises(WrongSettings, match="a file/cache: Not a directory; let XDG_CACHE_HOME name another folder"):
        kafka_jars(tmp_path / "a file/cache")


def test_ports_that_are_all_taken_are_not_looked_for_without_end(monkeypatch, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(broker, "_PORTS", range(port, port + 1))
        with pytest.raises(OutOfReach, match=f"no port of 127.0.0.1 from {port} to {port} is free.*in use"):
            KafkaCluster(tmp_path, jars=tmp_path)
