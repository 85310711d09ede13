"""Measures whether a page names the right cause, whether a quiet week names none, and what examples a page shows.

    python benchmarks/people/incidents.py [--json PATH] [--short] [--choose]

Twenty bots break, each in its own way, beside twenty that never do (`benchmarks/people/bots.py`). Their answers are
scored by the embedded MiniLM under the shipped profile (each distinct answer once), stored in PostgreSQL, and watched
by the shipped rules every minute. Each bot has a quiet day, then 90 busy minutes in which it breaks at a random minute.

*right* counts the incidents in which the first page that names a cause names the right one, *wrong* those in which it
names another. *seconds* are from the break to the first page with the right cause. *examples* is the share of the
answers shown by those pages that the incident made bad. In a quiet week the explanation of windows of half an hour to
6 hours is asked for, as if an alert had fired; *named* counts those that name a cause. Every other quiet week has hours
in which most questions are about one topic whose answers are always worse.

`--choose` plays other seeds, with which constants were chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from pydantic import SecretStr
from typing_extensions import override

from benchmarks.databases import temporary_database
from benchmarks.figures import finish, options
from benchmarks.people.bots import CAUSES, Bot, Knowledge, incidents
from monitor.alert.explain.cause import Broken
from monitor.alert.notification import Notification, NotifiedAlert
from monitor.alert.notify.describe import Describer
from monitor.alert.ports import Receiver
from monitor.alert.rules.file import load_rules
from monitor.app.wiring.application import Application
from monitor.core.batch import Batch
from monitor.core.model import Assessment, Interaction
from monitor.core.settings.load import Settings, load_settings

SEEDS = {False: 20_261_123, True: 17}
BOTS = {False: 20, True: 5}
STEP = timedelta(minutes=1)
QUIET_DAY, BUSY = timedelta(hours=26), timedelta(minutes=90)
A_DAY, BUSY_MINUTE = 1_800, 8.0  # answers of a bot in its quiet day, and in each busy minute
BREAKS = range(10, 40)  # minutes of the busy time
WEEK, A_WEEK = timedelta(days=7), 3_000
ASKED = (timedelta(minutes=30), timedelta(hours=2), timedelta(hours=6))
ASKED_EVERY = timedelta(hours=10)
BATCH = 2_000


@dataclass(slots=True)
class Pages(Receiver):
    """A receiver that keeps what pages."""

    sent: list[Notification] = field(default_factory=list)

    @override
    def send(self, notification: Notification) -> None:
        if notification.pages:
            self.sent.append(notification)

    @override
    def check(self) -> str:
        return "a list"


@dataclass(slots=True)
class Scoring:
    """The application's pipeline, which scores each distinct answer once: a score follows from the texts alone."""

    application: Application
    known: dict[tuple[object, ...], Assessment] = field(default_factory=dict)

    def store(self, answers: Sequence[Interaction]) -> None:
        fresh = {_texts(each): each for each in answers if _texts(each) not in self.known}
        self.known |= zip(fresh, self.application.assessing.pipeline.assess(list(fresh.values())), strict=True)
        scored = tuple(replace(self.known[_texts(each)], interaction=each) for each in answers)
        self.application.store.write(Batch(assessments=scored, dead_letters=(), received=len(scored)))


