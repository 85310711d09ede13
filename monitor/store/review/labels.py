"""Stores labels of interactions and the offers to label, and reads candidates and opinions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, RowMapping, func, insert, select, text
from sqlalchemy.dialects import postgresql

from monitor.core.model import Interaction, Probabilities, Verdict
from monitor.review.draw import Candidate, Offer
from monitor.review.label import Drawn, Label, Opinion, Standing
from monitor.store.audit_queue import Act, Kind, queue_act
from monitor.store.database import bounded, retriable
from monitor.store.interaction.rows import interaction_of
from monitor.store.tables.review import review, review_offer

CANDIDATES = 2_000  # besides labelled ones; among this many there are enough worth a label
CHANCE_KEY = 7_305_201  # of the hash behind the random order: not the key of the judge's or any other sample
# Reads only apps and ids of the span, by an index of its months; then looks up each of the few rows that it keeps by
# itself (hence LATERAL: a plain join may read all assessments ever stored).
_CANDIDATES = """
    WITH pool AS MATERIALIZED (
        SELECT i.app, i.id, i.occurred_at,
            hashtextextended(i.id, hashtextextended(i.app, CAST(:key AS bigint))) AS place
        FROM interaction i
        WHERE i.occurred_at >= :since AND i.occurred_at <= :until {conditions}
        ORDER BY place, i.app, i.id
        LIMIT :most + (SELECT count(*) FROM review WHERE occurred_at >= :since AND occurred_at <= :until)
    )
    SELECT p.app, p.id, p.occurred_at, a.verdict, a.rule_verdict, a.p_grounded, a.p_refusal, a.p_self_generated, a.rank,
        a.refusal_kind <> 'full' AND NOT a.reasons && '{{no_documents,no_support,empty_answer}}' AS usable,
        (SELECT j.score FROM judgement j
            WHERE j.app = p.app AND j.id = p.id AND j.metric = 'faithfulness' AND j.occurred_at = p.occurred_at
            ORDER BY j.judged_at DESC LIMIT 1) AS faithfulness,
        ARRAY(SELECT r.labelled_by FROM review r WHERE r.app = p.app AND r.interaction_id = p.id) AS people,
        coalesce(
            (SELECT o.drawn FROM review_offer o
                WHERE o.app = p.app AND o.interaction_id = p.id AND o.drawn = 'random'),
            (SELECT r.drawn FROM review r WHERE r.app = p.app AND r.interaction_id = p.id ORDER BY r.id DESC LIMIT 1)
        ) AS drawn
    FROM pool p
    JOIN LATERAL (
        SELECT * FROM assessment WHERE app = p.app AND id = p.id AND occurred_at = p.occurred_at AND live LIMIT 1
    ) a ON true
    ORDER BY p.place, p.app, p.id
"""
_OF_APP = "AND i.app = :app"
_LABELLED = "AND EXISTS (SELECT FROM review r WHERE r.app = i.app AND r.interaction_id = i.id)"
_STANDING = text("""
    SELECT i.app, i.id, i.occurred_at, a.verdict, a.rule_verdict, a.p_grounded, a.p_refusal, a.p_self_generated,
        a.profile_hash,
        (SELECT o.drawn FROM review_offer o WHERE o.app = i.app AND o.interaction_id = i.id
            ORDER BY o.drawn = 'random' DESC, o.offered_at DESC LIMIT 1) AS drawn
    FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[])) AS wanted (app, id)
    JOIN interaction i ON i.app = wanted.app AND i.id = wanted.id
    LEFT JOIN assessment a ON a.app = i.app AND a.id = i.id AND a.occurred_at = i.occurred_at AND a.live
""")
_LABELS_OF = text("""
    SELECT r.app, r.interaction_id, r.labelled_by, r.label, r.note
    FROM review r JOIN unnest(CAST(:apps AS text[]), CAST(:ids AS text[])) AS wanted (app, id)
        ON r.app = wanted.app AND r.interaction_id = wanted.id
    ORDER BY r.id
""")
_OPINIONS = """
    SELECT DISTINCT ON (r.app, r.interaction_id, r.labelled_by)
        r.app, r.interaction_id, r.occurred_at, r.label, r.labelled_by, r.labelled_at, r.id AS number,
        r.verdict, r.rule_verdict,
        CASE WHEN EXISTS (
            SELECT FROM review_offer o
            WHERE o.app = r.app AND o.interaction_id = r.interaction_id AND o.drawn = 'random'
        ) THEN 'random' ELSE r.drawn END AS drawn
    FROM review r WHERE {condition}
    ORDER BY r.app, r.interaction_id, r.labelled_by, r.id DESC
