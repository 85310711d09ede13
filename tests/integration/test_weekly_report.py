"""Every number of a weekly report, derived a second time from the stored rows by plain SQL and textbook formulas."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from datetime import UTC, date, datetime, timedelta
from math import comb, sqrt

import psycopg
import pytest
from sqlalchemy.engine import make_url

from monitor.app.report import Format, Reporting, chosen_week, file_name, reporting
from monitor.app.wiring.application import Application
from monitor.core.errors import Retriable, WrongSettings
from monitor.core.settings.load import load_settings
from monitor.report.weekly.content import canonical, content, digest
from monitor.report.weekly.week import Week
from monitor.store.database import connect
from monitor.store.interaction.writer import Writer
from monitor.store.privacy.erasure import Erasure, Wanted
from monitor.store.report import rows as weekly_rows
from monitor.store.report.reports import Reports, blank_reported
from monitor.store.report.weekly import Weekly
from tests.factories.answers import a_batch, an_assessment, clock
from tests.factories.weekly_traffic import APP, OTHER_APP, WEEK, assessments, batches, watch
from tests.servers.slack.blocks import shown
from tests.servers.slack.server import BROKEN, CHANNEL, HOOK_PATH, SCOPES, TOKEN
from tests.servers.slack.serving import slack_server

MONDAY_SIX = WEEK.end + timedelta(hours=6)
VERDICTS = ("grounded", "refusal", "self_generated")
Z = 1.959963984540054
ROWS = """
    SELECT i.id, i.occurred_at, i.environment, i.model, i.prompt_version, i.tags ->> 'topic' AS topic, i.question,
        i.answer, i.retrieved_documents, a.verdict, a.rule_verdict, a.reasons, a.refusal_kind, a.refusal_correct,
        a.p_grounded, a.p_refusal, a.profile_name, a.profile_hash, a.embedding_model, a.uncalibrated, a.support,
        a.evidence
    FROM interaction i JOIN assessment a ON a.app = i.app AND a.id = i.id AND a.occurred_at = i.occurred_at
    WHERE i.app = %s AND a.live AND i.occurred_at >= %s AND i.occurred_at < %s
"""


@pytest.fixture(scope="module")
def filled_template(new_database, migrated_template):
    """Name of a database with all rows, to copy."""
    url = new_database(migrated_template)
    writer = Writer(url, clock)
    for batch in batches(list(assessments())):
        writer.write(batch)
    writer.write(a_batch(*assessments(app=OTHER_APP, per_day=4, seed=9)))
    waiting = [an_assessment(id=f"late-{n}", app=APP, occurred_at=WEEK.start + n * timedelta(days=2)) for n in range(5)]
    writer.write(a_batch(pending=tuple(a.interaction for a in waiting)))
    writer.close()
    with psycopg.connect(url) as connection:
        watch(connection)
        connection.execute("UPDATE dead_letter SET received_at = %s", (WEEK.start + timedelta(days=1),))
    return str(make_url(url).database)


@pytest.fixture
def database(new_database, filled_template):
    """In place of the empty one."""
    return new_database(filled_template)


@pytest.fixture
def application(database, monkeypatch):
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_EMBEDDING__PROVIDER", "hash")
    with Application(load_settings(), now=lambda: MONDAY_SIX) as application:
        yield application


# --- textbook -----------------------------------------------------------------------------------------------------


def wilson(k, n):
    p = k / n
    middle, half = p + Z * Z / (2 * n), Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)


def share(k, n):
    if not n:
        return {"count": k, "of": n, "share": None, "lower": None, "upper": None}
    lower, upper = wilson(k, n)
    return {"count": k, "of": n, "share": k / n, "lower": lower, "upper": upper}


def at_least(k1, n1, k2, n2):
    """Fisher's P(X ≥ k1) by whole numbers."""
    bad = k1 + k2
    return sum(comb(bad, x) * comb(n1 + n2 - bad, n1 - x) for x in range(k1, min(bad, n1) + 1)) / comb(n1 + n2, n1)


