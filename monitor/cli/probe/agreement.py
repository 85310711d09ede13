"""The command `monitor probe agreement`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, plural, print_json, text_of
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application
    from monitor.probe.agreement.labels import ScoredAnswer
    from monitor.probe.agreement.measure import Measured

_HEADINGS = ("answers", "Pearson", "Spearman", "weighted κ", "bias", "tilt", "ungraded")


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
    repeats: Annotated[int, typer.Option(min=1, max=20, help="How often each answer is judged.")] = 2,
    as_json: AsJson = False,
) -> None:
    """Measure how far the judge of correctness agrees with people's scores, with contexts found in three ways.

    Contexts by question, by question and reference, and none: the last two against the first say what contexts bring.
    """
    from monitor.assess.judge.correctness.grader import CorrectnessGrader
    from monitor.probe.agreement.measure import measure
    from monitor.probe.contexts import ByQuestion, ByQuestionAndReference, Collection, NoContexts

    answers = _answers(labels)
    with opened() as application:
        grader = CorrectnessGrader(application.language_models.probing_model, repeats=repeats)
        documents = _documents(application, app_name, answers, ours=labels is None)
        collection = Collection(documents, application.assessing.embedder)
        contexts = {
            "by question": ByQuestion(collection),
            "by question and reference": ByQuestionAndReference(collection),
            "none": NoContexts(),
        }
        if not len(collection):
            sys.stderr.write("monitor: no documents are known, so answers are judged without contexts only\n")
            contexts = {"none": NoContexts()}
        concurrency = application.settings.probe.concurrency
        found = measure(answers, contexts, grader, repeats=repeats, concurrency=concurrency)
        model = grader.model
    if as_json:
        rows = [_as_json(one) for one in found]
        print_json({"judge": model, "repeats": repeats, "documents": len(collection), "contexts": rows})
        return
    _print(found, model=model, repeats=repeats, documents=len(collection))


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

        return shown_documents(application.engine, app_name, now=application.now())
    if ours:
        return [json.loads(line)["text"] for line in _knowledge("passages.jsonl")]
    return [document for answer in answers for document in answer.documents]


def _knowledge(name: str) -> list[str]:
    return (resources.files("monitor.simulate") / "knowledge" / name).read_text(encoding="utf-8").splitlines()


def _as_json(measured: Measured) -> dict[str, object]:
    of = measured.agreement
    figures = {"answers": of.count, "pearson": of.pearson, "spearman": of.spearman, "kappa": of.kappa, "bias": of.bias}
    rest = {"tilt": measured.tilt, "ungraded": measured.ungraded, "spend": asdict(measured.spend)}
    return {"contexts": measured.contexts, **figures, **rest}


def _print(found: Sequence[Measured], *, model: str, repeats: int, documents: int) -> None:
    table = Table("contexts", box=None, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for one in found:
        of = one.agreement
        figures = (_figure(of.pearson), _figure(of.spearman), _figure(of.kappa), _signed(of.bias), _signed(one.tilt))
        table.add_row(one.contexts, f"{of.count:,}", *figures, str(one.ungraded))
    Console().print(table)
    calls = sum(one.spend.calls for one in found)
    judged = f"each answer judged {plural(repeats, 'time')} by {readable(model)}"
    typer.echo(f"{judged}, {plural(calls, 'call')}; {plural(documents, 'document')}")
    typer.echo(
        "bias: the judge's score less the person's; tilt: scores listed from 5 down less scores listed from 0 up"
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}"
