"""Compares the judge with the `ragas` package in cost and scores, and measures whether it delays the events.

    python benchmarks/judge/run.py [--short] [--json PATH] [--interactions N] [--latency MS] [--concurrency N]
                                   [--ragas-venv FOLDER | --no-ragas]

Made-up interactions are judged for faithfulness, answer relevance and context relevance against a scripted server that
takes the same time for every request, chat and embeddings alike. One run measures, each in its own process:
- wall time, and the calls and tokens that the server counted, of ragas 0.4.3, of our separate and of our combined mode,
  each with the same number of concurrent interactions or calls (goals, combined against ragas: at most 1/3 of the
  calls, 1/2 of the tokens, 1/3 of the time); and of our combined mode from the queue into the tables, as users have it.
  Our calls are taken from a budget with limits, in an embedded PostgreSQL;
- how many of our scores equal ragas's, or those of the metric's formula, given the same verdicts;
- the time from an event's arrival until its transaction has committed, with the judge off and, alternating, with a
  judge of every interaction (separate mode) that has hundreds waiting; with cheap embeddings made in the process, and
  (not in short form) with those of the server, which the judge calls too.

A token is four characters of a request or an answer; embeddings count none. Each figure is the median of several
rounds, and each ratio the median of the ratios of its rounds. `--ragas-venv` names a virtual environment made as
described in benchmarks/judge/ragas-requirements.txt; otherwise one is made in the user's cache, but not by `--short`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.consume.rig import cpu_seconds, machine_cpu_seconds
from benchmarks.figures import finish
from benchmarks.judge.cases import JudgedCase, made
from benchmarks.judge.events import event_path
from benchmarks.judge.rig import (
    ScriptedServer,
    in_fresh_process,
    judged,
    judged_from_queue,
    ragas,
    ragas_python,
    serving,
    settings,
)
from monitor.store.embedded_postgres import embedded_database

SEED = 20_261_121
FULL = {
    "interactions": 200,
    "latency ms": 300,
    "rounds": 3,
    "rate": 50,
    "seconds": 20,
    "waiting": 500,
    "event rounds": 2,
    "embedders": 2,
}
SHORT = {
    "interactions": 16,
    "latency ms": 100,
    "rounds": 1,
    "rate": 50,
    "seconds": 2,
    "waiting": 100,
    "event rounds": 1,
    "embedders": 1,
}
EMBEDDERS = {"hash": "embeddings in the process", "openai": "embeddings from the server"}
COLUMNS = ("seconds", "chat calls", "embedding calls", "tokens", "chat calls at a time")
RATIOS = ("seconds", "chat calls", "all calls", "tokens")
GOALS: dict[str, tuple[str, float]] = {
    "seconds": ("1/3", 1 / 3),
    "chat calls": ("1/3", 1 / 3),
    "all calls": ("1/3", 1 / 3),
    "tokens": ("1/2", 1 / 2),
}
RAGAS, SEPARATE, COMBINED, QUEUED = "ragas", "ours, separate", "ours, combined", "ours, combined, queued"
CLOSE = 1e-6  # our vectors are float32
DISTURBED = 0.1  # cores


class Bench:
    """One run of this script: its sizes and its places."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self.sizes = dict(SHORT if arguments.short else FULL)
        chosen = {"interactions": arguments.interactions, "latency ms": arguments.latency}
        self.sizes |= {name: value for name, value in chosen.items() if value is not None}
        self.concurrency: int = arguments.concurrency
        self.folder = folder
        folder.chmod(0o711)  # so that root's database lies in it too
        self.database = embedded_database(folder / "database")
        postmaster = (folder / "database" / "postgres" / "postmaster.pid").read_text(encoding="ascii")
        self._ours = (os.getpid(), int(postmaster.split("\n", 1)[0]))
        self.cases = made(self.sizes["interactions"], SEED)
        self.ragas = None if arguments.no_ragas else ragas_python(arguments.ragas_venv, make=not arguments.short)

    def taken_by_others(self) -> float:
        """CPU seconds of this machine so far that other processes used."""
        return machine_cpu_seconds() - sum(map(cpu_seconds, self._ours))

    def round(self, served: ScriptedServer) -> dict[str, dict[str, Any]]:
        """Runs every way to judge once."""
        count, python = len(self.cases), self.ragas

        def counted(found: dict[str, Any]) -> dict[str, Any]:
            seen = served.counted()
            return {**found, **seen, "all calls": seen["chat calls"] + seen["embedding calls"]}

        def ours(work: Callable[..., dict[str, Any]], mode: str) -> dict[str, Any]:
            return counted(
                in_fresh_process(work, settings(self.database, served.url, mode, self.concurrency), count, SEED)
            )

        served.counted()  # discards the earlier counts
        theirs = (
            {RAGAS: counted(ragas(python, served.url, self.cases, self.concurrency, self.folder))} if python else {}
        )
        return {
            **theirs,
            SEPARATE: ours(judged, "separate"),
            COMBINED: ours(judged, "combined"),
            QUEUED: ours(judged_from_queue, "combined"),
        }

    def events(self, served: ScriptedServer, embedder: str, mode: str) -> dict[str, float]:
        """Delays of events with a judge running, or without."""
        given = settings(self.database, served.url, mode, self.concurrency, embedder=embedder)
        sizes = (self.sizes[name] for name in ("rate", "seconds", "waiting"))
        found: dict[str, float] = in_fresh_process(event_path, given, *sizes, SEED)
        return found


