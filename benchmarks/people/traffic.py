"""Four weeks of two apps as events for `monitor replay`, with the truth beside them.

`support-bot` goes wrong in three ways: its model `kestrel-2-mini` makes up more answers each week; on the Wednesday of
the last week the retrieval of the topic `billing` returns the office handbook for nine hours; in the last week the bot
refuses questions whose answer was retrieved. `docs-bot` stays as it is all the time.

    python benchmarks/people/traffic.py FOLDER [--short] [--seed N] [--end MONDAY]
    monitor replay FOLDER/events.jsonl

writes `events.jsonl`, `truth.jsonl` (one line for each event) and `truth.json` (what a quality owner should find).
Texts are those of the demo's knowledge base and recur. The same seed gives the same events; only their times move with
the end, the last Monday by default.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from importlib import resources
from math import cos, pi
from pathlib import Path
from random import Random
from typing import Any

SEED = 20_261_123
APP, QUIET_APP = "support-bot", "docs-bot"
PER_DAY = {APP: 250, QUIET_APP: 100}
WEEKS = 4
MODELS = {"kestrel-2-large": 0.6, "kestrel-2-mini": 0.4}
DRIFTING, DRIFT = "kestrel-2-mini", (0.099, 0.153, 0.245, 0.333)  # the share of made-up answers in each week
BROKEN, BROKEN_SHARE = "billing", 0.16  # the topic whose retrieval breaks, and its share of the questions
BREAKS, HOURS = timedelta(days=2, hours=8), 9  # from the Monday of the last week on
USUAL = 0.04  # made-up answers otherwise
RIGHT, WRONG = 0.006, 0.021  # refusals without the answer in the documents; with it, in the last week
RETRIEVED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What is true of an event: whether its documents hold the answer, and whether retrieval was `broken`."""

    id: str
    app: str
    week: int
    model: str
    topic: str
    verdict: str
    held: bool
    broken: bool


class Knowledge:
    """The demo's articles, questions with answers, and wordings of refusals."""

    def __init__(self) -> None:
        folder = resources.files("monitor.simulate") / "knowledge"

        def lines(name: str) -> list[dict[str, Any]]:
            return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]

        passages = lines("passages.jsonl")
        self.passages = {passage["id"]: _document(passage) for passage in passages}
        self.by_topic: dict[str, list[str]] = {}
        for passage in passages:
            self.by_topic.setdefault(passage["topic"], []).append(passage["id"])
        self.handbook = [_document(passage) for passage in lines("unrelated.jsonl")]
        self.questions: dict[str, list[dict[str, Any]]] = {}
        for question in lines("questions.jsonl"):
            self.questions.setdefault(question["topic"], []).append(question)
        self.refusals: list[str] = json.loads((folder / "refusals.json").read_text(encoding="utf-8"))

    def retrieved(self, asked: dict[str, Any], random: Random, *, held: bool) -> list[dict[str, str]]:
        """Passages of the topic, with those that answer the question or without them."""
        own = [name for name in asked["passages"] if held]
        others = [name for name in self.by_topic[asked["topic"]] if name not in asked["passages"]]
        names = own + random.sample(others, min(len(others), RETRIEVED - len(own)))
        random.shuffle(names)
        return [self.passages[name] for name in names]


def four_weeks(end: datetime, *, seed: int = SEED, part: float = 1.0) -> Iterator[tuple[dict[str, Any], Truth]]:
    """The events of both apps up to `end`, in order of time; `part` of the usual number."""
    random, knowledge = Random(seed), Knowledge()
    start = end - timedelta(weeks=WEEKS)
    moments = sorted(
        (start + timedelta(days=day) + _time_of_day(random), app)
        for app, per_day in PER_DAY.items()
        for day in range(7 * WEEKS)
        for _ in range(round(part * per_day * (0.6 if day % 7 >= 5 else 1.0) * random.uniform(0.9, 1.1)))
    )
    for number, (at, app) in enumerate(moments):
        event, about = _event(app, at, end, knowledge, random)
        id_ = f"{app}-{number:05d}"
        yield {"id": id_, **event}, Truth(id=id_, **about)


