"""Alerts, coverage, judgements and labels of a weekly report, derived a second time from the stored rows."""

from __future__ import annotations

from collections import defaultdict
from math import sqrt

from tests.factories.report.weekly_traffic import APP, WEEK
from tests.rig.store.weekly_textbook import VERDICTS, Z, same, share


def kappa(pairs):
    n = len(pairs)
    agreeing = sum(a == b for a, b in pairs) / n
    chance = sum(sum(a == v for a, _ in pairs) * sum(b == v for _, b in pairs) for v in VERDICTS) / n / n
    return (agreeing - chance) / (1 - chance)


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
                "episode": name,
                "rule": "lag" if name == "e4" else "negative-rate",
                "severity": "critical",
                "labels": {} if name == "e4" else {"app": APP},
                "fired_at": text(fired[name]),
                "acknowledged_at": text(at),
                "acknowledged_by": by,
                "seconds_to_acknowledge": seconds(name, at),
                "resolved_at": text(gone.get(name)),
                "seconds_to_resolve": seconds(name, gone.get(name)),
            }
        )
    silences = [
        {
            "matchers": matchers,
            "starts_at": text(start),
            "ends_at": text(min(end, WEEK.end)),
            "until_after_the_week": end > WEEK.end,
            "by": by,
            "comment": comment,
        }
        for matchers, start, end, by, comment in rows(
            "SELECT matchers, starts_at, ends_at, created_by, comment FROM silence WHERE id IN ('s1', 's3') "
            "ORDER BY id DESC"
        )
    ]
    expected = {
        "watched_days": 3,
        "fired": 2,
        "fired_before": 1,
        "to_acknowledge": {"count": 2, "of": 3, "median_seconds": (2400 + 540) // 2, "longest_seconds": 2400},
        "to_resolve": {"count": 2, "of": 3, "median_seconds": 4 * 3600, "longest_seconds": 5 * 3600},
        "episodes": episodes,
        "silences": silences,
    }
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
        "SELECT CASE path WHEN '$' THEN 'the message ' || problem ELSE path || ': ' || problem END, count(*) "
        "FROM dead_letter WHERE received_at >= %s AND received_at < %s "
        "GROUP BY 1",
        *inside,
    )
    received, dead = sum(row[1] for row in arrived), sum(row[2] for row in arrived)
    expected = {
        "assessed": share(len(now), len(now) + pending),
        "pending": pending,
        "unscored": [],
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
        "received": stored + open_ + 1,
        "assessed": stored,
        "duplicate": 1,
        "dead": open_,
        "pending": 0,
        "unscored": 0,
        "balanced": True,
        "read_once": [{"source": "other", "received": 50, "dead": 2}],
        "partitions": 1,
        "unbalanced_partitions": 0,
        "reading": [{"source": "rag", "through": "2025-11-17T04:00:00Z", "unread": 5}],
    }
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
            "judged": len(judged),
            "scored": len(known),
            "mean": average,
            "lower": average - half,
            "upper": average + half,
        }

    this, earlier = scores(WEEK.start, WEEK.end), scores(WEEK.before.start, WEEK.start)
    judged = len(this["faithfulness"])
    metrics = [
        {
            "metric": metric,
            "model": "gpt-test",
            "this": mean(this[metric]),
            "before": mean(earlier[metric]),
            "calls": 2 * judged,
            "input_tokens": 100 * judged,
            "output_tokens": 10 * judged,
            "cost": 0.0025 * judged,
        }
        for metric in ("answer_relevance", "faithfulness")
    ]
    used = rows(
        "SELECT purpose, model, sum(calls)::int, sum(input_tokens)::int, sum(output_tokens)::int, sum(cost) "
        "FROM llm_usage WHERE hour >= %s AND hour < %s GROUP BY 1, 2 ORDER BY 1",
        WEEK.start,
        WEEK.end,
    )
    names = ("purpose", "model", "calls", "input_tokens", "output_tokens", "cost")
    expected = {
        "sampled": share(judged, len(now)),
        "cost": 0.005 * judged,
        "metrics": metrics,
        "usage_of_all_apps": [dict(zip(names, row, strict=True)) for row in used],
    }
    same(report["judge"], expected)

    offered = {
        id_: drawn
        for id_, drawn, at in rows("SELECT interaction_id, drawn, occurred_at FROM review_offer WHERE app = %s", APP)
        if WEEK.start <= at < WEEK.end
    }
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
