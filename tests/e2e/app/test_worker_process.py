"""The process that does pending work beside `monitor run`."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.rig.waiting import until
from tests.servers.llm import CHAT_MODEL, KEY, hang, llm_server

JUDGED = "SELECT count(DISTINCT id) FROM judgement"


@pytest.fixture
def server():
    with llm_server() as server:
        yield server


@pytest.fixture
def watched(monitor, server):
    """An installation that asks the scripted server, and judges everything."""
    monitor.settings |= {
        "EMBEDDING__PROVIDER": "hash",
        "LLM__BASE_URL": server.base_url,
        "LLM__API_KEY": KEY,
        "LLM__MODEL": CHAT_MODEL,
        "JUDGE__MODE": "combined",
        "JUDGE__SAMPLE": '{"rest": 1}',
        "AUDIT__ENABLED": "0",  # whose process would be another child
    }
    return monitor


def children(running) -> list[int]:
    """Processes that multiprocessing has started for a command, without its resource tracker."""
    threads = Path(f"/proc/{running.process.pid}/task").glob("*/children")
    found = [int(number) for thread in threads for number in thread.read_text().split()]
    return [one for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def worker(running) -> int:
    return until(f"a process for pending work is there; it said\n{running.err}", lambda: children(running))[0]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_answers_are_judged_beside_the_run_and_both_end_on_sigterm(watched, log, event, rows):
    log.write_text(event("a") + event("b"))
    running = watched.start("run", log)
    until("both are judged", lambda: rows(JUDGED) == [(2,)])
    beside = worker(running)
    assert running.terminate() == 0
    until("it has ended too", lambda: not alive(beside))
    assert "Traceback" not in running.err


def test_a_model_that_hangs_holds_up_neither_the_events_nor_the_end(watched, log, event, server, stored):
    server.chat_script.extend([hang(600)] * 100)
    log.write_text(event("a"))
    running = watched.start("run", log, SIDECAR__MODE="explain", SIDECAR__PATIENCE="0.2")
    stored(1)
    until("the judge asks", lambda: len(server.chats) > 1)
    beside = worker(running)
    assert running.terminate() == 0
    until("it has ended too", lambda: not alive(beside))


def test_a_process_that_dies_is_told_of_and_replaced(watched, log, event, rows):
    log.write_text(event("a"))
    running = watched.start("run", log)
    until("it is judged", lambda: rows(JUDGED) == [(1,)])
    first = worker(running)
    os.kill(first, signal.SIGKILL)
    until("it is told of", lambda: "the process for pending work ended with exit code -9" in running.err)
    until("another one is there", lambda: children(running) not in ([], [first]))
    with log.open("a") as file:
        file.write(event("b"))
    until("the next one is judged", lambda: rows(JUDGED) == [(2,)])
    assert running.terminate() == 0


def test_it_ends_where_the_run_is_killed(watched, log, event, rows):
    log.write_text(event("a"))
    running = watched.start("run", log)
    until("it is judged", lambda: rows(JUDGED) == [(1,)])
    beside = worker(running)
    running.process.kill()
    running.process.wait()
    until("it has ended too", lambda: not alive(beside))


def test_nothing_runs_beside_where_nothing_can_be_left_undone(watched, log, event, stored):
    log.write_text(event("a"))
    running = watched.start("run", log, JUDGE__MODE="off")
    stored(1)
    assert children(running) == []
    assert running.terminate() == 0
