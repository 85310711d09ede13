"""Plays a fictional bot's traffic through the whole program and comments on it on the terminal."""

from __future__ import annotations

import logging
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic as clock

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from monitor.alert.ports import Receiver
from monitor.alert.rules.file import parse_rules
from monitor.alert.rules.version import SHIPPED
from monitor.alert.state import State, Transition
from monitor.app.wiring.application import Application
from monitor.app.wiring.prices import read_prices
from monitor.assess.explain import COLOURS
from monitor.cli.demo.place import alone, empty, in_the_demo, settings_of_demo
from monitor.cli.demo.slack_preview import SlackPreview
from monitor.cli.demo.with_llm import print_judgements, workers_running
from monitor.cli.explain.brief import in_brief
from monitor.core.batch import Batch
from monitor.core.model import Assessment, Interaction, Verdict
from monitor.core.settings.load import Settings
from monitor.ingest.decode import priced
from monitor.simulate.scenarios import TWO_INCIDENTS, Phase, Scenario
from monitor.simulate.traffic import PRICES, play

APP = "quillmere-support"
BAR = 24  # characters wide
BLOCKS = {Verdict.GROUNDED: "█", Verdict.REFUSAL: "▒", Verdict.SELF_GENERATED: "░"}  # distinct without colours too
RULES = """\
grouping: {wait: 0s, interval: 30s}
rules:
  - name: negative-rate
    by: [app]
    signal: {rate: negative}
    above: 0.30
    window: 3m
    min_samples: 30
    confident: true
    for: 1m
    keep_firing_for: 1m
    severity: critical
    owner: on-call
    runbook: docs/on-call/runbooks.md#negative-rate
    annotations:
      summary: More than 30 % of the answers are refusals or not supported by their documents.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedAnswer:
    """An assessment, and what the bot really did."""

    truth: Verdict
    assessment: Assessment


def play_demo(
    settings: Settings,
    *,
    seed: int,
    console: Console,
    scenario: Scenario = TWO_INCIDENTS,
    kafka: bool = False,
    llm: str | None = None,
    serve: bool = False,
) -> None:
    """Plays `scenario` in fast-forward in a place of its own, and ends with commands to try next.

    Its state directory is `<state dir>/demo`: the database, which starts empty each time, the audit key, the witness.
    Nothing else is touched, whatever the settings name, except that a Slack message is really sent if Slack is
    configured. With `kafka` every answer goes through a real broker. With `llm`, the base URL of an OpenAI-compatible
    server, the sidecar and the judge use it; without it they are off, whatever the settings say. With `serve` the
    dashboard opens on it at the end, until Ctrl-C.

    Raises:
        MonitorError: the embedded database, the encoder or the broker does not start, or the server does not answer.
    """
    started = clock()
    if serve:
        from monitor.cli.demo.dashboard import settings_of_dashboard

        settings = settings_of_dashboard(settings)
    demo_settings = settings_of_demo(settings, llm, folder="demo")
    with ExitStack() as stack:
        stack.enter_context(alone(demo_settings.state_dir))
        check: Callable[[], None] | None = None
        if kafka:
            from monitor.cli.demo.through_kafka import demo_topic

            topic, check = stack.enter_context(demo_topic(settings.kafka))
            ingest = settings.ingest.model_copy(update={"batch_ms": 50})  # each step waits for the previous one
            demo_settings = demo_settings.model_copy(update={"kafka": topic, "ingest": ingest})
        logging.getLogger("monitor.app.audit.key").setLevel(logging.ERROR)  # nobody has to keep a copy of a demo's key
        application = stack.enter_context(Application(demo_settings))
        empty(application)
        application.prepare()
        application.alerting.rules_versions.save(  # for the dashboard, which shows the rules in force
            RULES,
            based_on=SHIPPED,
            by="monitor demo",
            why="made-up data: the demo's only rule",
            now=application.now(),
        )
        _introduce(console, application, scenario, kafka=kafka)
        with workers_running(application), _assessing(application, check) as assess:
            played = _play(application, scenario, assess, seed=seed, console=console)
        if application.language_models.judge is not None:
            print_judgements(console, application)
        application.auditing.sealer().seal_and_sign(application.now())
        _conclude(console, application, played, seconds=clock() - started, kafka=kafka)
        if serve:
            from monitor.cli.demo.dashboard import show_dashboard

            show_dashboard(application, console)


@contextmanager
def _assessing(
    application: Application, check: Callable[[], None] | None
) -> Iterator[Callable[[Sequence[Interaction]], list[Assessment]]]:
    """Yields the function that turns interactions into stored assessments: directly, or with `check` through Kafka."""
    if check is not None:
        from monitor.cli.demo.through_kafka import through_kafka

        with through_kafka(application, check) as assess:
            yield assess
        return

    prices = read_prices(PRICES)

    def directly(interactions: Sequence[Interaction]) -> list[Assessment]:
        assessments = application.assessing.pipeline.assess([priced(it, prices) for it in interactions])
        application.store.write(Batch(assessments=tuple(assessments), dead_letters=(), received=len(assessments)))
        return assessments

    yield directly


def _play(
    application: Application,
    scenario: Scenario,
    assess: Callable[[Sequence[Interaction]], list[Assessment]],
    *,
    seed: int,
    console: Console,
) -> list[PlayedAnswer]:
    preview = SlackPreview(console, brief=True)
    receivers: dict[str, Receiver] = {"slack preview": preview}
    if "slack" in application.alerting.receivers:
        receivers["slack"] = application.alerting.receivers["slack"]
    rules = parse_rules(RULES, name="the demo's rules", receivers=tuple(receivers))
    loop = application.alerting.loop(rules=lambda: rules, receivers=receivers)
    start = application.now().replace(second=0, microsecond=0) - scenario.lasts
    played: list[PlayedAnswer] = []
    minute: list[Verdict] = []
    for end, answered in play(scenario, app=APP, start=start, seed=seed):
        assessments = assess([s.interaction for s in answered])
        played += [PlayedAnswer(truth=s.truth, assessment=a) for s, a in zip(answered, assessments, strict=True)]
        minute += [a.verdict for a in assessments]
        if not end.second:
            began = end - timedelta(minutes=1)
            console.print(_minute_line(began, minute, scenario.phase_at(began - start)))
            minute = []
        for change in loop.evaluate(end):
            console.print(_transition_line(change))
        loop.deliver(end)
    return played


def _introduce(console: Console, application: Application, scenario: Scenario, *, kafka: bool) -> None:
    embedder, profile = application.assessing.embedder, application.assessing.profile
    minutes = scenario.lasts // timedelta(minutes=1)
    servers = ", ".join(application.settings.kafka.bootstrap_servers)
    llm = application.settings.llm
    models = f"The sidecar and the judge use {escape(str(llm.model))} at {escape(str(llm.base_url))}.\n"
    broker = f"It goes through Kafka: topic {', '.join(application.settings.kafka.topics)} on {servers}.\n"
    console.print(
        f"[bold]The support bot of Quillmere Cloud[/], made up: {minutes} minutes in fast-forward.\n"
        f"Verdicts by {escape(embedder.model)}, profile {profile.name}; stored in PostgreSQL.\n"
        f"{broker if kafka else ''}"
        f"{models if application.language_models.judge is not None else ''}"
        "An alert fires when over 30 % of 3 minutes' answers are negative, 95 % sure.",
        soft_wrap=True,
    )
    legend = Text("  UTC    ")
    for verdict in Verdict:
        legend.append(f"{BLOCKS[verdict]} ", COLOURS[verdict]).append(f"{verdict.replace('_', '-')}   ")
    console.print(legend)


def _minute_line(minute: datetime, verdicts: Sequence[Verdict], phase: Phase) -> Text:
    counts = Counter(verdicts)
    total = max(len(verdicts), 1)
    line = Text(f"  {minute:%H:%M}  ")
    cells = 0
    for place, verdict in enumerate(Verdict):
        seen = sum(counts[v] for v in list(Verdict)[: place + 1])
        width = round(BAR * seen / total) - cells
        line.append(BLOCKS[verdict] * width, COLOURS[verdict])
        cells += width
    negative = sum(counts[v] for v in Verdict if v.negative)
    line.append(f"  {len(verdicts):3d} answers  {negative / total:4.0%} negative  ")
    return line.append(phase.name, "dim")


def _transition_line(change: Transition) -> Text:
    alert = change.alert
    colour = {State.PENDING: "yellow", State.FIRING: "bold red", State.RESOLVED: "bold green"}.get(alert.state, "")
    before = change.previous.state if change.previous else State.INACTIVE
    return Text.assemble(
        f"  {change.at:%H:%M:%S}  alert {alert.rule}: {before} → ",
        (alert.state, colour),
        f"   {alert.value or 0:.0%} of {alert.samples} ({alert.lower:.0%} to {alert.upper:.0%})",
    )


def _conclude(
    console: Console,
    application: Application,
    played: Sequence[PlayedAnswer],
    *,
    seconds: float,
    kafka: bool,
) -> None:
    table = Table("what the bot did", *(v.replace("_", "-") for v in Verdict), "total", box=None)
    seen = Counter((t.truth, t.assessment.verdict) for t in played)
    for truth in Verdict:
        found = [seen[truth, verdict] for verdict in Verdict]
        table.add_row(truth.replace("_", "-"), *map(str, found), str(sum(found)))
    console.print()
    console.print(table)
    right = sum(t.truth is t.assessment.verdict for t in played)
    console.print(
        f"{right} of {len(played)} verdicts are right; this traffic is invented, and easier than yours\n"
        "(`monitor docs quality/verdicts` has figures on real answers).\n",
        soft_wrap=True,
    )
    for verdict in Verdict:
        right_ones = [t.assessment for t in played if t.assessment.verdict is verdict and t.truth is verdict]
        for assessment in sorted(right_ones, key=lambda a: len(a.interaction.answer))[:1]:  # short ones fit the screen
            for row in application.queries.with_assessments(assessment.interaction.id, APP):
                console.print(in_brief(row))
    program = sys.argv[0] if Path(sys.argv[0]).name == "monitor" else "monitor"
    command, of_demo = shlex.quote(program), in_the_demo(application.settings.state_dir, program)
    shown = next((t.assessment.interaction.id for t in played if t.truth is not t.assessment.verdict), "demo-00000")
    console.print(f"{len(played)} answers in {seconds:.0f} s. Next:")
    for purpose, line in (
        ("open the link that this prints; the span of one hour shows both incidents", f"{of_demo} serve"),
        ("show the alert that fires, and the one that came and went", f"{of_demo} alerts show negative-rate"),
        ("explain an answer with a wrong verdict", f"{of_demo} explain {shown}"),
        ("prove that nothing was changed since it was stored", f"{of_demo} audit verify"),
        *([("show what became of every message", f"{of_demo} ledger --recount")] if kafka else []),
    ):
        console.print(f"  # {purpose}\n  {line}", markup=False, soft_wrap=True)
    for line, purpose in (
        (f"{command} doctor", "is everything ready for your own answers?"),
        (f"{command} replay answers.jsonl", "your own; the form: monitor docs start/events"),
        (f"{command} collect", "watch a chatbot that runs; how: monitor docs join"),
        (f"{command} run", "read Kafka; how: monitor docs operate/kafka"),
    ):
        console.print(f"  {line}  # {purpose}", markup=False, soft_wrap=True)