def both_sides(k1, n1, k2, n2):
    one = at_least(k1, n1, k2, n2) if k1 * n2 > k2 * n1 else 1.0
    other = at_least(k2, n2, k1, n1) if k2 * n1 > k1 * n2 else 1.0
    return min(1.0, 2 * min(one, other))


def change(k1, n1, k2, n2):
    if not n1 or not n2:
        return None
    (l1, u1), (l2, u2), d = wilson(k1, n1), wilson(k2, n2), k1 / n1 - k2 / n2
    p = both_sides(k1, n1, k2, n2)
    return {
        "difference": d,
        "lower": d - sqrt((k1 / n1 - l1) ** 2 + (u2 - k2 / n2) ** 2),
        "upper": d + sqrt((u1 - k1 / n1) ** 2 + (k2 / n2 - l2) ** 2),
        "p": p,
        "clear": p < 0.05,
    }


def adjusted(p):
    """Benjamini and Hochberg by their definition."""
    ordered = sorted(p.values())
    return {
        name: min(1.0, *(its * len(p) / rank for rank, its in enumerate(ordered, start=1) if its >= value), 1.0)
        for name, value in p.items()
    }


def kappa(pairs):
    n = len(pairs)
    agreeing = sum(a == b for a, b in pairs) / n
    chance = sum(sum(a == v for a, _ in pairs) * sum(b == v for _, b in pairs) for v in VERDICTS) / n / n
    return (agreeing - chance) / (1 - chance)


# --- the rows -----------------------------------------------------------------------------------------------------


def asked(database, week, app=APP):
    with psycopg.connect(database, options="-c timezone=UTC", row_factory=psycopg.rows.dict_row) as connection:
        return connection.execute(ROWS, (app, week.start, week.end)).fetchall()


def negative(rows):
    return sum(row["verdict"] != "grounded" for row in rows)


def compared(now, before, name):
    values = {row[name] or "" for row in (*now, *before)}
    by_value = {
        v: ([r for r in now if (r[name] or "") == v], [r for r in before if (r[name] or "") == v]) for v in values
    }
    enough = {v: (a, b) for v, (a, b) in by_value.items() if min(len(a), len(b)) >= 30}
    return by_value, enough


def entries(by_value, enough):
    q = adjusted({v: both_sides(negative(a), len(a), negative(b), len(b)) for v, (a, b) in enough.items()})
    found = {
        v: {
            "value": v,
            "this": share(negative(a), len(a)),
            "before": share(negative(b), len(b)),
            "change": change(negative(a), len(a), negative(b), len(b)),
            "q": q.get(v),
        }
        for v, (a, b) in by_value.items()
    }
    return sorted(found.values(), key=lambda one: (-one["this"]["of"], -one["before"]["of"], one["value"]))


def same(found, expected, path="$"):
    """Equal but for the rounding that docs/quality/report.md states."""
    if isinstance(expected, dict):
        assert isinstance(found, dict), path
        assert sorted(found) == sorted(expected), path
        for name in expected:
            same(found[name], expected[name], f"{path}.{name}")
    elif isinstance(expected, list):
        assert isinstance(found, list), path
        assert len(found) == len(expected), path
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            same(one, other, f"{path}[{place}]")
    elif isinstance(expected, float) and not isinstance(expected, bool):
        p_value = path.endswith((".p", ".q"))
        close = pytest.approx(expected, rel=5.1e-3, abs=1e-12) if p_value else pytest.approx(expected, abs=6e-7)
        assert found == close, path
    else:
        assert found == expected, path


@pytest.fixture
def report(engine):
    return content(Weekly(engine).facts(APP, WEEK))


@pytest.fixture
def now(database):
    return asked(database, WEEK)


@pytest.fixture
def before(database):
    return asked(database, WEEK.before)


