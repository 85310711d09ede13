"""Rounds of the real alert loop in processes of their own, which can be killed at any step of a round.

`python -m tests.rig.alert.rounds` forks itself for each task on its standard input, so that a process to be
killed costs milliseconds. It prints every step that a task has taken, and how the task ended.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from http.client import HTTPConnection
from random import Random
from typing import Any

from monitor.alert.notify.describe import Describer
from monitor.alert.notify.loop import AlertLoop
from monitor.alert.receivers.slack.bot import SlackBot
from monitor.alert.rules.file import parse_rules
from monitor.core.errors import MonitorError
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.alert.explanations import ExplanationRows, Explanations
from monitor.store.alert.outbox import PostgresOutbox
from monitor.store.alert.responses import PostgresResponses
from monitor.store.database import connect
from tests.factories.answers import NOON
from tests.rig.installation import ROOT
from tests.rig.store.keys import QUEUE_KEY
from tests.servers.slack import CHANNEL, TOKEN
from tests.servers.slack.bench import PICTURE, Stepping

log = logging.getLogger(__name__)
RULES = """
grouping: {by: [app], wait: 0s, interval: 0s, repeat: 4h}
rules:
  - {name: negative-rate, signal: {rate: negative}, above: 0.3, min_samples: 4, lateness: 0s, severity: critical}
  - {name: refusal-rate, signal: {rate: refusal}, above: 0.3, min_samples: 4, lateness: 0s}
"""
# Minutes after noon at which each news is due; tests/integration/alert/notify/test_faults.py stores the answers.
LIFE = {"firing": 0.0, "changed": 4.0, "repeated": 241.0, "acknowledged": 245.0, "resolved": 270.0}
_EFFECTS = {
    "store": ("save",),
    "outbox": ("enqueue", "mark_attempt", "delivered", "failed"),
}


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


class Steps:
    """Prints the steps of a process, and kills it after the one named `die`: `firing: enqueue 1`."""

    def __init__(self, die: str | None = None) -> None:
        self.news = ""
        self._die = die
        self._taken: Counter[str] = Counter()

    def __call__(self, name: str) -> None:
        step = f"{self.news}: {name}"
        self._taken[step] += 1
        step = f"{step} {self._taken[step]}"
        print(step, flush=True)  # noqa: T201  this is what the process is for
        if step == self._die:
            os.kill(os.getpid(), signal.SIGKILL)


class Traced:
    """A store or an outbox, of which every effect is a step."""

    def __init__(self, inner: Any, effects: Sequence[str], steps: Steps) -> None:
        self._inner = inner
        self._effects = effects
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name in ("evaluating", "delivering"):
            return lambda *of: self._locked(name, partial(method, *of))
        if name not in self._effects:
            return method

        def traced(*arguments: Any, **named: Any) -> Any:
            answer = method(*arguments, **named)
            self._steps(name)
            return answer

        return traced

    @contextmanager
    def _locked(self, name: str, method: Any) -> Iterator[bool]:
        with method() as ours:
            self._steps(f"{name}: {ours}")
            yield ours


@contextmanager
def http_traced(steps: Steps) -> Iterator[None]:
    """Every request is a step: it was sent. That its answer came is one for messages, the world looks no different."""
    request, getresponse = HTTPConnection.request, HTTPConnection.getresponse
    asked = ""

    def sent(self: HTTPConnection, method: str, url: str, *arguments: Any, **named: Any) -> None:
        nonlocal asked
        request(self, method, url, *arguments, **named)
        asked = "upload" if url.startswith("/upload/") else url.removeprefix("/api/")
        steps(f"sent {asked}")

    def answered(self: HTTPConnection) -> Any:
        answer = getresponse(self)
        if asked == "chat.postMessage":
            steps(f"answered {asked}")
        return answer

    HTTPConnection.request, HTTPConnection.getresponse = sent, answered
    try:
        yield
    finally:
        HTTPConnection.request, HTTPConnection.getresponse = request, getresponse


def slack_bot(slack: str) -> SlackBot:
    """One that nobody waits for."""
    clock = Stepping()
    return SlackBot(
        token=TOKEN,
        channel=CHANNEL,
        api_url=slack,
        draw=lambda _: PICTURE,
        buttons=True,
        clock=clock,
        sleep=clock.sleep,
    )


def alert_loop(
    engine: Any, receivers: dict[str, Any], steps: Steps | None = None, *, told: Sequence[str] = (), **over: Any
) -> AlertLoop:
    """The loop as `monitor.app.wiring.alert` wires it, without an embedder; `told` are the rules' receivers."""
    store: Any = PostgresAlertStore(engine)
    outbox: Any = PostgresOutbox(engine)
    if steps is not None:
        store = Traced(store, _EFFECTS["store"], steps)
        outbox = Traced(outbox, _EFFECTS["outbox"], steps)
    rules = parse_rules(RULES, name="rules.yaml", receivers=tuple(receivers))
    if told:
        rules = replace(rules, rules=tuple(replace(rule, receivers=tuple(told)) for rule in rules.rules))

    def describer(rules: Any) -> Any:
        describe = Describer(
            rules=rules,
            signals=store,
            answers=ExplanationRows(engine),
            explanations=Explanations(engine),
            embed=None,
            link=lambda _app, _id: None,
        )

        def described(alert: Any, now: datetime) -> Any:
            description = describe(alert, now)
            if steps is not None:
                steps("describe")
            return description

        return described

    return AlertLoop(
        rules=lambda: rules,
        store=store,
        outbox=outbox,
        receivers=receivers,
        describe=describer,
        link=lambda _: None,
        random=Random(7),
        **over,
    )


