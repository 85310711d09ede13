"""The command `monitor probe agreement`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, plural, print_json, text_of
from monitor.core.errors import MonitorError, WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application
    from monitor.assess.judge.correctness.grade import Contexts
    from monitor.probe.agreement.kept import KeptGrader
    from monitor.probe.agreement.labels import ScoredAnswer
    from monitor.probe.contexts import Collection


class Way(StrEnum):
    """A way of finding contexts."""

    QUESTION = "question"
    BOTH = "both"
    NONE = "none"


NAMES: Final = {Way.QUESTION: "by question", Way.BOTH: "by question and reference", Way.NONE: "none"}


def agreement(
    labels: Annotated[
        Path | None,
        typer.Argument(
            help="Scored answers, JSON lines or CSV with question, reference, answer, score and, if known, documents; "
            "- is standard input, JSON lines. Default: 50 answers of the demo's support bot."
        ),
    ] = None,
    *,
    app_name: Annotated[
        str | None, typer.Option("--app", help="Take contexts from the documents that this app's answers had.")
    ] = None,
    contexts: Annotated[
        list[Way] | None,
        typer.Option(help="Judge with contexts by question, by both question and reference, or none; default: all."),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=20, help="How often each answer is judged.")] = 2,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep each grade here as it comes; the same command again goes on with them."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how far the judge of correctness agrees with people's scores, with contexts found in three ways.

    By question, by question and reference, and none at all: the difference is what contexts bring.
    """
    from monitor.assess.judge.correctness.grader import CorrectnessGrader
    from monitor.assess.llm.exchange import prompts_hash
    from monitor.cli.probe.agreement_tables import About, print_agreement
    from monitor.cli.probe.agreement_tables import as_json as to_json
    from monitor.probe.agreement.kept import KeptGrader
    from monitor.probe.agreement.measure import judge_all
    from monitor.probe.contexts import Collection

    answers = _answers(labels)
    with opened() as application:
        judge = CorrectnessGrader(application.language_models.probing_model, repeats=repeats)
        grader = KeptGrader(judge, judging=(prompts_hash(judge.prompts), str(repeats)), path=save)
        collection = Collection(
            _documents(application, app_name, answers, ours=labels is None), application.assessing.embedder
        )
        ways = _ways(contexts, collection, app_name)
        with _telling(grader, save):
            found = judge_all(answers, ways, grader, concurrency=application.settings.probe.concurrency)
    about = About(
        judge=grader.model, repeats=repeats, labels=len(answers), documents=len(collection), reused=grader.reused
    )
    if as_json:
        print_json(to_json(found, about))
    else:
        print_agreement(found, about)


def _ways(asked: Sequence[Way] | None, collection: Collection, app_name: str | None) -> dict[str, Contexts]:
    from monitor.probe.contexts import ByQuestion, ByQuestionAndReference, NoContexts
    from monitor.store.probe.documents import SPAN

    every: dict[Way, Contexts] = {
        Way.QUESTION: ByQuestion(collection),
        Way.BOTH: ByQuestionAndReference(collection),
        Way.NONE: NoContexts(),
    }
    wanted = asked or [*Way]
    if not len(collection) and wanted != [Way.NONE]:
        lacking, instead = "no documents are known", "add `documents` to the labels, or name an app with --app"
        if app_name is not None:
            lacking = f"the answers of the app {readable(app_name)!r} of the last {SPAN.days} days hold no documents"
            instead = "name another app, or leave --app out and add `documents` to the labels"
        if Way.NONE not in wanted:
            raise WrongSettings(f"{lacking}: {instead}")
        sys.stderr.write(f"monitor: {lacking}, so answers are judged without contexts only\n")
        wanted = [Way.NONE]
    return {NAMES[way]: source for way, source in every.items() if way in wanted}


@contextmanager
def _telling(grader: KeptGrader, path: Path | None) -> Iterator[None]:
    """Says how to go on if the block ends with an error."""
    try:
        yield
    except (MonitorError, KeyboardInterrupt):
        if path is None:
            told = "what was judged is lost; --save FILE keeps it, and the same command then goes on from there"
        else:
            told = f"{plural(grader.kept, 'grade')} in {readable(str(path))}; the same command goes on from there"
        sys.stderr.write(f"monitor: {told}\n")
        raise


def _answers(path: Path | None) -> list[ScoredAnswer]:
    from monitor.probe.agreement.labels import from_csv, from_json_lines

    if path is None:
        return from_json_lines(_knowledge("correctness_labels.jsonl"))
    with nullcontext(sys.stdin) if path == Path("-") else text_of(path) as lines:
        return (from_csv if path.suffix.lower() == ".csv" else from_json_lines)(lines)


def _documents(
    application: Application, app_name: str | None, answers: Sequence[ScoredAnswer], *, ours: bool
) -> list[str]:
    """The documents that live traffic of the app has shown, else those of the answers, or of our support bot."""
    if app_name is not None:
        from monitor.store.probe.documents import shown_documents

        found = shown_documents(application.engine, app_name, now=application.now())
        if not found:
            _refuse_unknown(application, app_name)
        return found
    if ours:
        return [json.loads(line)["text"] for line in _knowledge("passages.jsonl")]
    return [document for answer in answers for document in answer.documents]


def _refuse_unknown(application: Application, app_name: str) -> None:
    """Refuses an app of which no answer was ever stored, as far as the list of apps goes."""
    from monitor.store.interaction.overview import MOST_LABELS

    known = application.overview.labels("app")["app"]
    if app_name not in known and len(known) < MOST_LABELS:
        apps = ", ".join(map(readable, known)) or "none"
        raise WrongSettings(
            f"--app: no answer of the app {readable(app_name)!r} is stored; apps that have some: {apps}"
        )


def _knowledge(name: str) -> list[str]:
    return (resources.files("monitor.simulate") / "knowledge" / name).read_text(encoding="utf-8").splitlines()
