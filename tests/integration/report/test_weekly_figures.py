"""Verdicts, groups, examples and documents of a weekly report, derived again by plain SQL and textbook formulas."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from math import ceil, comb, sqrt

import numpy as np
import pytest

from monitor.core.diagnosis import Diagnosis
from monitor.core.errors import Retriable, WrongSettings
from monitor.report.weekly.content import canonical, content
from monitor.report.weekly.week import Week
from monitor.store.report import questions as weekly_questions
from monitor.store.report import rows as weekly_rows
from monitor.store.report.cells import hourly, sampled_days
from monitor.store.report.weekly import WeeklyFacts
from tests.factories.report.weekly_traffic import APP, SUBJECTS, WEEK
from tests.rig.store.weekly_textbook import VERDICTS, asked, same, share, wilson

OPPOSITE = {"worse": "better", "better": "worse", "higher": "lower"}


def at_least(k1, n1, k2, n2):
    """Fisher's P(X ≥ k1) by whole numbers."""
    bad = k1 + k2
    return sum(comb(bad, x) * comb(n1 + n2 - bad, n1 - x) for x in range(k1, min(bad, n1) + 1)) / comb(n1 + n2, n1)


def both_sides(k1, n1, k2, n2):
    one = at_least(k1, n1, k2, n2) if k1 * n2 > k2 * n1 else 1.0
    other = at_least(k2, n2, k1, n1) if k2 * n1 > k1 * n2 else 1.0
    return min(1.0, 2 * min(one, other))


def change(k1, n1, k2, n2, more="worse"):
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
        "verdict": "no clear change" if p >= 0.05 else more if d > 0 else OPPOSITE[more],
    }


def limits(rows):
    """The match of documents and question below which one in twenty answered questions lies, and seven in ten above."""
    answered = sorted(row["qrd"] for row in rows if row["verdict"] == "grounded" and row["qrd"] is not None)
    assert len(answered) >= 200
    return len(answered), *(answered[ceil(part * len(answered)) - 1] for part in (0.05, 0.3))


def told(row, right_below, over_from):
    """Whether a refusal was right."""
    if row["qrd"] is None:
        return True if "no_documents" in row["reasons"] else None
    return True if row["qrd"] < right_below else False if row["qrd"] >= over_from else None


def adjusted(p):
    """Benjamini and Hochberg by their definition."""
    ordered = sorted(p.values())
    return {
        name: min(1.0, *(its * len(p) / rank for rank, its in enumerate(ordered, start=1) if its >= value), 1.0)
        for name, value in p.items()
    }


MORE = {"grounded": "better", "correct": "better", "over": "worse", "unknown": "higher"}


def weeks_until(database, week):
    """The rows of the four weeks of the trend."""
    return asked(database, week) + [
        row for back in (1, 2, 3) for row in asked(database, Week(monday=week.monday - back * timedelta(days=7)))
    ]


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
    rates = {
        s: {"this": share(a[s], n), "before": share(b[s], m), "change": change(a[s], n, b[s], m, MORE.get(s, "worse"))}
        for s in a
    }
    same(report["verdicts"], {"answers": n, "answers_before": m, "days": 7, "days_before": 7, "rates": rates})

    days = []
    four_weeks = weeks_until(database, WEEK)
    for place in range(28):
        day = WEEK.monday + timedelta(days=place - 21)
        its = [row for row in four_weeks if row["occurred_at"].date() == day]
        shares = {side: share(k, len(its)) for side, k in sides(its).items()}
        days.append({"day": day.isoformat(), "answers": len(its), **shares})
    same(report["days"], days)

    answered, *limit = limits(four_weeks)

    def refused(rows, correct):
        found = [row for row in rows if row["verdict"] == "refusal"]
        return sum(told(row, *limit) is correct for row in found), len(found)

    partial = share(sum(row["refusal_kind"] == "partial" for row in now), n)
    expected = {"partial": partial, "answered_to_compare": answered}
    for name, correct in (("correct", True), ("over", False), ("unknown", None)):
        k, of = refused(now, correct)
        j, earlier = refused(before, correct)
        expected[name] = {
            "this": share(k, of),
            "before": share(j, earlier),
            "change": change(k, of, j, earlier, MORE[name]),
        }
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
            "topics": 4,
            "compared": len(enough),
            "answers_without_topic": len(untold[0]),
            "worse": worse,
            "better": better,
            "largest": found,
        },
    )


def test_examples(report, now, database):
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

    _, *limit = limits(weeks_until(database, WEEK))
    made_up = sorted(
        (row for row in now if row["verdict"] == "self_generated"),
        key=lambda row: (row["p_grounded"], row["occurred_at"], row["id"]),
    )
    over = sorted(
        (row for row in now if row["verdict"] == "refusal" and told(row, *limit) is False),
        key=lambda row: (-row["qrd"], row["occurred_at"], row["id"]),
    )
    same(report["worst"], first_of_each_question(made_up, 10))
    same(report["over_refusals"], first_of_each_question(over, 5))
    assert "+49" not in json.dumps(report)