def acknowledge(engine: Any, minutes: float) -> None:
    burning = [alert for alert in PostgresAlertStore(engine).alerts() if alert.state.active]
    PostgresResponses(engine).acknowledge(burning, by="ada", now=at(minutes))


def play_round(loop: AlertLoop, engine: Any, news: str, minutes: float) -> None:
    """What the scheduler does once; and before that what a person does, where `news` is about that."""
    if news == "acknowledged":
        acknowledge(engine, minutes)
    for act in (loop.evaluate, loop.deliver):
        try:
            act(at(minutes))
        except MonitorError as error:  # as the scheduler does; the next round is another try
            log.warning("%s at %s: %r", news, minutes, error)


def play(task: dict[str, Any]) -> None:
    """A whole process: `rounds` of (news, minutes), until the step `die`."""
    steps = Steps(task.get("die"))
    engine = connect(task["database"], queue_key=lambda: QUEUE_KEY)
    loop = alert_loop(engine, {"slack": slack_bot(task["slack"])}, steps)
    with http_traced(steps):
        for news, minutes in task["rounds"]:
            steps.news = news
            play_round(loop, engine, news, minutes)
    engine.dispose()


class Processes:
    """Runs tasks one after the other, each in a process of its own."""

    def __init__(self, database: str, slack: str) -> None:
        self._known = {"database": database, "slack": slack}
        self._forks = subprocess.Popen(
            [sys.executable, "-m", "tests.rig.alert.rounds"],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def start(self, rounds: Sequence[tuple[str, float]], *, die: str | None = None) -> None:
        self._forks.stdin.write(json.dumps({**self._known, "rounds": rounds, "die": die}) + "\n")
        self._forks.stdin.flush()

    def ended(self) -> tuple[list[str], int]:
        """The steps that the task has taken, and the exit code of its process."""
        steps = []
        while line := self._forks.stdout.readline().rstrip("\n"):
            if line.startswith("ended "):
                return steps, int(line.removeprefix("ended "))
            steps.append(line)
        raise AssertionError(f"no process any more; so far {steps}")

    def run(self, rounds: Sequence[tuple[str, float]], *, die: str | None = None) -> tuple[list[str], int]:
        self.start(rounds, die=die)
        return self.ended()

    def close(self) -> None:
        with self._forks:
            self._forks.stdin.close()


def main() -> None:
    logging.basicConfig(level=logging.WARNING)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                play(json.loads(line))
            except BaseException:  # noqa: BLE001  whatever it is, it must not go on as another parent
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(f"ended {os.waitstatus_to_exitcode(status)}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
