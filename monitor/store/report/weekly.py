"""Reads the facts of a weekly report: from the rollup where it is enough, else from a bounded number of rows.

All facts but labels and the ledger come from one snapshot. Times are those of the answers (`occurred_at`), and only
live assessments count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, TextClause, text

from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Reason, Verdict
from monitor.report.findings.find import Candidate, find
from monitor.report.findings.outages import Outage, refined
from monitor.report.weekly.actions import LEAST_ANSWERED, OVER_FROM, RIGHT_BELOW
from monitor.report.weekly.facts import Example, Facts, Finding, Findings, ProfileUse, Refusals, TwoWeeks
from monitor.report.weekly.week import Week
from monitor.store.database import retriable
from monitor.store.interaction.overview import OverviewStore
from monitor.store.report.cells import hourly, minutes, sampled_days
from monitor.store.report.operations import coverage, episodes, judged, judged_answers, silences, usage, used, watched
from monitor.store.report.probes import probed, probed_apps
from monitor.store.report.questions import Asked, Embed, asked, diagnosed, lacking
from monitor.store.report.rows import SAMPLED_ROWS, prompt_versions, read, sample
from monitor.store.review.labels import Reviews
from monitor.store.review.plans import Plans
from monitor.store.review.rates import planned_rates

TIMEOUT_MS = 120_000  # per statement
WORST, OVER_REFUSALS = 10, 5  # distinct questions in the report
_EXAMINED = 500  # answers among which they are searched
_LONGEST = 2_000  # characters of a text that are read
_BY_VERDICT = ", ".join(f"sum({verdict.value})::bigint AS {verdict.value}" for verdict in Verdict)

# An app beyond the cap is counted under OTHER, and has no report of its own.
_APPS = text("""
    SELECT DISTINCT app FROM verdict_hour
    WHERE hour >= :before AND hour < :end AND total > 0
        AND app IN (SELECT value FROM rollup_label WHERE label = 'app')
    ORDER BY app
""")
_DAYS = """
    SELECT (hour AT TIME ZONE 'UTC')::date AS day, {counts} FROM verdict_hour
    WHERE app = :app AND hour >= :trend AND hour < :end GROUP BY 1 HAVING sum(total) > 0
"""
_GROUPS = """
    SELECT {label} AS value, hour >= :start AS this, {counts} FROM verdict_hour
    WHERE app = :app AND hour >= :before AND hour < :end GROUP BY 1, 2 HAVING sum(total) > 0
"""
_ASSESSED = text("""
    SELECT verdict, rule_verdict, profile_name, profile_hash, embedding_model, uncalibrated, refusal_kind, count(*) AS n
    FROM assessment WHERE app = :app AND live AND occurred_at >= :start AND occurred_at < :end
    GROUP BY verdict, rule_verdict, profile_name, profile_hash, embedding_model, uncalibrated, refusal_kind
""")
# A refusal is told by how well its documents match the question, beside the questions that the app answers.
_ANSWERED = text(f"""
    SELECT count(qrd) AS answered, percentile_disc(CAST(:right AS float)) WITHIN GROUP (ORDER BY qrd) AS right_below,
        percentile_disc(CAST(:over AS float)) WITHIN GROUP (ORDER BY qrd) AS over_from
    {SAMPLED_ROWS}
""")
_REFUSALS = """
    SELECT occurred_at >= :start AS this, count(*) FILTER (WHERE {correct}) AS correct,
        count(*) FILTER (WHERE {over}) AS over, count(*) AS total
    FROM assessment
    WHERE app = :app AND verdict = 'refusal' AND live AND occurred_at >= :before AND occurred_at < :end GROUP BY 1
"""
_BY_PROFILE = {"correct": "refusal_correct", "over": "NOT refusal_correct"}
_BY_COMPARISON = {
    "correct": f"coalesce(qrd < :right_below, '{Reason.NO_DOCUMENTS}' = ANY(reasons))",
    "over": "qrd >= greatest(:over_from, :right_below)",
}
_EXAMPLES = """
    SELECT a.id, a.occurred_at, a.verdict, a.reasons, a.p_grounded, a.p_refusal,
        i.model, i.tags ->> 'topic' AS topic, left(i.question, :longest) AS question, left(i.answer, :longest) AS answer
    FROM (
        SELECT * FROM assessment
        WHERE app = :app AND {which} AND live AND occurred_at >= :start AND occurred_at < :end
        ORDER BY {order}, occurred_at, id LIMIT :examined
    ) a
    JOIN interaction i ON i.app = a.app AND i.id = a.id AND i.occurred_at = a.occurred_at
    WHERE NOT 'erased' = ANY(i.marks)
    ORDER BY {order}, a.occurred_at, a.id
