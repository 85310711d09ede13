"""What the documented commands find: answers of its apps, an alert that fires, labels, probe runs, the files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from monitor.alert.rules.file import load_rules
from monitor.app.wiring.application import Application
from monitor.core.model import Verdict
from monitor.core.settings.load import Settings
from monitor.probe.result import RunState
from monitor.simulate.scenarios import Phase
from monitor.simulate.traffic import Bot, Simulated, event
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.runs import ProbeRuns
from tests.factories.probe.runs import item, result, run
from tests.rig.installation import Installation
from tests.rig.web.browser_stock import RULES

APP = "support-bot"
_DAY = {Verdict.GROUNDED: 50, Verdict.REFUSAL: 15, Verdict.SELF_GENERATED: 35}
_OUTAGE = {Verdict.GROUNDED: 10, Verdict.REFUSAL: 50, Verdict.SELF_GENERATED: 40}
_TEXTS: dict[str, Any] = {
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
    {"id": "q-17", "app": APP},
)
_DEAD_LETTERS = 18  # the pages show the last two
# Times that the pages name, or that are the last complete week.
_DATES = (
    datetime(2026, 3, 4, 12, tzinfo=UTC),
    datetime(2026, 11, 11, 12, tzinfo=UTC),
    datetime(2026, 11, 18, 9, tzinfo=UTC),
)


def stock(installation: Installation, database: str, state: Path) -> None:
    """Fills an installation's database; the answers go the whole way, with the real model."""
    now = datetime.now(UTC)
    answers = list(_answers(now))
    lines = [json.dumps({**_TEXTS, "occurred_at": now.isoformat(), **named}) for named in _NAMED]
    lines += [json.dumps({**_TEXTS, "id": f"w-{day}", "occurred_at": _ago(now, day)}) for day in range(5, 12)]
    lines += [json.dumps(event(simulated.interaction)) for simulated in answers]
    lines += [json.dumps({"id": f"bad-{number}", "question": "Why?"}) for number in range(_DEAD_LETTERS)]
    log = installation.folder / "stock.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _done(installation, "replay", log)
    labels = [{"app": APP, "id": it.interaction.id, "label": it.truth, "by": "ada"} for it in answers]
    labelled = installation.folder / "given.jsonl"
    labelled.write_text("".join(json.dumps(label) + "\n" for label in [*labels, _label("q-17")]), encoding="utf-8")
    _done(installation, "review", "label", "--file", labelled)
    rules = installation.folder / "rules.yaml"
    rules.write_text(RULES, encoding="utf-8")
    for version in ("first", "second"):
        rules.write_text(f"# {version}\n{RULES}", encoding="utf-8")
        _done(installation, "rules", "save", rules, "--why", version)
    with Application(Settings(database_url=database, state_dir=state, rules=rules)) as its:
        ruleset = load_rules(rules, receivers=("console",))
        its.alerting.loop(rules=lambda: ruleset).evaluate(its.now())
        _probe_runs(its, now)
    _done(installation, "audit", "seal")


def lay_files(folder: Path) -> None:
    """The files that the pages name, in the working directory of their commands."""
    event_lines = json.dumps({"id": "new-1", **_TEXTS}) + "\n"
    for name in ("answers.jsonl", "events.jsonl", "export.jsonl", "spans.jsonl", "traces.json"):
        (folder / name).write_text(event_lines, encoding="utf-8")
    (folder / "rules.yaml").write_text(f"# third\n{RULES}", encoding="utf-8")
    golden = {"question": "How long does a refund take?", "reference": "A refund takes 14 days."}
    lines = (json.dumps({"id": f"q-{number}", **golden, "question": f"Question {number}?"}) for number in range(1, 5))
    (folder / "golden.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    answers = _answers(datetime.now(UTC))
    labelled = "".join(json.dumps({**event(it.interaction), "label": it.truth}) + "\n" for it in answers)
    for name in ("labels.jsonl", "jan.jsonl"):
        (folder / name).write_text(labelled, encoding="utf-8")
    (folder / "feb.jsonl.gz").write_bytes(gzip.compress(labelled.replace("demo-", "feb-").encode()))


def _answers(now: datetime) -> Iterator[Simulated]:
    bot = Bot(app=APP, random=Random(8))
    day, outage = (Phase(name="", lasts=timedelta(days=1), per_minute=1, mix=mix) for mix in (_DAY, _OUTAGE))
    times = [
        date + timedelta(minutes=5 * number) for date in (*_DATES, now - timedelta(days=7)) for number in range(30)
    ]
    for number, at in enumerate(times):
        yield bot.answer(number, at, day)
    for number in range(len(times), len(times) + 40):
        yield bot.answer(number, now - timedelta(minutes=number - len(times)), outage)


def _ago(now: datetime, days: int) -> str:
    return (now - timedelta(days=days)).isoformat()


def _label(id_: str) -> dict[str, str]:
    return {"app": APP, "id": id_, "label": Verdict.GROUNDED, "by": "ada"}


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


def _done(installation: Installation, *words: object) -> None:
    ended = installation.run(*words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