def test_verdicts_days_refusals_profiles_and_the_rule(report, now, before, database):
    assert (report["schema"], report["app"], report["week"]) == (
        "monitor/weekly-report/1",
        APP,
        {"name": "2025-W46", "start": "2025-11-10T00:00:00Z", "end": "2025-11-17T00:00:00Z"},
    )

    def sides(rows):
        counts = Counter(row["verdict"] for row in rows)
        return {"negative": negative(rows), **{verdict: counts[verdict] for verdict in VERDICTS}}

    a, b, n, m = sides(now), sides(before), len(now), len(before)
    assert min(a.values()) > 10
    rates = {s: {"this": share(a[s], n), "before": share(b[s], m), "change": change(a[s], n, b[s], m)} for s in a}
    same(report["verdicts"], {"answers": n, "answers_before": m, "rates": rates})

    days = []
    four_weeks = asked(database, WEEK) + [
        row for back in (1, 2, 3) for row in asked(database, Week(monday=WEEK.monday - back * timedelta(days=7)))
    ]
    for place in range(28):
        day = WEEK.monday + timedelta(days=place - 21)
        its = [row for row in four_weeks if row["occurred_at"].date() == day]
        shares = {side: share(k, len(its)) for side, k in sides(its).items()}
        days.append({"day": day.isoformat(), "answers": len(its), **shares})
    same(report["days"], days)

    def refused(rows, correct):
        found = [row for row in rows if row["verdict"] == "refusal"]
        return sum(row["refusal_correct"] is correct for row in found), len(found)

    expected = {"partial": share(sum(row["refusal_kind"] == "partial" for row in now), n)}
    for name, correct in (("correct", True), ("over", False), ("unknown", None)):
        k, of = refused(now, correct)
        j, earlier = refused(before, correct)
        expected[name] = {"this": share(k, of), "before": share(j, earlier), "change": change(k, of, j, earlier)}
    same(report["refusals"], expected)

    used = Counter((r["profile_name"], r["profile_hash"], r["embedding_model"], r["uncalibrated"]) for r in now)
    assert len(used) == 2
    same(
        report["profiles"],
        [
            {"name": name, "hash": hash_, "embedding_model": model, "uncalibrated": uncalibrated, "answers": k}
            for (name, hash_, model, uncalibrated), k in used.most_common()
        ],
    )
    table = {own: dict.fromkeys(VERDICTS, 0) for own in VERDICTS}
    for row in now:
        table[row["verdict"]][row["rule_verdict"]] += 1
    same(
        report["rule"],
        {
            "agrees": share(sum(table[v][v] for v in VERDICTS), n),
            "negative": share(sum(row["rule_verdict"] != "grounded" for row in now), n),
            "verdicts": table,
        },
    )


def test_groups_and_topics(report, now, before):
    for name in ("environment", "model", "prompt_version"):
        by_value, enough = compared(now, before, name)
        expected = {"compared": len(enough), "left_out": 0, "values": entries(by_value, enough)}
        same(report["groups"][name], expected, name)

    by_value, _ = compared(now, before, "topic")
    untold = by_value.pop("")
    enough = {v: both for v, both in by_value.items() if min(map(len, both)) >= 30}
    found = entries(by_value, enough)
    clear = [one for one in found if one["q"] is not None and one["q"] <= 0.05]
    worse = sorted((o for o in clear if o["change"]["difference"] > 0), key=lambda o: -o["change"]["difference"])
    better = sorted((o for o in clear if o["change"]["difference"] < 0), key=lambda o: o["change"]["difference"])
    assert ([o["value"] for o in worse], [o["value"] for o in better]) == (["refunds"], ["billing"])
    same(
        report["topics"],
        {
            "topics": 4, "compared": len(enough), "answers_without_topic": len(untold[0]), "worse": worse,
            "better": better, "largest": found,
        },
    )  # fmt: skip