def documents(now, whole, answers):
    retrieved, made_up, held, carried = Counter(), Counter(), Counter(), Counter()
    for row in now:
        ids = {document["id"] for document in row["retrieved_documents"]}
        pieces = row["evidence"].get("alignment")
        chunks = row["evidence"].get("retrieval", {}).get("chunks", [])
        supporting = {p["document_id"] for p in pieces or () if p["score"] >= 0.6 and not p["contradicts"]}
        supporting |= {row["retrieved_documents"][chunk["document"]]["id"] for chunk in chunks if chunk.get("used")}
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


def diagnoses(rows):
    known = [row for row in rows if row["diagnosis"] is not None]
    return Counter(row["diagnosis"] for row in known), len(known)


def test_diagnoses(report, now, before):
    (this, n), (earlier, m) = diagnoses(now), diagnoses(before)
    assert 0 < n < len(now)
    rates = {
        name: {
            "this": share(this[name], n),
            "before": share(earlier[name], m),
            "change": change(this[name], n, earlier[name], m, "better" if name == "healthy" else "worse"),
        }
        for name in map(str, Diagnosis)
    }
    same(report["diagnoses"], {"diagnosed": n, "before": m, "days": 7, "days_before": 7, "rates": rates})
    assert rates["retrieval_missed"]["change"]["verdict"] == "worse"


def missed_questions(now):
    """By question, without regard to letter case: its answers without a document."""
    found = {}
    for row in now:
        if row["diagnosis"] == "retrieval_missed":
            found.setdefault(row["question"].lower(), []).append(row)
    return found


def test_questions_without_a_document_word_for_word(report, now):
    known = [row for row in now if row["diagnosis"] is not None]
    missed = missed_questions(now)
    found = report["lacking"]
    same(found["missed"], share(sum(map(len, missed.values())), len(known)))
    assert (found["answers_read"], found["answers"]) == (len(known), len(now))
    assert found["questions"] == found["questions_grouped"] == found["found"] == len(missed)
    assert found["by_meaning"] is False  # no embedder was given
    most = sorted(missed.items(), key=lambda one: (-len(one[1]), one[1][-1]["question"]))[:10]
    for group, (question, its) in zip(found["groups"], most, strict=True):
        assert group["question"].lower() == question
        assert group["id"] == max(its, key=lambda row: row["occurred_at"])["id"]
        verdicts = Counter(row["verdict"] for row in its)
        assert (group["refusal"], group["self_generated"]) == (verdicts["refusal"], verdicts["self_generated"])
        assert (group["missed"]["count"], group["questions"], group["q"]) == (len(its), 1, None)
        assert group["days"] == len({row["occurred_at"].date() for row in its})


def test_questions_are_grouped_by_meaning(engine, now):
    subjects = sorted(SUBJECTS.values())

    def embed(texts):
        return np.array([[subject in text for subject in subjects] for text in texts], np.float32)

    facts = WeeklyFacts(engine, embed).facts(APP, WEEK)
    missed = missed_questions(now)
    expected = Counter(next(s for s in subjects if s in question) for question in missed for _ in missed[question])
    groups = facts.lacking.groups
    assert facts.lacking.by_meaning
    assert {next(s for s in subjects if s in group.typical.text): group.missed for group in groups} == expected
    assert sum(group.questions for group in groups) == len(missed)
    assert content(facts) == content(WeeklyFacts(engine, embed).facts(APP, WEEK))


@pytest.mark.parametrize("error", [Retriable("away"), WrongSettings("no key")])
def test_a_report_does_not_wait_for_an_embedder(engine, error):
    def embed(_texts):
        raise error

    found = WeeklyFacts(engine, embed).facts(APP, WEEK).lacking
    assert not found.by_meaning
    assert found.groups


def test_a_large_week_is_sampled_evenly_and_says_so(engine, monkeypatch, now):
    monkeypatch.setattr(weekly_rows, "MOST", 100)
    monkeypatch.setattr(weekly_rows, "RETRIEVED", 100)
    monkeypatch.setattr(weekly_questions, "RETRIEVED", 100)
    one, other = (content(WeeklyFacts(engine).facts(APP, WEEK)) for _ in range(2))
    assert canonical(one) == canonical(other)
    assert one["documents"]["answers"] == one["lacking"]["answers"] == len(now)
    assert 30 < one["documents"]["answers_read"] < 200
    assert 30 < one["lacking"]["answers_read"] < 200
    assert one["verdicts"]["answers"] == len(now)


def test_findings_are_looked_for_in_counts_that_agree_with_the_rows(engine, report, database):
    four_weeks = weeks_until(database, WEEK)
    with engine.connect() as connection:
        hours = hourly(connection, APP, WEEK)
        days = sampled_days(connection, APP, WEEK, total=len(four_weeks))
    negatives = sum(row["verdict"] != "grounded" for row in four_weeks)
    for cells in (hours, days):
        assert (cells.total.sum(), cells.counts["negative"].sum()) == (len(four_weeks), negatives)
    versions = Counter(row["prompt_version"] or "" for row in four_weeks)
    places = days.labels["prompt_version"]
    assert {v: days.total[places == n].sum() for n, v in enumerate(days.values["prompt_version"])} == versions
    found = [(item["kind"], item["label"], item["value"]) for item in report["findings"]["items"]]
    assert ("rise", "topic", "refunds") in found
