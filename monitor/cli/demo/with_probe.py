"""The demo of a probe: a version of the support bot that got worse is caught before its users complain."""

from __future__ import annotations

import shlex
import sys
from datetime import timedelta
from pathlib import Path
from threading import Event

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from monitor.alert.rule import Grouping, RuleSet
from monitor.alert.rules.file import load_rules
from monitor.app.probe.run import run_probe
from monitor.app.wiring.application import Application
from monitor.app.wiring.probe import Probing
from monitor.cli.demo.place import alone, empty, in_the_demo, settings_of_demo
from monitor.cli.demo.slack_preview import SlackPreview
from monitor.cli.probe.tables import print_comparison, print_run
from monitor.core.settings.load import Settings
from monitor.probe.compare import compare
from monitor.probe.file import Probe, parse_probes
from monitor.probe.golden import GoldenItem
from monitor.probe.result import ProbeRun
from monitor.simulate.probed import AFTER, BEFORE, GOLDEN, SimulatedJudge, golden_questions

_PROBES = """
probes:
  - name: quillmere
    app: quillmere-support
    environment: demo
    golden: {golden}
    target: {{python: "monitor.simulate.probed:{function}"}}
    retriever: {{python: "monitor.simulate.probed:retriever"}}
    concurrency: 8
"""
_RULE = "probe-declined"  # of the rules that ship


def play_probe(settings: Settings, *, console: Console, llm: str | None = None) -> None:
    """Probes two versions of the support bot, compares them, and evaluates the rule that catches the worse one.

    Works in `<state dir>/demo-probe`, which starts empty: what `play_demo` has stored stays. Without `llm`, the base
    URL of an OpenAI-compatible server, the judge is simulated: it knows which of the bot's answers are right.

    Raises:
        MonitorError: the embedded database does not start, or the server does not answer.
    """
    own = settings_of_demo(settings, llm, folder="demo-probe")
    with alone(own.state_dir), Application(own) as application:
        empty(application)
        application.migrate()
        if llm is None:
            application.probing = Probing(application, judge=SimulatedJudge())
        made = application.probing.golden.save(GOLDEN, _items(), by="demo", now=application.now())
        judge = "a [bold]simulated[/] judge" if llm is None else f"the judge at {escape(llm)}"
        console.print(
            f"[bold]The support bot of Quillmere Cloud[/], a made-up provider, gets a new version. A probe asks both "
            f"versions the {len(made.items)} questions of its golden set, and {judge} grades the answers beside their "
            "references.\n"
        )
        preview = {"slack preview": SlackPreview(console)}
        rules = _rules()
        loop = application.alerting.loop(rules=lambda: rules, receivers=preview)
        runs: list[ProbeRun] = []
        for version, function in ((BEFORE, "as_before"), (AFTER, "got_worse")):
            console.print(Text(f"── version {version} ", style="bold"))
            runs.append(_probed(application, function, before=runs[-1] if runs else None))
            loop.evaluate(application.now())
            loop.deliver(application.now())
            console.print()
        scored = {one.run.number: one.scores for one in application.probing.runs.scored([run.number for run in runs])}
        before, after = runs
        print_comparison(before, after, compare(scored[before.number], scored[after.number]))
        application.auditing.sealer().seal_and_sign(application.now())
        _conclude(console, application, before, after)


def _probed(application: Application, function: str, *, before: ProbeRun | None) -> ProbeRun:
    run = run_probe(application, _probe(function), stop=Event()).run
    results, runs = application.probing.runs.results(run.number), application.probing.runs
    of_demo = in_the_demo(application.settings.state_dir, _program())
    print_run(run, results, runs=runs, before=before, shared=None, program=of_demo)
    return run


def _rules() -> RuleSet:
    """The rule as it ships, notified at once."""
    shipped = load_rules(None, receivers=())
    (rule,) = (rule for rule in shipped.rules if rule.name == _RULE)
    return RuleSet(rules=(rule,), grouping=Grouping(wait=timedelta(0), interval=timedelta(seconds=30)))


def _program() -> str:
    return sys.argv[0] if Path(sys.argv[0]).name == "monitor" else "monitor"


def _probe(function: str) -> Probe:
    (probe,) = parse_probes(_PROBES.format(golden=GOLDEN, function=function), name="the demo's probes").values()
    return probe


def _items() -> list[GoldenItem]:
    return [
        GoldenItem(
            id=asked["id"], question=asked["question"], reference=asked["grounded"][0], tags={"topic": asked["topic"]}
        )
        for asked in golden_questions()
    ]


def _conclude(console: Console, application: Application, before: ProbeRun, after: ProbeRun) -> None:
    of_demo = in_the_demo(application.settings.state_dir, _program())
    console.print("\nNext:")
    for purpose, line in (
        (
            f"open the link that this prints: /probes shows the fall, /probes/{after.number} the new version's answers",
            f"{of_demo} serve",
        ),
        ("list both runs", f"{of_demo} probe list"),
        ("see the new version's answers beside their references", f"{of_demo} probe show {after.number}"),
        ("compare the versions again", f"{of_demo} probe compare {before.number} {after.number}"),
        ("show the alert", f"{of_demo} alerts list"),
        ("write the golden set to a file, in the form that golden import reads", f"{of_demo} golden export {GOLDEN}"),
        ("probe your own chatbot; how: monitor docs quality/probes", f"{shlex.quote(_program())} probe run --help"),
    ):
        console.print(f"  # {purpose}\n  {line}", markup=False, soft_wrap=True)