def test_examples(report, now):
    def example(row):
        return {
            "id": row["id"],
            "occurred_at": row["occurred_at"].isoformat().replace("+00:00", "Z"),
            "verdict": row["verdict"],
            "reasons": row["reasons"],
            "p_grounded": round(row["p_grounded"], 4),
            "p_refusal": round(row["p_refusal"], 4),
            "model": row["model"],
            "topic": row["topic"],
            "question": row["question"],
            "answer": row["answer"].replace("+49 30 1234567", "[phone]"),
        }

    def first_of_each_question(rows, most):
        first = {}
        for row in rows:
            first.setdefault(row["question"].lower(), row)
        return [example(row) for row in [*first.values()][:most]]

    made_up = sorted(
        (row for row in now if row["verdict"] == "self_generated"),
        key=lambda row: (row["p_grounded"], row["occurred_at"], row["id"]),
    )
    over = sorted(
        (row for row in now if row["verdict"] == "refusal" and row["refusal_correct"] is False),
        key=lambda row: (-row["p_refusal"], row["occurred_at"], row["id"]),
    )
    same(report["worst"], first_of_each_question(made_up, 10))
    same(report["over_refusals"], first_of_each_question(over, 5))
    assert "+49" not in json.dumps(report)


def documents(now, whole, answers):
    retrieved, made_up, held, carried = Counter(), Counter(), Counter(), Counter()
    for row in now:
        ids = {document["id"] for document in row["retrieved_documents"]}
        pieces = row["evidence"].get("alignment")
        supporting = {p["document_id"] for p in pieces or () if p["score"] >= 0.6 and not p["contradicts"]}
        if row["support"]["origin"] != "extractive":
            supporting |= {piece["document_id"] for piece in row["support"]["documents"]}
        for id_ in ids:
            retrieved[id_] += 1
            made_up[id_] += row["verdict"] == "self_generated"
            held[id_] += pieces is not None
            carried[id_] += pieces is not None and id_ in supporting
    often = [id_ for id_ in retrieved if held[id_] >= 20]
    idle = sorted((id_ for id_ in often if not carried[id_]), key=lambda id_: (-held[id_], id_))
    looked_at = [id_ for id_ in retrieved if retrieved[id_] >= 20 and len(now) - retrieved[id_] >= 20]
    p = {
        id_: at_least(made_up[id_], retrieved[id_], whole - made_up[id_], len(now) - retrieved[id_])
        if made_up[id_] * len(now) > whole * retrieved[id_]
        else 1.0
        for id_ in looked_at
    }
    q = adjusted(p)
    clear = sorted((id_ for id_ in looked_at if q[id_] <= 0.05), key=lambda id_: (p[id_], -retrieved[id_], id_))
    suspects = []
    for id_ in clear[:10]:
        k, n = made_up[id_], retrieved[id_]
        j, m = whole - k, len(now) - n
        lift = round(k / n / (j / m), 2)
        suspects.append({"document": id_, "with_it": share(k, n), "without_it": share(j, m), "lift": lift, "q": q[id_]})
    return {
        "answers_read": len(now),
        "answers": answers,
        "least_retrievals": 20,
        "retrieved_often": len(often),
        "supporting_nothing": {
            "found": len(idle),
            "documents": [{"document": id_, "retrieved": held[id_]} for id_ in idle[:10]],
        },
        "self_generated": {"compared": len(looked_at), "found": len(clear), "documents": suspects},
    }


def test_documents(report, now):
    expected = documents(now, sum(row["verdict"] == "self_generated" for row in now), len(now))
    same(report["documents"], expected)
    assert [one["document"] for one in expected["supporting_nothing"]["documents"]] == ["kb-idle", "kb-refunds-new"]
    assert expected["self_generated"]["documents"][0]["document"] == "kb-refunds-new"


def test_a_large_week_is_sampled_evenly_and_says_so(engine, monkeypatch, now):
    monkeypatch.setattr(weekly_rows, "MOST", 100)
    one, other = (content(Weekly(engine).facts(APP, WEEK)) for _ in range(2))
    assert canonical(one) == canonical(other)
    assert one["documents"]["answers"] == len(now)
    assert 30 < one["documents"]["answers_read"] < 200
    assert one["verdicts"]["answers"] == len(now)


