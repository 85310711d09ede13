"""Rig of the judge benchmark: a scripted server, our judge and ragas, each in its own process."""

from __future__ import annotations

import gc
import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Lock
from typing import Any

from platformdirs import user_cache_path

from benchmarks.faults.rig import ROOT
from benchmarks.judge.cases import JudgedCase, made, scripted
from monitor.__main__ import ALLOCATIONS_BETWEEN_COLLECTIONS
from monitor.app.pending.workers import work_off
from monitor.app.wiring.application import Application
from monitor.app.wiring.models import chat_model
from monitor.assess.embed.cache import CachedEmbedder
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.judge.judge import Judge
from monitor.assess.judge.metric import Judgement
from monitor.assess.llm.exchange import Purpose, Spend
from monitor.assess.ports import Budget
from monitor.core.batch import Batch
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import BudgetSettings, EmbeddingSettings, JudgeSettings, LLMSettings, SampleSettings
from tests.servers.llm import KEY, MODEL, llm_server

CHAT = "gpt-4o-mini"  # ragas asks for another form of answers if the name begins with gpt-5 or o1
METRICS = ("faithfulness", "answer_relevance", "context_relevance")
RAGAS_NAMES = {"faithfulness": "faithfulness", "answer_relevance": "answer_relevancy"}  # where the formula is ours
REQUIREMENTS = ROOT / "benchmarks" / "judge" / "ragas-requirements.txt"
_PLENTY = 10**9
_ALL = SampleSettings(negatives=1, low_margin=1, rest=1)
_TABLES = "pending, judgement, llm_usage, interaction_key, interaction, assessment, verdict_minute"


def in_fresh_process(work: Callable[..., Any], *arguments: object) -> Any:
    """Runs `work` in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


# The server.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedServer:
    """A running server."""

    url: str
    pipe: Connection

    def counted(self) -> dict[str, int]:
        """The counts of the server since the last call."""
        self.pipe.send(None)
        found: dict[str, int] = self.pipe.recv()
        return found


@contextmanager
def serving(latency: float, count: int, seed: int) -> Iterator[ScriptedServer]:
    """A server for interactions `made(count, seed)`, which takes `latency` seconds for chat and embeddings alike."""
    context = multiprocessing.get_context("spawn")
    ours, made_cases = context.Pipe()
    process = context.Process(target=_serve, args=(made_cases, latency, count, seed))
    process.start()
    made_cases.close()  # so that a failed start of the server is noticed
    try:
        yield ScriptedServer(url=ours.recv(), pipe=ours)
    finally:
        ours.close()
        process.join()


def _serve(pipe: Connection, latency: float, count: int, seed: int) -> None:
    answer = scripted(made(count, seed))
    with llm_server(latency=latency, answer=answer, chat_models={CHAT}) as server, suppress(EOFError):
        pipe.send(server.base_url)
        while True:
            pipe.recv()
            with server.lock:
                pipe.send(
                    {
                        "chat calls": server.calls,
                        "tokens": server.tokens,
                        "embedding calls": sum("input" in body for body in server.requests),
                        "chat calls at a time": server.most_in_flight,
                    }
                )
                server.calls = server.tokens = server.most_in_flight = 0
                server.requests.clear()
                server.chats.clear()


# Our judge.


def settings(database: str, server: str, mode: str, concurrency: int, *, embedder: str = "openai") -> Settings:
    """A judge of every interaction, with prices and a budget large enough for all calls."""
    return Settings.model_validate(
        {
            "database_url": database,
            "embedding": EmbeddingSettings.model_validate({"provider": embedder, "model": MODEL}),
            "llm": LLMSettings.model_validate(
                {
                    "base_url": server,
                    "api_key": KEY,
                    "model": CHAT,
                    "input_price": 1,
                    "output_price": 1,
                    "budget": BudgetSettings(calls_per_day=_PLENTY, tokens_per_day=_PLENTY),
                }
            ),
            "judge": JudgeSettings.model_validate(
                {
                    "mode": mode,
                    "metrics": METRICS,
                    "sample": _ALL,
                    "concurrency": concurrency,
                }
            ),
        }
    )


def cleared(application: Application) -> None:
    with application.engine.begin() as connection:
        connection.exec_driver_sql(f"TRUNCATE {_TABLES}")


def queue(application: Application, made_cases: Sequence[JudgedCase]) -> None:
    """Stores the interactions and queues the work that the settings ask for, without calling the server."""
    offline = CachedEmbedder(HashEmbedder(), 2**20)
    pipeline = replace(application.assessing.pipeline, encoder=HashEmbedder(), embedder=offline)
    assessments = pipeline.assess([it.interaction() for it in made_cases])
    application.store.write(Batch(assessments=tuple(assessments), dead_letters=(), received=len(made_cases)))


@dataclass(slots=True)
class TimedBudget:
    """A budget, and the seconds that its callers spent in it."""

    inner: Budget
    seconds: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def take(self, purpose: Purpose, model: str, *, calls: int = 1) -> None:
        self._timed(partial(self.inner.take, purpose, model, calls=calls))

    def count(self, purpose: Purpose, model: str, spend: Spend) -> None:
        self._timed(partial(self.inner.count, purpose, model, spend))

    def _timed(self, call: Callable[[], None]) -> None:
        begin = time.perf_counter()
        call()
        with self._lock:
            self.seconds += time.perf_counter() - begin


def judged(given: Settings, count: int, seed: int) -> dict[str, Any]:
    """The judgements of `Judge.tasks`, in a pool of as many threads as concurrent calls. Run it in a fresh process."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)  # as the command does
    made_cases, concurrency, mode = made(count, seed), given.judge.concurrency, given.judge.mode
    with Application(given) as application:
        application.prepare()
        cleared(application)
        budget = TimedBudget(application.language_models.budget)
        model = chat_model(given, Purpose.JUDGE, budget, application.now)
        judge = Judge(
            model,
            application.assessing.embedder,
            metrics=METRICS,
            mode="combined" if mode == "combined" else "separate",
        )
        with ThreadPoolExecutor(concurrency) as pool:
            begin = time.perf_counter()
            started = [[pool.submit(task) for task in judge.tasks(it.case)] for it in made_cases]
            found = [_results(futures) for futures in started]
            seconds = time.perf_counter() - begin
        model.close()
    scores = [{j.metric: j.outcome.score for j in judgements} for judgements in found]
    calls = sum(j.spend.calls for judgements in found for j in judgements)
    return {"seconds": seconds, "scores": scores, "milliseconds in the budget a call": 1e3 * budget.seconds / calls}