def _event(
    app: str, at: datetime, end: datetime, knowledge: Knowledge, random: Random
) -> tuple[dict[str, Any], dict[str, Any]]:
    topic = BROKEN if random.random() < BROKEN_SHARE else random.choice(sorted({*knowledge.questions} - {BROKEN}))
    asked = random.choice(knowledge.questions[topic])
    model = random.choices([*MODELS], weights=[*MODELS.values()])[0]
    last = end - timedelta(weeks=1)
    week = WEEKS - 1 - (end - at - timedelta(microseconds=1)) // timedelta(weeks=1)
    broken = app == APP and topic == BROKEN and last + BREAKS <= at < last + BREAKS + timedelta(hours=HOURS)
    made_up = DRIFT[week] if (app, model) == (APP, DRIFTING) else USUAL
    wrong = WRONG if app == APP and week == WEEKS - 1 else 0.0
    kind = random.choices(
        ["made up", "right", "wrong", "grounded"], [made_up, RIGHT, wrong, 1 - made_up - RIGHT - wrong]
    )[0]
    if broken:
        kind = random.choice(["made up", "right"])
    documents = (
        random.sample(knowledge.handbook, RETRIEVED)
        if broken
        else knowledge.retrieved(asked, random, held=kind != "right")
    )
    answers = {"made up": asked["fabricated"], "grounded": asked["grounded"]}.get(kind, knowledge.refusals)
    event = {
        "app": app,
        "environment": "production",
        "occurred_at": at.isoformat(),
        "question": asked["question"],
        "answer": random.choice(answers).format(subject=topic)
        if answers is knowledge.refusals
        else random.choice(answers),
        "model": model,
        "prompt_version": "support-2026-10",
        "tags": {"topic": topic},
        "retrieved_documents": documents,
    }
    verdict = {"made up": "self_generated", "grounded": "grounded"}.get(kind, "refusal")
    held = not broken and kind != "right"
    about = {
        "app": app,
        "week": week,
        "model": model,
        "topic": topic,
        "verdict": verdict,
        "held": held,
        "broken": broken,
    }
    return event, about


def truth(known: list[Truth], end: datetime) -> dict[str, Any]:
    """What a quality owner should find on the Monday after."""
    own = [one for one in known if one.app == APP]
    last = [one for one in own if one.week == WEEKS - 1]
    refusals = [one for one in last if one.verdict == "refusal"]
    breaks = end - timedelta(weeks=1) + BREAKS
    return {
        "app": APP,
        "quiet_app": QUIET_APP,
        "answers": {app: sum(one.app == app for one in known) for app in PER_DAY},
        "end": end.isoformat(),
        "drift": {
            "model": DRIFTING,
            "self_generated": [
                _share([one.verdict == "self_generated" for one in own if one.model == DRIFTING and one.week == week])
                for week in range(WEEKS)
            ],
        },
        "outage": {
            "topic": BROKEN,
            "start": breaks.isoformat(),
            "end": (breaks + timedelta(hours=HOURS)).isoformat(),
            "answers": sum(one.broken for one in own),
        },
        "refusals": {"week": len(refusals), "wrong": sum(one.held for one in refusals)},
    }


def written(folder: Path, end: datetime, *, seed: int = SEED, part: float = 1.0) -> dict[str, Any]:
    """Writes the three files into `folder`, and returns what a quality owner should find."""
    folder.mkdir(parents=True, exist_ok=True)
    known = []
    with (
        (folder / "events.jsonl").open("w", encoding="utf-8") as events,
        (folder / "truth.jsonl").open("w", encoding="utf-8") as beside,
    ):
        for event, about in four_weeks(end, seed=seed, part=part):
            known.append(about)
            events.write(json.dumps(event, ensure_ascii=False) + "\n")
            beside.write(json.dumps(asdict(about)) + "\n")
    found = truth(known, end)
    (folder / "truth.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return found


def last_monday(now: datetime) -> datetime:
    """Monday 0:00 UTC of the week of `now`."""
    today = now.astimezone(UTC).date()
    return datetime.combine(today - timedelta(days=today.weekday()), time(), UTC)


def _share(hits: list[bool]) -> float:
    return round(sum(hits) / len(hits), 4) if hits else 0.0


def _document(passage: dict[str, Any]) -> dict[str, str]:
    return {"id": passage["id"], "text": f"{passage['title']}\n\n{passage['text']}"}


def _time_of_day(random: Random) -> timedelta:
    """Mostly by day: the density is lowest at two in the morning."""
    while True:
        day = random.random()
        if random.random() < (1 - 0.8 * cos(2 * pi * (day - 2 / 24))) / 1.8:
            return timedelta(days=day)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--short", action="store_true", help="half as many events")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--end", type=date.fromisoformat, help="the Monday after the four weeks")
    given = parser.parse_args()
    end = last_monday(datetime.combine(given.end, time(), UTC) if given.end else datetime.now(UTC))
    found = written(given.folder, end, seed=given.seed, part=0.5 if given.short else 1.0)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
