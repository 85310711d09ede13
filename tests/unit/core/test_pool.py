from __future__ import annotations

import subprocess
import sys
from concurrent.futures import wait
from threading import Event, Lock, get_ident

import pytest

from monitor.core.pool import Pool


def test_every_call_is_made_once_by_no_more_threads_than_there_may_be():
    lock, seen, made = Lock(), set(), []

    def call(number):
        with lock:
            seen.add(get_ident())
            made.append(number)
        return number * 2

    pool = Pool(4, "test")
    futures = [pool.submit(lambda n=n: call(n)) for n in range(200)]
    assert [future.result(10) for future in futures] == [2 * n for n in range(200)]
    assert sorted(made) == list(range(200))
    assert len(seen) <= 4
    pool.close()


def test_calls_run_at_a_time_up_to_the_size():
    at_it, go_on = [Event() for _ in range(3)], Event()

    def call(mine):
        mine.set()
        assert go_on.wait(10)

    pool = Pool(3, "test")
    futures = [pool.submit(lambda mine=mine: call(mine)) for mine in at_it]
    assert all(mine.wait(10) for mine in at_it)
    go_on.set()
    assert not wait(futures, 10).not_done
    pool.close()


def test_an_error_is_the_futures_and_the_thread_goes_on():
    pool = Pool(1, "test")
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 // 0).result(10)
    assert pool.submit(lambda: 1).result(10) == 1
    pool.close()


def test_what_has_not_begun_is_cancelled_by_closing_and_what_comes_later_too():
    at_it, go_on = Event(), Event()

    def call():
        at_it.set()
        return go_on.wait(10)

    pool = Pool(1, "test")
    begun, waiting = pool.submit(call), pool.submit(call)
    assert at_it.wait(10)
    pool.close()
    assert waiting.cancelled()
    assert pool.submit(call).cancelled()
    go_on.set()
    assert begun.result(10)


def test_the_end_of_the_program_waits_for_no_call():
    program = """
import threading
from monitor.core.pool import Pool
begun = threading.Event()
Pool(1, "test").submit(lambda: (begun.set(), threading.Event().wait()))
begun.wait()
"""
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0