def test_alerts_and_silences(report, rows):
    events, fired, gone, acknowledged = defaultdict(list), {}, {}, {}
    for fingerprint, episode, at, to_state in rows(
        "SELECT fingerprint, episode, at, to_state FROM alert_event WHERE at < %s ORDER BY id", WEEK.end
    ):
        if fingerprint in {"f1", "f2"}:
            events[episode].append((at, to_state))
    active = {"firing", "no_data", "error"}
    for episode, changes in events.items():
        for at, state in changes:
            if state in active:
                fired.setdefault(episode, at)
                gone.pop(episode, None)
            elif episode in fired:
                gone[episode] = at
    query = "SELECT episode, at, by FROM alert_action WHERE at < %s ORDER BY id DESC"
    acknowledged = {episode: (at, by) for episode, at, by in rows(query, WEEK.end)}
    names = [e for e in sorted(fired, key=fired.get) if gone.get(e, WEEK.end) >= WEEK.start]
    assert names == ["e1", "e2", "e4"]

    def text(at):
        return None if at is None else at.isoformat().replace("+00:00", "Z")

    def seconds(episode, at):
        return None if at is None else int((at - fired[episode]).total_seconds())

    episodes = []
    for name in names:
        at, by = acknowledged.get(name, (None, None))
        episodes.append(
            {
                "episode": name, "rule": "lag" if name == "e4" else "negative-rate", "severity": "critical",
                "labels": {} if name == "e4" else {"app": APP}, "fired_at": text(fired[name]),
                "acknowledged_at": text(at), "acknowledged_by": by, "seconds_to_acknowledge": seconds(name, at),
                "resolved_at": text(gone.get(name)), "seconds_to_resolve": seconds(name, gone.get(name)),
            }
        )  # fmt: skip
    silences = [
        {
            "matchers": matchers, "starts_at": text(start), "ends_at": text(min(end, WEEK.end)),
            "until_after_the_week": end > WEEK.end, "by": by, "comment": comment,
        }
        for matchers, start, end, by, comment in rows(
            "SELECT matchers, starts_at, ends_at, created_by, comment FROM silence WHERE id IN ('s1', 's3') "
            "ORDER BY id DESC"
        )
    ]  # fmt: skip
    expected = {
        "fired": 2, "fired_before": 1,
        "to_acknowledge": {"count": 2, "of": 3, "median_seconds": (2400 + 540) // 2, "longest_seconds": 2400},
        "to_resolve": {"count": 2, "of": 3, "median_seconds": 4 * 3600, "longest_seconds": 5 * 3600},
        "episodes": episodes, "silences": silences,
    }  # fmt: skip
    same(report["alerts"], expected)


def test_coverage_and_the_ledger(report, rows, now):
    inside = (WEEK.start, WEEK.end)
    ((pending,),) = rows(
        "SELECT count(*) FROM interaction i WHERE app = %s AND occurred_at >= %s AND occurred_at < %s AND NOT EXISTS "
        "(SELECT FROM assessment a WHERE a.app = i.app AND a.id = i.id)",
        APP,
        *inside,
    )
    assert pending == 4
    arrived = rows(
        "SELECT source, sum(received)::int, sum(dead)::int FROM ingest_minute WHERE minute >= %s AND minute < %s "
        "GROUP BY 1 ORDER BY 1",
        *inside,
    )
    letters = rows(
        "SELECT path || ': ' || problem, count(*) FROM dead_letter WHERE received_at >= %s AND received_at < %s "
        "GROUP BY 1",
        *inside,
    )
    received, dead = sum(row[1] for row in arrived), sum(row[2] for row in arrived)
    expected = {
        "assessed": share(len(now), len(now) + pending),
        "pending": pending,
        "received": received,
        "dead": share(dead, received),
        "sources": [{"source": source, "received": n, "dead": k} for source, n, k in arrived],
        "dead_letters": [{"problem": problem, "letters": n} for problem, n in letters],
    }
    same(report["coverage"], expected)
    ((stored, open_),) = rows(
        "SELECT (SELECT count(*) FROM interaction WHERE source_topic = 'rag'), (SELECT count(*) FROM dead_letter)"
    )
    ledger = {
        "received": stored + open_ + 1, "assessed": stored, "duplicate": 1, "dead": open_, "pending": 0,
        "balanced": True, "partitions": 1, "unbalanced_partitions": 0,
        "reading": [{"source": "rag", "through": "2025-11-17T04:00:00Z", "unread": 5}],
    }  # fmt: skip
    same(report["ledger"], ledger)


def test_judgements_and_labels(report, rows, now):
    def scores(start, end):
        found = defaultdict(list)
        for metric, score in rows(
            "SELECT metric, score FROM judgement WHERE app = %s AND occurred_at >= %s AND occurred_at < %s",
            APP,
            start,
            end,
        ):
            found[metric].append(score)
        return found

    def mean(judged):
        known = [score for score in judged if score is not None]
        average = sum(known) / len(known)
        half = Z * sqrt(sum((x - average) ** 2 for x in known) / (len(known) - 1) / len(known))
        return {
            "judged": len(judged), "scored": len(known), "mean": average, "lower": average - half,
            "upper": average + half,
        }  # fmt: skip

    this, earlier = scores(WEEK.start, WEEK.end), scores(WEEK.before.start, WEEK.start)
    judged = len(this["faithfulness"])
    metrics = [
        {
            "metric": metric, "model": "gpt-test", "this": mean(this[metric]), "before": mean(earlier[metric]),
            "calls": 2 * judged, "input_tokens": 100 * judged, "output_tokens": 10 * judged, "cost": 0.0025 * judged,
        }
        for metric in ("answer_relevance", "faithfulness")
    ]  # fmt: skip
    used = rows(
        "SELECT purpose, model, sum(calls)::int, sum(input_tokens)::int, sum(output_tokens)::int, sum(cost) "
        "FROM llm_usage WHERE hour >= %s AND hour < %s GROUP BY 1, 2 ORDER BY 1",
        WEEK.start,
        WEEK.end,
    )
    names = ("purpose", "model", "calls", "input_tokens", "output_tokens", "cost")
    expected = {
        "sampled": share(judged, len(now)), "cost": 0.005 * judged, "metrics": metrics,
        "usage_of_all_apps": [dict(zip(names, row, strict=True)) for row in used],
    }  # fmt: skip
    same(report["judge"], expected)

    offered = {id_: drawn for id_, drawn, at in rows(
        "SELECT interaction_id, drawn, occurred_at FROM review_offer WHERE app = %s", APP
    ) if WEEK.start <= at < WEEK.end}  # fmt: skip
    said = defaultdict(list)
    for id_, label, by, verdict, rule, at in rows(
        "SELECT interaction_id, label, labelled_by, verdict, rule_verdict, occurred_at FROM review WHERE app = %s "
        "ORDER BY id",
        APP,
    ):
        if WEEK.start <= at < WEEK.end:
            said[id_].append((label, by, verdict, rule))
    # two people at most, so that of a tie the newer label counts
    at_random = [labels[-1] for id_, labels in said.items() if offered[id_] == "random"]
    disputed = [id_ for id_, its in said.items() if offered[id_] == "random" and len({label for label, *_ in its}) > 1]

    def agreement(pairs):
        return {**share(sum(a == b for a, b in pairs), len(pairs)), "kappa": kappa(pairs)}

    expected = {
        "reviewed": share(len(said), len(now)),
        "labels": len(at_random),
        "enough": len(at_random) >= 30,
        "least": 30,
        "verdict": agreement([(verdict, label) for label, _, verdict, _ in at_random]),
        "rule": agreement([(rule, label) for label, _, _, rule in at_random]),
        "disputed": len(disputed),
        "not_labelled": sum(drawn == "random" and id_ not in said for id_, drawn in offered.items()),
        "people": 2,
    }
    assert disputed
    same(report["agreement"], expected)


# --- stored, again, sent ------------------------------------------------------------------------------------------


def its(application, **settings) -> Reporting:
    known = reporting(application)
    chosen = known.settings.model_copy(update=settings)
    return Reporting(
        settings=chosen, weekly=known.weekly, reports=known.reports, slack=known.slack, link=known.link, now=known.now
    )


def test_a_report_is_stored_once_and_shown_as_it_was_stored(application, writer, engine):
    reporting = its(application)
    first = reporting.written(APP, WEEK)
    assert (first.differs, first.made_at) == (None, MONDAY_SIX)
    late = an_assessment(id="late", app=APP, occurred_at=WEEK.end - timedelta(seconds=1))
    writer.write(a_batch(late))
    stored = reporting.written(APP, WEEK)
    assert stored.digest == first.digest
    assert Reports(engine).get(APP, WEEK.start).intact
    for form in Format:
        assert reporting.rendered(stored, form) == reporting.rendered(first, form)
    again = reporting.written(APP, WEEK, again=True)
    assert {"verdicts", "days", "groups"} <= set(again.differs)
    assert "judge" in again.differs  # of which the share that was sampled changed
    assert "alerts" not in again.differs
    assert reporting.written(APP, WEEK, again=True).differs == ()
    assert reporting.written(APP, WEEK).digest == again.digest != first.digest


def test_a_week_that_is_not_over_is_not_stored(application, engine):
    running = Week(monday=WEEK.monday + timedelta(days=7))
    shown_only = its(application).written(APP, running)
    assert shown_only.made_at is None
    assert shown_only.content["verdicts"]["answers"] == 0
    assert Reports(engine).listed() == []
    with pytest.raises(WrongSettings, match="'nobody' has no answers"):
        its(application).written("nobody", WEEK)


def test_what_is_due_is_written_once_by_one_replica_and_made_up_for(application, engine):
    reporting = its(application)
    with Reports(engine).reporting() as ours:
        assert ours
        assert reporting.turn(MONDAY_SIX) == 0  # another one is at it
    assert reporting.turn(MONDAY_SIX + timedelta(days=3)) == 2
    assert reporting.turn(MONDAY_SIX + timedelta(days=4)) == 0
    found = [(one.app, one.start, one.sent_at) for one in Reports(engine).listed()]
    assert found == [(OTHER_APP, WEEK.start, None), (APP, WEEK.start, None)]
    assert its(application, apps=("nobody", APP)).turn(MONDAY_SIX) == 0
    assert [one.app for one in Reports(engine).listed(app=APP)] == [APP]


def test_erased_answers_are_taken_out_of_stored_reports(application, engine):
    first = its(application).written(APP, WEEK)
    gone = first.content["worst"][0]["id"]
    with engine.begin() as connection:
        assert blank_reported(connection, APP, {gone}) == 1
        assert blank_reported(connection, APP, {gone}) == 0
        assert blank_reported(connection, OTHER_APP, {gone}) == 0
    left = Reports(engine).get(APP, WEEK.start)
    assert left.intact
    assert left.digest != first.digest
    assert left.content["worst"][0] == {**first.content["worst"][0], "question": "", "answer": ""}
    assert left.content["worst"][1:] == first.content["worst"][1:]
    for form in Format:
        assert its(application).rendered(its(application).written(APP, WEEK), form)


def test_what_was_erased_while_a_report_was_made_is_not_stored_in_it(engine):
    read = content(facts_of(engine))
    gone = read["worst"][0]
    erase(engine, gone["id"])
    kept = Reports(engine).keep(read, app=APP, start=WEEK.start, end=WEEK.end, now=MONDAY_SIX)
    assert kept["worst"][0] == {**gone, "question": "", "answer": ""}
    stored = Reports(engine).get(APP, WEEK.start)
    assert stored.intact
    assert stored.content == kept
    assert gone["question"] not in json.dumps(stored.content, ensure_ascii=False)


def test_erased_answers_are_no_examples(engine):
    gone = facts_of(engine).worst[0]
    erase(engine, gone.id)
    after = facts_of(engine)
    assert gone.id not in {one.id for one in after.worst}
    assert all(one.question for one in (*after.worst, *after.over_refusals))
    assert len(after.worst) == 10


def facts_of(engine):
    return Weekly(engine).facts(APP, WEEK)


def erase(engine, id_):
    erasure = Erasure(engine)
    erasure.erase(APP, erasure.find(Wanted(app=APP, ids=(id_,))), by="eve", reason_given=False, now=MONDAY_SIX)


@pytest.fixture
def slack(monkeypatch):
    with slack_server() as server:
        monkeypatch.setenv("MONITOR_SLACK__BOT_TOKEN", TOKEN)
        monkeypatch.setenv("MONITOR_SLACK__CHANNEL", CHANNEL)
        monkeypatch.setenv("MONITOR_SLACK__API_URL", server.url)
        yield server


def test_slack_gets_a_summary_once_with_the_page_in_its_thread(slack, application):
    reporting = its(application, slack=True, apps=(APP,))
    slack.script.append(BROKEN)
    assert reporting.turn(MONDAY_SIX) == 0  # Slack's trouble: written, and sent in a later round
    assert reporting.turn(MONDAY_SIX) == 0
    assert reporting.turn(MONDAY_SIX) == 0
    (message,) = slack.roots()
    said = shown(message.payload)
    assert "Weekly report: support-bot, 2025-W46" in said
    assert "Worse: refunds" in said
    (upload,) = slack.called("files.completeUploadExternal")
    assert (upload["channel_id"], upload["thread_ts"]) == (CHANNEL, message.ts)
    (page,) = slack.files.values()
    written = reporting.written(APP, WEEK)
    assert page == reporting.rendered(written, Format.HTML)
    assert slack.called("files.getUploadURLExternal")[0]["filename"] == "support-bot-2025-W46.html"
    assert written.sent_at == MONDAY_SIX


def test_a_file_that_slack_does_not_take_leaves_the_message(slack, application, caplog):
    slack.scopes[TOKEN] = SCOPES[TOKEN] - {"files:write"}
    reporting = its(application)
    reporting.send(reporting.written(APP, WEEK))
    assert len(slack.roots()) == 1
    assert "files:write" in caplog.text
    slack.script.append(BROKEN)
    with pytest.raises(Retriable):
        reporting.send(reporting.written(APP, WEEK))


def test_a_webhook_gets_the_summary_alone(application, monkeypatch):
    with slack_server() as server:
        monkeypatch.setenv("MONITOR_SLACK__WEBHOOK_URL", server.hook)
        with Application(load_settings(), now=lambda: MONDAY_SIX) as hooked:
            reporting = its(hooked)
            reporting.send(reporting.written(APP, WEEK))
        assert [path for path, _ in server.requests] == [HOOK_PATH]
    with pytest.raises(WrongSettings, match="Slack is not set up"):
        its(application).send(its(application).written(APP, WEEK))


def test_the_week_is_chosen_by_name_or_by_its_last_day():
    now = datetime(2025, 11, 19, tzinfo=UTC)
    assert chosen_week(now, name=None, ending=None) == WEEK
    assert chosen_week(now, name="2025-W46", ending=None) == WEEK
    assert chosen_week(now, name=None, ending=WEEK.end.date() - timedelta(days=1)) == WEEK
    for wrong, message in (
        ({"name": "2025-W46", "ending": WEEK.monday}, "either"),
        ({"name": "2025-46", "ending": None}, "write it as"),
        ({"name": "2025-W53", "ending": None}, "no such week"),
        ({"name": "2025-W48", "ending": None}, "has not begun"),
        ({"name": None, "ending": WEEK.monday}, "try 2025-11-16"),
        ({"name": None, "ending": date.min}, "no answer is of that week"),
        ({"name": None, "ending": date.max}, "has not begun"),
    ):
        with pytest.raises(WrongSettings, match=message):
            chosen_week(now, **wrong)


def test_a_file_is_named_by_app_and_week(application):
    written = its(application).written(APP, WEEK)
    assert file_name(written) == "support-bot-2025-W46"
    assert digest(written.content) == written.digest
    assert re.fullmatch("[0-9a-f]{64}", written.digest)


def test_a_database_that_is_away_is_retriable():
    away = connect("postgresql://monitor@127.0.0.1:1/none")
    with pytest.raises(Retriable):
        Weekly(away).apps(WEEK)
    away.dispose()
