"""The demo with a language model: the sidecar asks it for support, the judge for an opinion on a sample."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from monitor.app.pending.workers import work_off, working
from monitor.app.wiring.application import Application
from monitor.cli.terminal import literal, stopping
from monitor.core.errors import WrongSettings
from monitor.core.pending import Work
from monitor.core.settings.load import Settings
from monitor.store.pending.queue import PendingQueue

PATIENCE = 60.0  # seconds that the sidecar has for each step; unlike a live run, the demo waits for it


def with_llm(settings: Settings, base_url: str) -> Settings:
    """The settings with sidecar and judge on, both using that server; its first model if none is configured.

    Raises:
        OutOfReach: the server does not answer.
        WrongSettings: the server refuses, or lists no model and none is configured.
    """
    from monitor.assess.llm.served_models import served_models

    key = settings.llm.api_key or SecretStr("none")  # a local server needs none
    model = settings.llm.model
    try:
        served = served_models(base_url, key.get_secret_value())  # asked in any case, to see that the server is there
        model = model or next(iter(served), None)
    except WrongSettings:
        if model is None:  # the server is there but does not list its models
            raise
    llm = settings.llm.model_copy(update={"base_url": base_url, "api_key": key, "model": model})
    sidecar, judge = settings.sidecar, settings.judge
    mode = {"mode": "explain"} if sidecar.mode == "off" else {}
    sidecar = sidecar.model_copy(update={"patience": PATIENCE, **mode})
    judge = judge.model_copy(update={"mode": "combined"} if judge.mode == "off" else {})
    return settings.model_copy(update={"llm": llm, "sidecar": sidecar, "judge": judge})


def workers_running(application: Application) -> AbstractContextManager[None]:
    """Runs the workers while the block runs, if there is work for them."""
    return working(application) if application.language_models.judge is not None else nullcontext()


def print_judgements(console: Console, application: Application) -> None:
    """Finishes the judging and prints the means; Ctrl-C skips the rest."""
    waiting = sum(c.waiting for c in PendingQueue(application.engine).counts(application.now()) if c.kind is Work.JUDGE)
    console.print(f"Judging the last {waiting} answers of the sample; Ctrl-C skips the rest ...")
    with stopping() as stop:
        work_off(application, stop)
    means = application.queries.judged_means()
    table = Table(
        "metric",
        "verdict",
        "judged",
        "mean",
        title=f"Judged by {literal(application.language_models.judging_model.model)}",
        box=None,
    )
    for metric, verdict, judged, mean in means:
        table.add_row(
            metric.replace("_", " "), verdict.replace("_", "-"), str(judged), "–" if mean is None else f"{mean:.2f}"
        )
    console.print(table)
    console.print()