def measure(bench: Bench) -> dict[str, Any]:
    sizes, begin, others = bench.sizes, time.perf_counter(), bench.taken_by_others()
    most = max(sizes["interactions"], sizes["waiting"] + sizes["rate"] * sizes["seconds"])
    with serving(sizes["latency ms"] / 1e3, most, SEED) as served:
        rounds = [bench.round(served) for _ in range(sizes["rounds"])]
        events = {
            embedder: delays_with_judge(bench, served, embedder) for embedder in list(EMBEDDERS)[: sizes["embedders"]]
        }
    return {
        **sizes,
        "concurrency": bench.concurrency,
        "characters": characters(bench.cases),
        "judging": {name: medians(one[name] for one in rounds) for name in rounds[0]},
        "ragas version": rounds[0].get(RAGAS, {}).get("version"),
        "to ragas": to_ragas(rounds),
        "agreement": agreement(rounds[0], bench.cases),
        "events": events,
        "cores taken by others": (bench.taken_by_others() - others) / (time.perf_counter() - begin),
    }


def delays_with_judge(bench: Bench, served: ScriptedServer, embedder: str) -> dict[str, Any]:
    """Delays of events without and with a judge, alternating."""
    modes = {"judge off": "off", "judge saturated": "separate"}
    turns = [
        {state: bench.events(served, embedder, mode) for state, mode in modes.items()}
        for _ in range(bench.sizes["event rounds"])
    ]
    off, on = modes
    ratio = {name: median(turn[on][name] / turn[off][name] for turn in turns) for name in ("p50 ms", "p95 ms")}
    return {**{state: medians(turn[state] for turn in turns) for state in modes}, "ratio": ratio, "rounds": turns}


def medians(found: Iterable[dict[str, Any]]) -> dict[str, Any]:
    runs = list(found)
    return {
        name: median(run[name] for run in runs) for name, value in runs[0].items() if isinstance(value, int | float)
    }


def characters(cases: Sequence[JudgedCase]) -> dict[str, float]:
    """The median length of the texts."""
    return {
        "question": median(len(it.question) for it in cases),
        "answer": median(len(it.answer) for it in cases),
        "documents": median(sum(map(len, it.texts)) for it in cases),
    }