"""
_INTERACTIONS = text("""
    SELECT i.* FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[]), CAST(:times AS timestamptz[]))
        AS wanted (app, id, occurred_at)
    JOIN interaction i ON i.app = wanted.app AND i.id = wanted.id AND i.occurred_at = wanted.occurred_at
""")
_PAGE = 200
_AT_ONCE = 100  # labels that people may be storing at the same moment
_VERDICTS = {verdict.value: verdict for verdict in Verdict}  # several times as fast as `Verdict(value)`
_r = review.c


class Reviews:
    """Labels and offers in the database; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def candidates(
        self, since: datetime, until: datetime, *, app: str | None = None, labelled_only: bool = False
    ) -> list[Candidate]:
        """A simple random sample of the assessed interactions of [since, until], in random order.

        The order is that of a keyed hash of app and id: the same for every process and independent of all else, so that
        each beginning of the list is a simple random sample too. Besides labelled interactions there are up to
        `CANDIDATES` others; with `labelled_only` there are none.
        """
        conditions = " ".join([_OF_APP] * (app is not None) + [_LABELLED] * labelled_only)
        values: dict[str, object] = {"key": CHANCE_KEY, "since": since, "until": until, "most": CANDIDATES}
        if app is not None:
            values["app"] = app
        with bounded(self._engine) as connection:
            rows = connection.execute(text(_CANDIDATES.format(conditions=conditions)), values).mappings()
            return [candidate_of(row) for row in rows]

    def newest_label(self) -> int:
        """The number of the newest label; 0 without labels."""
        with retriable(), self._engine.connect() as connection:
            return connection.scalar(select(func.max(_r.id))) or 0

    def labelled_since(self, number: int) -> dict[tuple[str, str], set[str]]:
        """Who has labelled what (apps with ids) since the label of that number was the newest, and shortly before.

        A label may be stored a moment after one with a higher number.
        """
        people: dict[tuple[str, str], set[str]] = {}
        query = select(_r.app, _r.interaction_id, _r.labelled_by).where(_r.id > number - _AT_ONCE)
        with retriable(), self._engine.connect() as connection:
            for app, interaction_id, by in connection.execute(query):
                people.setdefault((app, interaction_id), set()).add(by)
        return people

    def save_offer(self, offer: Offer, *, to: str, now: datetime) -> None:
        """Stores that an offer was made; offers for a second opinion are not stored."""
        drawn = [(offer.candidate, offer.drawn), *((candidate, Drawn.RANDOM) for candidate in offer.passed)]
        rows = [
            {
                "app": c.app,
                "interaction_id": c.id,
                "drawn": reason,
                "occurred_at": c.occurred_at,
                "offered_to": to,
                "offered_at": now,
            }
            for c, reason in drawn
        ]
        with retriable(), self._engine.begin() as connection:
            connection.execute(postgresql.insert(review_offer).on_conflict_do_nothing(), rows)

    def standing(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Standing | None]:
        """The stored interactions of `wanted` (apps with ids); None for those without an assessment yet."""
        with retriable(), self._engine.connect() as connection:
            rows = connection.execute(_STANDING, _named(wanted)).mappings()
            return {(row["app"], row["id"]): _standing(row) for row in rows}

    def keep(self, labels: Sequence[Label], now: datetime) -> int:
        """Stores labels in one transaction, in this order, each as a new row; returns how many.

        A label that repeats the person's previous one, note included, is left out.
        """
        wanted = [(label.standing.app, label.standing.id) for label in labels]
        with retriable(), self._engine.begin() as connection:
            earlier = connection.execute(_LABELS_OF, _named(wanted))
            known = {(r.app, r.interaction_id, r.labelled_by): (r.label, r.note) for r in earlier}
            rows = []
            for label in labels:
                key, content = (label.standing.app, label.standing.id, label.by), (label.label, label.note)
                if known.get(key) != content:
                    known[key] = content
                    rows.append(_row(label, now))
            if rows:
                new = insert(review).returning(review.c.id, sort_by_parameter_order=True)
                for number, row in zip(connection.scalars(new, rows), rows, strict=True):
                    queue_act(connection, label_act({**row, "id": number}))
        return len(rows)

    def opinions(self, *, app: str | None = None, since: datetime | None = None) -> list[Opinion]:
        """The newest label of every person for every interaction, of the app and from `since` on if given."""
        wanted = {"r.app = :app": app, "r.occurred_at >= :since": since}
        condition = " AND ".join([sql for sql, value in wanted.items() if value is not None]) or "true"
        values = {name: value for name, value in {"app": app, "since": since}.items() if value is not None}
        with retriable(), self._engine.connect() as connection:
            rows = connection.execute(text(_OPINIONS.format(condition=condition)), values).mappings()
            return [opinion_of(row) for row in rows]

    def unlabelled(self, *, app: str | None = None, since: datetime) -> list[datetime]:
        """When the unlabelled interactions of the random sample occurred."""
        o, r = review_offer.c, review.c
        labelled = select(r.id).where(r.app == o.app, r.interaction_id == o.interaction_id).exists()
        query = select(o.occurred_at).where(o.drawn == Drawn.RANDOM, o.occurred_at >= since, ~labelled)
        if app is not None:
            query = query.where(o.app == app)
        with retriable(), self._engine.connect() as connection:
            return list(connection.scalars(query))

    def interactions(self, opinions: Sequence[Opinion]) -> Iterator[tuple[Opinion, Interaction | None]]:
        """Each opinion with its interaction, read a page at a time; None where it is no longer stored."""
        for first in range(0, len(opinions), _PAGE):
            page = opinions[first : first + _PAGE]
            values = {
                "apps": [opinion.app for opinion in page],
                "ids": [opinion.id for opinion in page],
                "times": [opinion.occurred_at for opinion in page],
            }
            with retriable(), self._engine.connect() as connection:
                rows = connection.execute(_INTERACTIONS, values).mappings()
                found = {(row["app"], row["id"]): interaction_of(dict(row)) for row in rows}
            yield from ((opinion, found.get((opinion.app, opinion.id))) for opinion in page)


