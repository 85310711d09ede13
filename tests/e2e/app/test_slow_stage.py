"""SIGTERM ends `monitor run` within its grace although an event is being assessed without an end, and loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.rig.installation import ROOT, Running
from tests.rig.waiting import until

# The program, but for a stage that never gets through with some events, and a grace of a second.
SCRIPT = """
import functools
import sys
import time

from monitor.app import flow
from monitor.cli import terminal
from monitor.assess.embed.hashing import HashEmbedder

terminal.LAST_RESORT = {last_resort}
flow.Flow = functools.partial(flow.Flow, finish_within=1.0)
encode = HashEmbedder.encode


def slow(self, texts):
    if any("slow" in text for text in texts):
        print("assessing", flush=True)
        while True:
            {work}
    return encode(self, texts)


if __name__ == "__main__":  # not in the processes that seal and work off
    HashEmbedder.encode = slow
    from monitor.__main__ import main

    main()
"""
# The sleep is what the stage is slow by: the test itself waits only for what the program prints, stores and returns.
WORK = {
    "it waits": ("time.sleep(1)", 0, "the next start reads them again"),
    "it computes": ("pass", 0, "the next start reads them again"),
    "it holds the interpreter": ("sum(range(100_000_000))", 1, "Timeout"),  # seconds before other threads get a turn
}


@pytest.mark.parametrize("work", list(WORK))
def test_sigterm_ends_a_stage_that_does_not_end(monitor, log, event, rows, stored, tmp_path, work):
    script = tmp_path / "slow_monitor.py"
    endless, code, said = WORK[work]
    script.write_text(SCRIPT.format(work=endless, last_resort=4.0 if code else 55.0))
    settings = {"EMBEDDING__PROVIDER": "hash", "INGEST__BATCH_MS": "20", "INGEST__BATCH_EVENTS": "1"}
    log.write_text(event("1"))
    out, err = tmp_path / "slow.out", tmp_path / "slow.err"
    with out.open("w") as out_file, err.open("w") as err_file:
        process = subprocess.Popen(
            [sys.executable, script, "run", log],
            env={**monitor.environment(settings), "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            stdout=out_file,
            stderr=err_file,
        )
    running = Running(process, out, err)
    try:
        stored(1)
        with log.open("a") as appended:
            appended.write(event("2", answer="This is slow.") + event("3"))
        until("the slow one is in work", lambda: "assessing" in running.out)
        process.send_signal(signal.SIGTERM)
        assert running.ended() == code
    finally:
        process.kill()
        process.wait()
    assert said in running.err
    assert "Traceback" not in running.err
    assert rows("SELECT id FROM interaction") == [("1",)]
    again = monitor.start("run", log, **settings)
    stored(3)
    assert again.terminate() == 0
    assert "2 received = 2 assessed + 0 duplicate + 0 dead" in again.err


STANDING_STILL = """
import sys
from threading import Event, Thread

from monitor.cli import terminal

terminal.LAST_RESORT = terminal.PRINTED_WITHIN = 0.2
with terminal.stopping():
    Thread(target=sys.stderr.write, args=("x" * 1_000_000,), daemon=True).start()
    print("waiting", flush=True)
    Event().wait()
"""


def test_a_terminal_that_nobody_reads_does_not_keep_the_process():
    ours, its = os.openpty()  # takes a few thousand characters
    command = [sys.executable, "-c", STANDING_STILL]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=its, text=True) as running:
        assert running.stdout.readline() == "waiting\n"
        running.send_signal(signal.SIGTERM)
        assert running.wait() == -signal.SIGALRM
    os.close(ours)
    os.close(its)