def to_ragas(rounds: Sequence[dict[str, dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """The ratio of each of our figures to ragas's of the same round."""
    return {
        name: {figure: median(one[name][figure] / one[RAGAS][figure] for one in rounds) for figure in RATIOS}
        for name in rounds[0]
        if name != RAGAS and RAGAS in rounds[0]
    }


def agreement(one: dict[str, dict[str, Any]], cases: Sequence[JudgedCase]) -> dict[str, dict[str, int]]:
    """For how many interactions each of our modes scores like ragas, or like the metric's formula."""
    theirs = one[RAGAS]["scores"] if RAGAS in one else None
    found = {}
    for mode in (SEPARATE, COMBINED):
        ours = one[mode]["scores"]
        equal = [score["context_relevance"] == it.context_relevance for score, it in zip(ours, cases, strict=True)]
        found[mode] = {"context relevance": sum(equal)}
        if theirs is not None:
            pairs = list(zip(ours, theirs, strict=True))
            found[mode]["faithfulness"] = sum(o["faithfulness"] == t["faithfulness"] for o, t in pairs)
            key = "answer_relevance"
            found[mode]["answer relevance"] = sum(abs(o[key] - t[key]) <= CLOSE for o, t in pairs)
    return found


def show(results: dict[str, Any]) -> None:
    texts = ", ".join(f"{name} {value:,.0f}" for name, value in results["characters"].items())
    print(
        f"{results['interactions']} interactions ({texts} characters), {results['latency ms']} ms a request, "
        f"{results['concurrency']} at a time; rounds: {results['rounds']}\n"
    )
    print(f"{'':28}" + "".join(f"{name:>22}" for name in COLUMNS))
    for name, found in results["judging"].items():
        figures = (f"{found[column]:,.1f}" if column == "seconds" else f"{found[column]:,.0f}" for column in COLUMNS)
        print(f"{name:28}" + "".join(f"{figure:>22}" for figure in figures))
    if not results["to ragas"]:
        print("ragas was left out: --no-ragas was given, or its environment is missing and --short does not make it")
    else:
        print(f"\n{'to ragas':28}" + "".join(f"{name:>22}" for name in RATIOS))
    for name, found in results["to ragas"].items():
        print(f"{name:28}" + "".join(f"{found[figure]:>22.3f}" for figure in RATIOS))
        if name == COMBINED:
            remarks = (f"≤ {text}: {'met' if found[of] <= most else 'NOT MET'}" for of, (text, most) in GOALS.items())
            print(f"{'  goal':28}" + "".join(f"{goal:>22}" for goal in remarks))
    waits = {mode: results["judging"][mode]["milliseconds in the budget a call"] for mode in (SEPARATE, COMBINED)}
    print(
        "\nmilliseconds that one of our calls spends in the budget: "
        + ", ".join(f"{mode} {wait:.1f}" for mode, wait in waits.items())
    )
    show_agreement(results)
    show_events(results)


def show_agreement(results: dict[str, Any]) -> None:
    means = {
        "faithfulness": "equal to ragas's",
        "answer relevance": f"within {CLOSE:g} of ragas's",
        "context relevance": "equal to needed sentences / sentences, from the numbers that the server chose",
    }
    print("\nour scores on the same verdicts (goal: all)")
    for mode, found in results["agreement"].items():
        for name, what in means.items():
            agree = f"{found[name]} of {results['interactions']}" if name in found else "not compared"
            print(f"{f'{mode}: {name}':34}{agree:>14}   {what}")
    print("ragas's context relevance is another metric (two ratings from 0 to 2), so it is not compared.")


def show_events(results: dict[str, Any]) -> None:
    names = ("p50 ms", "p95 ms", "longest ms", "waiting at the begin", "waiting at the end")
    print(
        f"\nfrom an event's arrival to its commit; {results['rate']} events/s for {results['seconds']} s, "
        f"rounds: {results['event rounds']}"
    )
    for embedder, found in results["events"].items():
        print(f"{EMBEDDERS[embedder]:28}" + "".join(f"{name:>22}" for name in names))
        for state in ("judge off", "judge saturated"):
            print(f"{state:28}" + "".join(f"{found[state][name]:>22,.1f}" for name in names))
        print(f"{'ratio':28}" + "".join(f"{value:>22.2f}" for value in found["ratio"].values()))


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="smaller, faster and once, to see that it runs")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there")
    parser.add_argument("--interactions", type=int, metavar="N", help=f"default: {FULL['interactions']}")
    parser.add_argument(
        "--latency",
        type=int,
        metavar="MS",
        help=f"of every request; default: {FULL['latency ms']}, {SHORT['latency ms']} in short form",
    )
    parser.add_argument("--concurrency", type=int, default=16, metavar="N", help="calls at a time")
    parser.add_argument("--ragas-venv", type=Path, metavar="FOLDER", help="with ragas installed")
    parser.add_argument("--no-ragas", action="store_true", help="only ours")
    return parser.parse_args()


def main() -> None:
    arguments = options()
    if not sys.platform.startswith("linux"):
        sys.exit("this reads /proc, which only Linux has")
    with tempfile.TemporaryDirectory(prefix="monitor-judge-") as folder:
        found = measure(Bench(arguments, Path(folder)))
    results: dict[str, Any] = finish(found, seed=SEED, path=arguments.json)
    show(results)
    others = results["cores taken by others"]
    print(f"\nAll parts shared {os.cpu_count()} cores, including the scripted server and PostgreSQL.")
    if others > DISTURBED:
        print(f"Other processes used {others:.2f} cores meanwhile: expect better figures on an idle machine.")


if __name__ == "__main__":
    main()
