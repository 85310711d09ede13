"""Measures how often the intervals of true rates hold the true rate, and how wide they are beside Wilson's.

    python benchmarks/rates/run.py [--test] [--json PATH] [--short]

Each labelled file is one app: its answers, assessed under the shipped profile and drawn with replacement, make 5,000
stored answers of which 3, 5 or 10 % are self-generated. People have labelled all of them, so that the true rate is
known. Then a plan of 200 labels is drawn as `monitor review plan` draws it, its items and labels are read back as
`monitor rates` reads them, and the interval is computed from the first 50, 100 and 200 items; a thousand times, each
with a seed of its own. `useless` has scores drawn by lot, `inverted` the scores of the first file upside down.

*coverage* is the share of plans whose interval holds the true rate (nominal .95; goal: .945). *width* is the mean width
over that of Wilson's interval on as many labels drawn at random (goal, mean of the files at 5 %: .82 at 100 labels, .77
at 200).

Then two levels: 10,000 answers of each file with 5 % bad ones, 200 labels, and a judge that has read a twentieth of
them at random: one that finds .8 of bad answers and .1 of good ones, one that finds .5 and .2, and one that is blind to
the bad answers that score low. Each plan has a random sample of the judge's of its own.

`--test` uses the test files, which are looked at once for each change of the method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import NamedTuple

import numpy as np
from sqlalchemy import Engine, text

from benchmarks.databases import temporary_database
from benchmarks.figures import finish, options
from benchmarks.labelled import DEV, TEST, assess, cached_pipeline, read
from monitor.core.batch import Batch
from monitor.core.figures.proportions import wilson
from monitor.core.model import Assessment, Interaction, Verdict
from monitor.review.rates.estimate import Labels, rate
from monitor.review.rates.plan import Plan, PlanRequest
from monitor.store.database import connect
from monitor.store.interaction.writer import Writer
from monitor.store.migrate import migrate
from monitor.store.review.plans import Plans

SEED = 20261123
ANSWERS, JUDGED_ANSWERS, JUDGE_SHARE = 5_000, 10_000, 0.05
RATES, LABELS = (0.03, 0.05, 0.10), (50, 100, 200)
PLANS = {False: 1_000, True: 10}
JUDGES = {"good": (0.8, 0.1), "poor": (0.5, 0.2), "blind": (0.8, 0.1)}  # finds so many of the bad and of the good
KEY = b"benchmark" * 4
SINCE = datetime(2026, 3, 2, tzinfo=UTC)
UNTIL = SINCE + timedelta(days=7)
# What `monitor.store.review.labels.Reviews.keep` stores, for all answers at once and without the acts to seal.
_LABEL = text("""
    INSERT INTO review (app, interaction_id, occurred_at, label, labelled_by, labelled_at, drawn, verdict, rule_verdict,
        profile_hash, p_grounded, p_refusal, p_self_generated)
    SELECT a.app, a.id, a.occurred_at, l.label, 'people', a.occurred_at, 'plan', a.verdict, a.rule_verdict,
        a.profile_hash, a.p_grounded, a.p_refusal, a.p_self_generated
    FROM assessment a JOIN unnest(CAST(:ids AS text[]), CAST(:labels AS text[])) AS l (id, label) ON l.id = a.id
    WHERE a.app = :app
""")
_JUDGE = text("""
    INSERT INTO judgement (app, id, metric, model, prompt_hash, occurred_at, mode, score, parts, calls, input_tokens,
        output_tokens, judged_at)
    SELECT a.app, a.id, 'faithfulness', 'made up', '', a.occurred_at, 'separate', j.score, '{}', 0, 0, 0, a.occurred_at
    FROM assessment a JOIN unnest(CAST(:ids AS text[]), CAST(:scores AS float8[])) AS j (id, score) ON j.id = a.id
    WHERE a.app = :app
