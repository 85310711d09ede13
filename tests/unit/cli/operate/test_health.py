"""`monitor health`: what it asks, and what it makes of the answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from typer.testing import CliRunner

from monitor.app.metrics.health import Health, lives
from monitor.app.metrics.installation import StoreCollector
from monitor.app.metrics.pages import MetricsPages, served
from monitor.app.metrics.process import ProcessMetrics
from monitor.cli.app import app as command_line
from monitor.cli.operate.health import addresses_of
from monitor.core.errors import OutOfReach, Retriable, WrongSettings
from monitor.core.settings.load import load_settings
from tests.factories.answers import clock
from tests.unit.app.metrics.test_installation import FIGURES


def failing():
    raise Retriable("the database does not answer")


@contextmanager
def process(ready=lives, alive=lives) -> Iterator[int]:
    """The port of one that answers like this."""
    pages = MetricsPages(
        process=ProcessMetrics(), installation=StoreCollector(lambda _: FIGURES, clock, ping=lambda: None)
    )
    with served(pages, "127.0.0.1", 0, Health(alive=alive, ready=ready)) as port:
        yield port


@pytest.fixture
def free_port():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return unused.getsockname()[1]


@pytest.fixture
def asked(monkeypatch, free_port):
    """Asks with the ports of a process that reads and of `serve`; nobody listens at one that is not given."""

    def ask(*arguments, reads=None, serves=None):
        monkeypatch.setenv("MONITOR_METRICS__HOST", "0.0.0.0")
        monkeypatch.setenv("MONITOR_METRICS__PORT", str(reads or free_port))
        monkeypatch.setenv("MONITOR_WEB__PORT", str(serves or free_port))
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # is not asked
        return CliRunner().invoke(command_line, ["health", *arguments])

    return ask


def test_a_process_that_is_ready_is_healthy(asked):
    with process() as port:
        answer = asked(reads=port)
    assert (answer.exit_code, answer.stdout) == (0, f"http://127.0.0.1:{port}: ready\n")


def test_a_process_whose_database_is_away_is_not_and_lives_all_the_same(asked):
    with process(ready=failing) as port:
        answer, alive = asked(serves=port), asked("--alive", serves=port)
    assert answer.exit_code == 1
    assert answer.stdout == f"http://127.0.0.1:{port}: 503 Service Unavailable: the database does not answer\n"
    assert (alive.exit_code, alive.stdout) == (0, f"http://127.0.0.1:{port}: ok\n")


def test_one_of_two_that_cannot_work_is_enough_to_fail(asked):
    with ExitStack() as running:
        good, bad = running.enter_context(process()), running.enter_context(process(ready=failing))
        answer = asked(reads=good, serves=bad)
    assert answer.exit_code == 1
    assert f"http://127.0.0.1:{good}: ready" in answer.stdout


def test_where_nothing_runs_it_says_what_to_start(asked, free_port):
    answer = asked()
    assert isinstance(answer.exception, OutOfReach)
    assert f"nothing answers at http://127.0.0.1:{free_port} or " in str(answer.exception)
    assert "`monitor collect` with MONITOR_METRICS__PORT set, here too" in str(answer.exception)


def test_a_port_on_which_somebody_else_never_answers_fails(asked, monkeypatch):
    monkeypatch.setattr("monitor.cli.operate.health._PATIENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = asked("--url", f"http://127.0.0.1:{silent.getsockname()[1]}/")
    assert answer.exit_code == 1
    assert "no answer: timed out" in answer.stdout


def test_it_says_whom_it_cannot_ask(monkeypatch):
    monkeypatch.delenv("MONITOR_METRICS__PORT", raising=False)
    with process() as port:
        monkeypatch.setenv("MONITOR_WEB__PORT", str(port))
        answer = CliRunner().invoke(command_line, ["health"])
    assert (answer.exit_code, answer.stdout) == (0, f"http://127.0.0.1:{port}: ready\n")
    assert "not asked: `run`, `consume` and `collect`, since MONITOR_METRICS__PORT is not set here" in answer.stderr


def test_what_is_no_address_is_refused(asked):
    assert isinstance(asked("--url", "file:///etc/passwd").exception, WrongSettings)


def test_the_addresses_are_those_of_the_settings(monkeypatch):
    assert addresses_of(load_settings()) == ["http://127.0.0.1:8080"]  # no port for metrics is set
    monkeypatch.setenv("MONITOR_METRICS__PORT", "9464")
    monkeypatch.setenv("MONITOR_METRICS__HOST", "::")
    monkeypatch.setenv("MONITOR_WEB__PORT", "0")
    assert addresses_of(load_settings()) == ["http://[::1]:9464"]