def _texts(answer: Interaction) -> tuple[object, ...]:
    return answer.question, answer.answer, tuple(document.id for document in answer.retrieved_documents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What the pages of one incident said."""

    bot: Bot
    first: Broken | None  # the first cause that a page named
    rule: str | None
    seconds: float | None  # to the first page with the right cause
    pages: int
    shown: tuple[bool, ...]  # of each example: whether the incident made it bad
    conclusion: tuple[str, ...]

    @property
    def right(self) -> bool:
        return self.bot.incident is not None and self.first is CAUSES[self.bot.incident.kind]


def break_bots(scoring: Scoring, knowledge: Knowledge, count: int, seed: int) -> list[Played]:
    """Plays the incidents side by side, and says what the pages named."""
    random = Random(seed)
    bots = [
        Bot(app=f"bot-{number:02d}", knowledge=knowledge, random=Random(seed + number), incident=incident)
        for number, incident in enumerate(incidents(knowledge, count, seed))
    ]
    application, pages = scoring.application, Pages()
    busy = application.now().replace(second=0, microsecond=0) - BUSY
    breaks = {bot.app: busy + timedelta(minutes=random.choice(BREAKS)) for bot in bots}
    for bot in bots:
        scoring.store([bot.answer(at, broken=False) for at in _moments(random, busy - QUIET_DAY, busy, A_DAY)])
    rules = load_rules(None, receivers=("pages",))
    loop = application.alerting.loop(rules=lambda: rules, receivers={"pages": pages})
    for _ in range(1 + A_DAY * count // 5_000):  # as many rounds as it takes to list all earlier answers
        loop.evaluate(busy)
    now = busy
    while now < busy + BUSY:
        answers = []
        for bot in bots:
            expected = BUSY_MINUTE * STEP / timedelta(minutes=1)
            number = round(random.uniform(0.5, 1.5) * expected)
            moments = _moments(random, now, now + STEP, number)
            answers += [bot.answer(at, broken=at >= breaks[bot.app]) for at in moments]
        scoring.store(answers)
        now += STEP
        loop.evaluate(now)
        loop.deliver(now)
    return [_played(application, bot, breaks[bot.app], pages.sent) for bot in bots]


def _played(application: Application, bot: Bot, broken_at: datetime, sent: Sequence[Notification]) -> Played:
    ours = [each for each in sent if each.leading.labels.get("app") == bot.app and each.at > broken_at]
    named: list[tuple[Notification, Broken]] = []
    shown: list[bool] = []
    conclusion: tuple[str, ...] = ()
    for page in ours:
        found = application.alerting.explanations.of(page.leading.episode)
        if found is None or found.cause is None:
            continue
        conclusion = conclusion or tuple(found.conclusion())
        shown += [bot.truth[each.id] for each in found.telling]
        if found.cause.named is not None:
            named.append((page, found.cause.named))
    assert bot.incident is not None
    right = [page for page, cause in named if cause is CAUSES[bot.incident.kind]]
    return Played(
        bot=bot,
        first=named[0][1] if named else None,
        rule=ours[0].leading.rule if ours else None,
        seconds=(right[0].at - broken_at).total_seconds() if right else None,
        pages=len(ours),
        shown=tuple(shown),
        conclusion=conclusion,
    )


def quiet_weeks(scoring: Scoring, knowledge: Knowledge, count: int, seed: int) -> tuple[int, list[str]]:
    """How many explanations were asked for, and the conclusions of those that named a cause."""
    application = scoring.application
    end = application.now().replace(second=0, microsecond=0) - QUIET_DAY - BUSY - timedelta(hours=1)
    asked, named = 0, []
    rules = load_rules(None, receivers=("pages",))
    describe = application.alerting.loop(rules=lambda: rules, receivers={"pages": Pages()}).describe(rules.rules)
    assert isinstance(describe, Describer)
    for number in range(count):
        random = Random(seed + 1_000 + number)
        bot = Bot(app=f"quiet-{number:02d}", knowledge=knowledge, random=random, incident=None, hard=number % 2 == 1)
        moments = _moments(random, end - WEEK, end, A_WEEK)
        answers = [_with_hard_hours(bot, at) if bot.hard else bot.answer(at, broken=False) for at in moments]
        for first in range(0, len(answers), BATCH):
            scoring.store(answers[first : first + BATCH])
        at = end - WEEK + timedelta(days=2)
        while at < end:
            for window in ASKED:
                describe(_as_if_fired(bot.app, at, window), at)
                found = application.alerting.explanations.of(_episode(bot.app, at, window))
                asked += 1
                if found and found.cause and found.cause.named:
                    named.append(" ".join(found.conclusion()))
            at += ASKED_EVERY
    return asked, named


def _with_hard_hours(bot: Bot, at: datetime) -> Interaction:
    """The bot's first topic is always answered worse; every 16 hours most questions are about it for two hours."""
    weights = bot.weights
    if at.timestamp() // 3600 % 16 < 2:
        bot.weights = [6.0, *weights[1:]]
    answer = bot.answer(at, broken=False)
    bot.weights = weights
    return answer


def _as_if_fired(app: str, at: datetime, window: timedelta) -> NotifiedAlert:
    return NotifiedAlert(
        fingerprint=_episode(app, at, window),
        episode=_episode(app, at, window),
        rule="negative-rate",
        signal="rate of negative",
        method="threshold",
        labels={"app": app, "environment": "production"},
        annotations={},
        severity="critical",
        status="firing",
        unit="share",
        value=None,
        lower=None,
        upper=None,
        bound=0.3,
        samples=0,
        window=window,
        breaching_since=at,
        fired_at=at,
    )


def _episode(app: str, at: datetime, window: timedelta) -> str:
    return f"{app} {at.isoformat()} {window}"


def _moments(random: Random, start: datetime, end: datetime, number: int) -> list[datetime]:
    return sorted(start + random.random() * (end - start) for _ in range(number))


def report(played: Sequence[Played], asked: int, named: Sequence[str]) -> dict[str, object]:
    """Prints the table, and returns the figures."""
    print(f"{'incident':18}{'cause':16}{'named':16}{'after':>8}  {'examples':10}{'first page by'}")
    for each in played:
        assert each.bot.incident is not None
        kind = each.bot.incident.kind
        after = "–" if each.seconds is None else f"{each.seconds:,.0f} s"
        shown = f"{sum(each.shown)} of {len(each.shown)}"
        print(f"{kind:18}{CAUSES[kind]:16}{each.first or 'none':16}{after:>8}  {shown:10}{each.rule or 'no page'}")
        if not each.right:
            print("".join(f"    {line}\n" for line in each.conclusion), end="")
    examples = [shown for each in played for shown in each.shown]
    seconds = sorted(each.seconds for each in played if each.seconds is not None)
    figures: dict[str, object] = {
        "incidents": len(played),
        "right": sum(each.right for each in played),
        "wrong": sum(each.first is not None and not each.right for each in played),
        "examples_of_the_incident": sum(examples) / max(len(examples), 1),
        "seconds_median": median(seconds) if seconds else None,
        "seconds_longest": seconds[-1] if seconds else None,
        "right_by_kind": Counter(str(each.bot.incident.kind) for each in played if each.right and each.bot.incident),
        "quiet_asked": asked,
        "quiet_named": len(named),
    }
    for name, figure in figures.items():
        print(f"{name.replace('_', ' '):28}{figure:.3g}" if isinstance(figure, float) else f"{name:28}{figure}")
    for line in named:
        print(f"  named in a quiet week: {line}")
    return figures


def _settings(folder: str, url: str) -> Settings:
    own = {"state_dir": Path(folder), "database_url": SecretStr(url)}
    return load_settings().model_copy(update=own)


def measured(*, short: bool, choose: bool = False) -> tuple[dict[str, object], int]:
    """Plays quiet weeks and incidents; returns the figures and their seed."""
    seed, count = SEEDS[choose], BOTS[short]
    began = monotonic()
    with (
        TemporaryDirectory() as folder,
        temporary_database() as url,
        Application(_settings(folder, url)) as application,
    ):
        application.prepare()
        knowledge = Knowledge(application.assessing.embedder.embed)
        scoring = Scoring(application)
        asked, named = quiet_weeks(scoring, knowledge, count, seed)
        print(f"quiet weeks: {monotonic() - began:.0f} s", flush=True)
        played = break_bots(scoring, knowledge, count, seed)
        figures = report(played, asked, named)
    print(f"{monotonic() - began:.0f} s")
    return figures, seed


def main() -> None:
    arguments = options(__doc__, "five incidents and quiet weeks", choose="play the seeds for choosing constants")
    figures, seed = measured(short=arguments.short, choose=arguments.choose)
    finish(figures, seed=seed, path=arguments.json)


if __name__ == "__main__":
    main()