def label_act(row: Mapping[str, Any]) -> Act:
    """The act to seal for a row of `review`, without the note, which is free text."""
    fields = {name: row[name] for name in ("label", "drawn", "verdict", "rule_verdict", "profile_hash")}
    return Act(
        kind=Kind.LABEL,
        by=row["labelled_by"],
        at=row["labelled_at"],
        app=row["app"],
        subject=row["interaction_id"],
        body={"number": row["id"], **fields},
    )


def _named(wanted: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    return {"apps": [app for app, _ in wanted], "ids": [id_ for _, id_ in wanted]}


def _row(label: Label, now: datetime) -> dict[str, object]:
    stood, p = label.standing, label.standing.probabilities
    return {
        "app": stood.app,
        "interaction_id": stood.id,
        "occurred_at": stood.occurred_at,
        "label": label.label,
        "labelled_by": label.by,
        "labelled_at": now,
        "note": label.note,
        "drawn": stood.drawn,
        "verdict": stood.verdict,
        "rule_verdict": stood.rule_verdict,
        "profile_hash": stood.profile_hash,
        "p_grounded": p.grounded,
        "p_refusal": p.refusal,
        "p_self_generated": p.self_generated,
    }


def candidate_of(row: RowMapping) -> Candidate:
    """The candidate of a row with the columns of an assessment; who labelled it and why may be missing."""
    people = frozenset(row.get("people") or ())
    return Candidate(
        app=row["app"],
        id=row["id"],
        occurred_at=row["occurred_at"],
        verdict=Verdict(row["verdict"]),
        rule_verdict=Verdict(row["rule_verdict"]),
        probabilities=_probabilities(row),
        rank=row.get("rank"),
        usable=row.get("usable", True),
        faithfulness=row.get("faithfulness"),
        people=people,
        drawn=Drawn(row["drawn"]) if people else None,
    )


def _standing(row: RowMapping) -> Standing | None:
    if row["verdict"] is None:
        return None
    return Standing(
        app=row["app"],
        id=row["id"],
        occurred_at=row["occurred_at"],
        verdict=Verdict(row["verdict"]),
        rule_verdict=Verdict(row["rule_verdict"]),
        probabilities=_probabilities(row),
        profile_hash=row["profile_hash"],
        drawn=Drawn(row["drawn"] or Drawn.CHOSEN),
    )


def opinion_of(row: RowMapping) -> Opinion:
    return Opinion(
        app=row["app"],
        id=row["interaction_id"],
        occurred_at=row["occurred_at"],
        label=_VERDICTS[row["label"]],
        by=row["labelled_by"],
        at=row["labelled_at"],
        number=row["number"],
        drawn=Drawn(row["drawn"]),
        verdict=_VERDICTS[row["verdict"]],
        rule_verdict=_VERDICTS[row["rule_verdict"]],
    )


def _probabilities(row: RowMapping) -> Probabilities:
    return Probabilities(grounded=row["p_grounded"], refusal=row["p_refusal"], self_generated=row["p_self_generated"])