""")
_SCORES = text("SELECT p_self_generated FROM assessment WHERE app = :app ORDER BY id::int")


class App(NamedTuple):
    """One app: its name, its assessed answers, and which of them are bad."""

    name: str
    answers: Sequence[Assessment]
    bad: Sequence[bool]


def apps(files: Sequence[str]) -> Iterator[App]:
    """The files as apps, without labelled refusals, and without files that have no bad answers."""
    with cached_pipeline() as pipeline:
        for name in files:
            rows = [row for row in read(name) if row.label is not Verdict.REFUSAL]
            bad = [row.label is Verdict.SELF_GENERATED for row in rows]
            if any(bad):
                yield App(name, assess(pipeline, rows), bad)


def rescored(app: App, name: str, scores: Sequence[float]) -> App:
    """The app under another name, with other scores."""
    changed = [
        replace(a, probabilities=replace(a.probabilities, grounded=(1 - s) / 2, refusal=(1 - s) / 2, self_generated=s))
        for a, s in zip(app.answers, scores, strict=True)
    ]
    return App(name, changed, app.bad)


def stored(engine: Engine, app: App, number: int, base: float, rng: np.random.Generator) -> list[bool]:
    """Stores `number` of the app's answers, a share `base` of them bad, with everybody's labels; returns which are."""
    bad = np.array(app.bad)
    wanted = np.arange(number) < round(base * number)
    chosen = np.where(wanted, rng.choice(np.flatnonzero(bad), number), rng.choice(np.flatnonzero(~bad), number))
    small = {"question": "", "answer": "", "retrieved_documents": ()}
    answers = [
        replace(
            app.answers[place],
            interaction=Interaction(
                id=str(n), app=app.name, occurred_at=SINCE + (UNTIL - SINCE) * (n / number), **small
            ),
        )
        for n, place in enumerate(chosen)
    ]
    with closing(Writer(str(engine.url.render_as_string(hide_password=False)), lambda: UNTIL, queue_key=KEY)) as writer:
        for first in range(0, number, 1_000):
            page = answers[first : first + 1_000]
            writer.write(Batch(assessments=tuple(page), dead_letters=(), received=len(page)))
    labels = [Verdict.SELF_GENERATED if one else Verdict.GROUNDED for one in wanted]
    with engine.begin() as connection:
        ids = [str(n) for n in range(number)]
        connection.execute(_LABEL, {"app": app.name, "ids": ids, "labels": labels})
        for table in ("assessment", "review", "interaction"):
            connection.execute(text(f"ANALYZE {table}"))
    return list(map(bool, wanted))


def judge(engine: Engine, name: str, kind: str, bad: Sequence[bool], rng: np.random.Generator) -> None:
    """Stores what a judge of that kind says of every answer; plans use what it says of its random sample."""
    with engine.connect() as connection:
        scores = list(connection.scalars(_SCORES, {"app": name}))
    finds, accuses = JUDGES[kind]
    low = np.array(scores) < np.median(np.array(scores)[np.array(bad)])
    chance = np.where(bad, finds, accuses)
    if kind == "blind":
        chance = np.where(np.array(bad) & low, accuses, chance)
    said = np.where(rng.random(len(bad)) < chance, 0.2, 0.9)
    with engine.begin() as connection:
        connection.execute(_JUDGE, {"app": name, "ids": [str(n) for n in range(len(bad))], "scores": said.tolist()})


def first_labels(plan: Plan, labels: Labels, number: int) -> Labels:
    """The labels of the first items of the plan."""
    keys = [(item.app, item.id) for item in plan.items[:number]]
    return {key: labels[key] for key in keys}


def renamed(engine: Engine, app: str, number: int) -> str:
    """Gives the app another name, and thereby another random sample of the judge; returns the name."""
    name = f"{app.partition('#')[0]}#{number}"
    with engine.begin() as connection:
        for table in ("interaction", "assessment", "review", "judgement"):
            connection.execute(text(f"UPDATE {table} SET app = :name WHERE app = :app"), {"name": name, "app": app})
    return name


def figures(
    engine: Engine, app: str, base: float, number: int, *, labels: Sequence[int], share: float = 0.0
) -> dict[int, dict[str, float]]:
    """Coverage, width and width relative to Wilson's interval, for each number of labels."""
    plans = Plans(engine)
    below, above = dict.fromkeys(labels, 0), dict.fromkeys(labels, 0)
    widths: dict[int, list[float]] = {n: [] for n in labels}
    for turn in range(number):
        if share:
            app = renamed(engine, app, turn)
        request = PlanRequest(
            app=app, since=SINCE, until=UNTIL, labels=max(labels), guaranteed=False, judge_share=share
        )
        plan = plans.make(request, by="benchmark", now=UNTIL)
        if plan is None:
            raise SystemExit(f"{app} has no answers")
        given = plans.labels(plan)
        for n in labels:
            found = rate(plan, first_labels(plan, given, n), "self_generated")
            below[n] += base < found.lower
            above[n] += base > found.upper
            widths[n].append(found.upper - found.lower)
    return {
        n: {
            "coverage": 1 - (below[n] + above[n]) / number,
            "missed_below": below[n] / number,
            "missed_above": above[n] / number,
            "width": float(np.mean(widths[n])),
            "to_wilson": float(np.mean(widths[n])) / wilson_width(base, n),
        }
        for n in labels
    }