"""
_WORST = text(_EXAMPLES.format(which="verdict = 'self_generated'", order="p_grounded"))
_OVER = {
    False: text(_EXAMPLES.format(which="verdict = 'refusal' AND NOT refusal_correct", order="p_refusal DESC")),
    True: text(_EXAMPLES.format(which=f"verdict = 'refusal' AND {_BY_COMPARISON['over']}", order="qrd DESC")),
}


class WeeklyFacts:
    """Reads; every method may raise `Retriable`, also when a statement takes longer than `TIMEOUT_MS`.

    `embed` gives questions vectors, for which no database waits; without it they are grouped word for word.
    """

    def __init__(self, engine: Engine, embed: Embed | None = None) -> None:
        self._engine, self._embed = engine, embed
        self._reviews = Reviews(engine)
        self._plans, self._overview = Plans(engine), OverviewStore(engine)

    def apps(self, week: Week) -> list[str]:
        """The apps with answers in the week or the one before, or with a probe that ran in the week, by name."""
        with self._snapshot() as connection:
            answered = connection.scalars(_APPS, {"before": week.before.start, "end": week.end})
            return sorted({*answered, *probed_apps(connection, week)})

    def facts(self, app: str, week: Week) -> Facts:
        """The facts of the app and week; zeros where nothing is stored."""
        values = {
            "app": app,
            "start": week.start,
            "end": week.end,
            "before": week.before.start,
            "trend": week.trend_start,
        }
        opinions = [
            opinion for opinion in self._reviews.opinions(app=app, since=week.start) if opinion.occurred_at < week.end
        ]
        unlabelled = sum(at < week.end for at in self._reviews.unlabelled(app=app, since=week.start))
        plan = self._plans.newest(app, week.start, week.end)
        with self._snapshot() as connection:
            days = _days(connection, values)
            this = sum((n for day, n in days.items() if day >= week.monday), Verdicts())
            earlier = sum((n for day, n in days.items() if week.before.monday <= day < week.monday), Verdicts())
            assessed = connection.execute(_ASSESSED, values).mappings().all()
            total = sum(counts.total for counts in days.values())
            told = _told(connection, app, week, total=total)
            refusals, refusals_before = _refusals(connection, values | told)
            diagnoses = diagnosed(connection, app, week)
            questions = asked(connection, app, week, total=this.total) if diagnoses.this else Asked()
            known = Facts(
                app=app,
                week=week,
                days=days,
                groups={label: _groups(connection, label, values) for label in ("environment", "model", "topic")},
                prompt_versions=prompt_versions(connection, app, week, totals=(this.total, earlier.total)),
                read=read(connection, app, week, total=this.total),
                refusals=refusals,
                refusals_before=refusals_before,
                partial_refusals=sum(row["n"] for row in assessed if row["refusal_kind"] == "partial"),
                verdicts=_verdicts(assessed),
                profiles=_profiles(assessed),
                worst=_examples(connection, _WORST, values, WORST),
                over_refusals=_examples(connection, _OVER[bool(told)], values | told, OVER_REFUSALS),
                watched=watched(connection, week),
                episodes=episodes(connection, values),
                silences=silences(connection, values),
                judged=judged(connection, app, week),
                judged_before=judged(connection, app, week.before),
                judged_answers=judged_answers(connection, values),
                usage=usage(connection, values),
                used=used(connection, app, week),
                coverage=coverage(connection, self._engine, values),
                opinions=tuple(opinions),
                unlabelled=unlabelled,
                findings=_findings(connection, app, week, total=total),
                rates=None if plan is None else planned_rates(self._engine, self._overview, plan),
                diagnosed=diagnoses,
                probes=probed(connection, app, week),
            )
        return replace(known, lacking=lacking(questions, of=this.total, embed=self._embed))

    @contextmanager
    def _snapshot(self) -> Iterator[Connection]:
        with retriable(), self._engine.connect() as opened:
            connection = opened.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            connection.execute(text(f"SET LOCAL statement_timeout = {TIMEOUT_MS}; SET LOCAL jit = off"))
            yield connection


def distinct(examples: list[Example], most: int) -> tuple[Example, ...]:
    """The first answer to each question, up to `most`; letter case and white space of questions do not matter."""
    first: dict[str, Example] = {}
    for example in examples:
        first.setdefault(" ".join(example.question.split()).casefold(), example)
    return tuple(first.values())[:most]


def _days(connection: Connection, values: Mapping[str, Any]) -> dict[date, Verdicts]:
    return {
        row["day"]: _counts(row)
        for row in connection.execute(text(_DAYS.format(counts=_BY_VERDICT)), values).mappings()
    }


def _groups(connection: Connection, label: str, values: Mapping[str, Any]) -> dict[str, TwoWeeks]:
    found: dict[str, TwoWeeks] = {}
    query = text(_GROUPS.format(label=label, counts=_BY_VERDICT))
    for row in connection.execute(query, values).mappings():
        known = found.get(row["value"], TwoWeeks())
        found[row["value"]] = (
            TwoWeeks(this=_counts(row), before=known.before)
            if row["this"]
            else TwoWeeks(this=known.this, before=_counts(row))
        )
    return found


def _counts(row: RowMapping) -> Verdicts:
    return Verdicts(grounded=row["grounded"], refusal=row["refusal"], self_generated=row["self_generated"])


def _told(connection: Connection, app: str, week: Week, *, total: int) -> dict[str, Any]:
    """The limits that tell refusals, from the app's answered questions of the trend; {} where these are too few."""
    answered = sample(app, week.trend_start, week.end, total) | {"verdicts": [Verdict.GROUNDED.value]}
    found = connection.execute(_ANSWERED, answered | {"right": RIGHT_BELOW, "over": OVER_FROM}).mappings().one()
    return dict(found) if found["answered"] >= LEAST_ANSWERED else {}


