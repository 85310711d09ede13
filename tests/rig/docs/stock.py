"""What the commands of the pages find: answers, labels, an alert that fires, probe runs, dead letters.

The pages were written in the week of `WRITTEN`. Their dates are moved by whole weeks, so that the last complete week is
the same one whenever a test runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from monitor.alert.rules.file import load_rules
from monitor.app.wiring.application import Application
from monitor.core.message import Progress
from monitor.core.model import Verdict
from monitor.core.settings.load import load_settings
from monitor.probe.result import RunState
from monitor.report.weekly.week import week_named, week_of
from monitor.simulate.scenarios import Phase
from monitor.simulate.traffic import Bot, Simulated, event
from monitor.store.ledger.progress import ReadingStore
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.runs import ProbeRuns
from monitor.store.tokens import Access, Session
from tests.factories.answers import PROBABLE, a_batch, an_assessment
from tests.factories.probe.runs import item, result, run
from tests.rig.web.browser_stock import RULES

APP = "support-bot"
WRITTEN = date(2026, 11, 25)
TEXTS: dict[str, Any] = {
    "question": "How long does a refund take?",
    "answer": "A refund takes 14 days.",
    "retrieved_documents": ["A refund takes 14 days from the day on which the lamp arrives at our warehouse."],
}
# The answers that the pages name.
_NAMED = (
    {"id": "a-1", "app": "default"},
    {"id": "c-1", "app": "default", "conversation_id": "c-17"},
    {"id": "a-1", "app": APP},
    {"id": "q-1", "app": APP, "conversation_id": "c-4711", "tags": {"user": "4711"}},
    {"id": "q-2", "app": APP, "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"},
    {"id": "q-3", "app": APP, "tags": {"user": "4711"}},
    {"id": "q-17", "app": APP, "question": "After how many days is a refund paid?"},
)
_USUAL = {Verdict.GROUNDED: 50, Verdict.REFUSAL: 15, Verdict.SELF_GENERATED: 35}
_OUTAGE = {Verdict.GROUNDED: 10, Verdict.REFUSAL: 50, Verdict.SELF_GENERATED: 40}
_A_REFERENCE = 500  # answers
_LABELS = 110
_DATE, _WEEK = re.compile(r"\b\d{4}-\d\d-\d\d\b"), re.compile(r"\b\d{4}-W\d\d\b")

Command = Callable[..., str]  # runs `monitor` with these words, and gives what it prints


def moved(text: str, now: datetime) -> str:
    """The text of a page with its dates and weeks as of `now`."""
    weeks = week_of(now.date()).monday - week_of(WRITTEN).monday
    text = _DATE.sub(lambda match: (date.fromisoformat(match[0]) + weeks).isoformat(), text)
    return _WEEK.sub(lambda match: week_of(week_named(match[0]).monday + weeks).name, text)


def at(day: str, now: datetime) -> datetime:
    """Noon of a day of the pages."""
    return datetime.fromisoformat(f"{moved(day, now)}T12:00Z")


def stock(command: Command, now: datetime) -> dict[str, str]:
    """Fills the installation of the settings in force; returns what stands in the pages for what was made here."""
    answers = list(labelled_answers(now))
    lines = [{**TEXTS, "occurred_at": now.isoformat(), **named} for named in _NAMED]
    lines += [{**TEXTS, "id": f"w-{day}", "occurred_at": at(f"2026-11-{day}", now).isoformat()} for day in (11, 18)]
    lines += [event(simulated.interaction) for simulated in answers]
    lines += [event(simulated.interaction) for simulated in _outage(now)]
    lines += [{"id": f"bad-{number}", "question": "Why?", "retrieved_documents": []} for number in range(1, 17)]
    command("replay", _written("stock.jsonl", lines))
    # The last three dead letters were read in a wrong form: two by a setting, which is right now, and one by its topic.
    command("replay", "--dialect", "ragas", _written("forms", ({**TEXTS, "id": f"d-{n}"} for n in (17, 18))), code=1)
    ragas = {"user_input": "Why?", "response": "So.", "retrieved_contexts": ["It is so."]}
    command("replay", "--dialect", "native", _written("answers", [ragas]), code=1)
    labels = [{"app": APP, "id": it.interaction.id, "label": it.truth, "by": "ada"} for it in answers]
    labels.append({"app": APP, "id": "q-17", "label": Verdict.GROUNDED, "by": "ada"})
    command("review", "label", "--file", _written("given.jsonl", labels))
    for why in ("first", "second"):
        Path("rules.yaml").write_text(f"# {why}\n{RULES}", encoding="utf-8")
        command("rules", "save", "rules.yaml", "--why", why)
    with Application(load_settings()) as its:
        _write_usual(its, now)
        rules = load_rules(Path("rules.yaml"), receivers=("console",))
        its.alerting.loop(rules=lambda: rules).evaluate(its.now())
        _probe_runs(its, now)
        ReadingStore(its.engine).note("monitor", [Progress(topic="old-topic", partition=0, through=now, behind=0)], now)
        Access(its.engine).begin_session(
            Session(subject="oidc:ada@example.org", role="viewer"), now=now, length=timedelta(hours=1)
        )
    command("alerts", "silence", "app=tests", "--for", "2h", "--comment", "tests")
    (silence,) = json.loads(command("alerts", "silences", "--json"))
    march = [moved(day, now) for day in ("2026-03-02", "2026-03-09")]
    command("reference", "freeze", "--app", APP, "--from", march[0], "--to", march[1])
    (frozen,) = json.loads(command("reference", "list", "--json"))
    command("audit", "seal")
    return {"0f3a…": silence["id"], "3f9ac2d1": frozen["hash"], "$GIT_SHA": "0f3a9c"}


def labelled_answers(now: datetime) -> Iterator[Simulated]:
    """Answers of three days with what the bot really did."""
    bot, phase = Bot(app=APP, random=Random(8)), Phase(name="", lasts=timedelta(days=1), per_minute=1, mix=_USUAL)
    days = [at(day, now) for day in ("2026-11-04", "2026-11-11", "2026-11-18")]
    for number in range(_LABELS):
        yield bot.answer(number, days[number % len(days)] + timedelta(minutes=number), phase)


def _outage(now: datetime) -> Iterator[Simulated]:
    bot, phase = Bot(app=APP, random=Random(9)), Phase(name="", lasts=timedelta(hours=1), per_minute=1, mix=_OUTAGE)
    for number in range(30):
        yield bot.answer(1000 + number, now - timedelta(minutes=number), phase)


def _write_usual(its: Application, now: datetime) -> None:
    """Answers that a reference is frozen of: of the week that the pages freeze, and of the last complete one."""
    profile = its.assessing.profile
    models = {
        "profile_name": profile.name,
        "profile_hash": profile.hash,
        "embedding_model": its.assessing.embedder.model,
    }
    for week, day in enumerate(("2026-03-04", "2026-11-17")):
        made = [
            an_assessment(
                id=f"usual-{week}-{number}",
                app=APP,
                occurred_at=at(day, now) + timedelta(minutes=number),
                answer=f"Deleted snapshots are kept for {number} days.",
                probabilities=replace(
                    PROBABLE[Verdict.GROUNDED],
                    grounded=1 - number / _A_REFERENCE,
                    self_generated=number / _A_REFERENCE,
                    refusal=0.0,
                ),
                **models,
            )
            for number in range(_A_REFERENCE)
        ]
        assert its.store.write(a_batch(*made)).assessed == _A_REFERENCE


def _probe_runs(its: Application, now: datetime) -> None:
    """Runs 1 to 7, the last two of the versions v6 and v7."""
    items = [item(number) for number in range(6)]
    made = GoldenSets(its.engine).save("support", items, by="ada", now=now)
    runs = ProbeRuns(its.engine)
    for number in range(1, 8):
        begun = run(golden_hash=made.hash, chatbot=f"v{number}", began_at=now - timedelta(hours=8 - number))
        stored = runs.begin(begun, mark=f"{number:032x}")
        for place, one in enumerate(items):
            runs.save(stored.number, place, result(one, 5, 4))
        runs.end(stored.number, RunState.DONE, now=now)


def _written(name: str, lines: Iterable[dict[str, Any]]) -> str:
    Path(name).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return name