def wilson_width(base: float, labels: int) -> float:
    """The mean width of Wilson's interval on so many labels drawn at random."""
    k = np.random.default_rng(SEED).binomial(labels, base, 20_000)
    values, counts = np.unique(k, return_counts=True)
    widths = [upper - lower for lower, upper in (wilson(int(v), labels) for v in values)]
    return float(np.average(widths, weights=counts))


@contextmanager
def database() -> Iterator[Engine]:
    """An embedded PostgreSQL in a temporary folder, migrated."""
    with temporary_database() as url:
        engine = connect(url, queue_key=lambda: KEY)
        try:
            migrate(engine)
            yield engine
        finally:
            engine.dispose()


def line(name: str, base: float, measured: Mapping[int, Mapping[str, float]]) -> str:
    cells = [f"{m['coverage']:.3f} / {m['to_wilson']:.2f}" for m in measured.values()]
    return f"{name:<30}{base:>5.0%}   " + "   ".join(cells)


def main() -> None:
    asked = options(__doc__, "ten plans a cell, one file", test="the test files instead of the development files")
    rng = np.random.default_rng(SEED)
    number = PLANS[asked.short]
    found = list(apps((TEST if asked.test else DEV)[: 1 if asked.short else None]))
    scores = [a.probabilities.self_generated for a in found[0].answers]
    files = {app.name for app in found}
    found += [
        rescored(found[0], "useless", rng.random(len(scores)).tolist()),
        rescored(found[0], "inverted", [1 - s for s in scores]),
    ]
    one, two = [], []
    with database() as engine:
        print(f"coverage / width to Wilson's, {number} plans a line; standard error of a coverage "
              f"{sqrt(0.95 * 0.05 / number):.3f}\n{'labels':<38}" + "".join(f"{n:<15}" for n in LABELS))  # fmt: skip
        for app in found:
            for base in RATES:
                own = app._replace(name=f"{app.name} {base:.0%}")
                stored(engine, own, ANSWERS, base, rng)
                measured = figures(engine, own.name, base, number, labels=LABELS)
                one.append({"app": app.name, "base": base, "labels": measured})
                print(line(app.name, base, measured), flush=True)
        real = [cell["labels"] for cell in one if cell["app"] in files and cell["base"] == 0.05]
        means = {n: float(np.mean([cell[n]["to_wilson"] for cell in real])) for n in LABELS}
        print("mean width of the files at 5 %: " + ", ".join(f"{value:.3f} at {n}" for n, value in means.items()))
        print("\nwith a judge of a twentieth, 200 labels of 10,000: coverage / width to Wilson's")
        for app in found[:-2]:
            for kind in JUDGES:
                own = app._replace(name=f"{app.name}, {kind} judge")
                bad = stored(engine, own, JUDGED_ANSWERS, 0.05, rng)
                judge(engine, own.name, kind, bad, rng)
                measured = figures(engine, own.name, 0.05, number // 5, labels=(200,), share=JUDGE_SHARE)
                two.append({"app": app.name, "judge": kind, "labels": measured})
                print(line(own.name, 0.05, measured), flush=True)
    finish({"plans": number, "strata": one, "mean_width": means, "judge": two}, seed=SEED, path=asked.json)


if __name__ == "__main__":
    main()