def _refusals(connection: Connection, values: Mapping[str, Any]) -> tuple[Refusals, Refusals]:
    """Of the week, and of the week before."""
    telling = _BY_COMPARISON if "answered" in values else _BY_PROFILE
    rows = connection.execute(text(_REFUSALS.format(**telling)), values).mappings()
    found = {
        row["this"]: Refusals(
            correct=row["correct"],
            over=row["over"],
            unknown=row["total"] - row["correct"] - row["over"],
            answered=values.get("answered", 0),
        )
        for row in rows
    }
    return found.get(True, Refusals()), found.get(False, Refusals())


def _findings(connection: Connection, app: str, week: Week, *, total: int) -> Findings:
    """Outages with their times to the minute, rises and levels."""
    found = find(hourly(connection, app, week), sampled_days(connection, app, week, total=total))
    items = tuple(_timed(connection, app, week, about, q) for about, q in found.findings)
    return Findings(tests=found.tests, items=items)


def _timed(connection: Connection, app: str, week: Week, about: Candidate, q: float) -> Finding:
    if not isinstance(about, Outage):
        return Finding(about=about, q=q)
    around = minutes(connection, app, week, about)
    first, last = refined(around, about)
    inside = [each for each in around if first <= each.minute < last]
    matching, total = sum(each.matching for each in inside), sum(each.answers for each in inside)
    outside = about.total + about.total_outside - total
    if total and outside:  # the counts are of the minutes that are named, and not of whole hours
        missed = about.matching + about.matching_outside - matching
        about = replace(about, matching=matching, total=total, matching_outside=missed, total_outside=outside)
    return Finding(
        about=about,
        q=q,
        start=week.trend_start + timedelta(minutes=first),
        end=week.trend_start + timedelta(minutes=last),
        negative=sum(each.negative for each in inside),
    )


def _verdicts(assessed: Sequence[RowMapping]) -> dict[tuple[Verdict, Verdict], int]:
    found: dict[tuple[Verdict, Verdict], int] = {}
    for row in assessed:
        key = (Verdict(row["verdict"]), Verdict(row["rule_verdict"]))
        found[key] = found.get(key, 0) + row["n"]
    return found


def _profiles(assessed: Sequence[RowMapping]) -> tuple[ProfileUse, ...]:
    """The profiles in use, those with the most answers first."""
    found: dict[tuple[str, str, str, bool], int] = {}
    for row in assessed:
        key = (row["profile_name"], row["profile_hash"], row["embedding_model"], row["uncalibrated"])
        found[key] = found.get(key, 0) + row["n"]
    used = [
        ProfileUse(name=name, hash=hash_, embedding_model=model, uncalibrated=uncalibrated, answers=answers)
        for (name, hash_, model, uncalibrated), answers in found.items()
    ]
    return tuple(sorted(used, key=lambda use: (-use.answers, use.hash, use.embedding_model)))


def _examples(connection: Connection, query: TextClause, values: Mapping[str, Any], most: int) -> tuple[Example, ...]:
    rows = connection.execute(query, {**values, "examined": _EXAMINED, "longest": _LONGEST}).mappings()
    return distinct(
        [
            Example(
                id=row["id"],
                occurred_at=row["occurred_at"],
                verdict=Verdict(row["verdict"]),
                reasons=tuple(row["reasons"]),
                p_grounded=row["p_grounded"],
                p_refusal=row["p_refusal"],
                model=row["model"],
                topic=row["topic"],
                question=row["question"],
                answer=row["answer"],
            )
            for row in rows
        ],
        most,
    )