def _results(futures: Sequence[Future[list[Judgement]]]) -> list[Judgement]:
    return [judgement for future in futures for judgement in future.result()]


def judged_from_queue(given: Settings, count: int, seed: int) -> dict[str, Any]:
    """The judgements as users get them: claimed from the queue, judged, stored. Run it in a fresh process."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)
    with Application(given) as application:
        application.prepare()
        cleared(application)
        queue(application, made(count, seed))
        begin = time.perf_counter()
        work_off(application, Event())
        seconds = time.perf_counter() - begin
        with application.engine.connect() as connection:
            stored = connection.exec_driver_sql("SELECT count(*) FROM judgement WHERE score IS NOT NULL").scalar()
    if stored != count * len(METRICS):
        raise RuntimeError(f"{stored} judgements of {count * len(METRICS)} are stored")
    return {"seconds": seconds}


# The judge of ragas.


def ragas_python(chosen: Path | None, *, make: bool) -> Path | None:
    """The interpreter of a virtual environment with ragas: the `chosen` one, or one in the user's cache.

    None if it does not exist and may not be made.
    """
    if chosen is not None:
        python = chosen / "bin" / "python"
        return python if python.exists() else sys.exit(f"{chosen} is no virtual environment")
    wanted = sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    folder = user_cache_path("rag-monitor") / f"ragas-{wanted}"
    python, ready = folder / "bin" / "python", folder / ".ready"
    if not ready.exists():
        if not make:
            return None
        print(f"installing ragas into {folder}; this takes about a minute ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-r", str(REQUIREMENTS)], check=True)
        ready.touch()
    return python


def ragas(
    python: Path, server: str, made_cases: Sequence[JudgedCase], concurrency: int, folder: Path
) -> dict[str, Any]:
    """Seconds and scores of ragas, in its own process."""
    given, found = folder / "ragas-input.jsonl", folder / "ragas-output.json"
    with given.open("w", encoding="utf-8") as file:
        for it in made_cases:
            texts = {"question": it.question, "answer": it.answer, "documents": it.texts}
            file.write(json.dumps({"id": str(it.number), **texts}) + "\n")
    options = {
        "base-url": server,
        "api-key": KEY,
        "model": CHAT,
        "embedding-model": MODEL,
        "input": given,
        "output": found,
        "concurrency": concurrency,
    }
    chosen = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    subprocess.run([str(python), str(ROOT / "benchmarks" / "judge" / "ragas_run.py"), *chosen], check=True)
    read = json.loads(found.read_text(encoding="utf-8"))
    scores = [{ours: row[name] for ours, name in RAGAS_NAMES.items()} for row in read["interactions"]]
    return {"seconds": read["seconds"], "scores": scores, "version": read["ragas"]}
