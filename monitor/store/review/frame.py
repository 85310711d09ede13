"""Draws the answers of a plan within the database: the frame stays there, however large it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, text

from monitor.assess.judge.word import SUPPORTED, UNSUPPORTED
from monitor.review.rates import judged, strata
from monitor.review.rates.plan import Draw, Item, Part, PlanRequest, turns, way
from monitor.store.tables.interactions import SCORE_BEFORE_JUDGE

# An answer's place is a hash of seed, app and id: nobody who made the answers could foresee it, and anyone who has the
# frame can draw again. The judge's random sample is that of `monitor.assess.judge.sampling.chance`.
_FRAME = r"""
    CREATE TEMP TABLE frame ON COMMIT DROP AS
    SELECT a.id, a.occurred_at, {score} AS score,
        sha256(convert_to(:seed || chr(10) || a.app || chr(10) || a.id, 'UTF8')) AS place,
        CASE WHEN sha256(convert_to(a.app, 'UTF8') || '\x00'::bytea || convert_to(a.id, 'UTF8')) >= :below THEN 'unread'
            ELSE coalesce((
                SELECT CASE WHEN j.score < :unsupported THEN 'unsupported'
                    WHEN j.score >= :supported THEN 'supported' ELSE 'nothing' END
                FROM judgement j
                WHERE j.app = a.app AND j.id = a.id AND j.metric = 'faithfulness' AND j.occurred_at = a.occurred_at
                    AND j.score IS NOT NULL
                ORDER BY j.judged_at DESC LIMIT 1
            ), 'nothing') END AS says
    FROM assessment a
    WHERE a.app = :app AND a.live AND a.occurred_at >= :since AND a.occurred_at < :until
"""
_SIZE = text("""
    SELECT count(*) AS answers, encode(sha256(coalesce(string_agg(place, '' ORDER BY place), '')), 'hex') AS digest,
        count(*) FILTER (WHERE says IN ('supported', 'unsupported')) AS judged
    FROM frame
""")
# Of equal scores the id decides, not the place: otherwise a stratum would begin with those that are drawn first.
_PARTED = text("""
    CREATE TEMP TABLE parted ON COMMIT DROP AS
    SELECT f.*, width_bucket(f.rank, CAST(:ends AS bigint[])) AS stratum
    FROM (SELECT *, row_number() OVER (ORDER BY score DESC, id COLLATE "C") - 1 AS rank FROM frame) f
""")
_CELLS = text("SELECT stratum, says, count(*) AS size, min(score) AS lowest FROM parted GROUP BY 1, 2")
# The first answers of each part that can be read; so many more are looked at as may be erased.
_DRAWN = text("""
    SELECT n.id, n.occurred_at, n.stratum, n.says FROM (
        SELECT *, row_number() OVER (PARTITION BY stratum, CASE WHEN :by_judge THEN says END ORDER BY place) AS nth
        FROM parted WHERE NOT :by_judge OR says <> 'unread'
    ) n
    JOIN interaction i ON i.app = :app AND i.id = n.id AND i.occurred_at = n.occurred_at
    WHERE n.nth <= 2 * :most + :more AND NOT 'erased' = ANY(i.marks)
    ORDER BY n.nth
""")
_MORE = 50
_WHOLE = b"\xff" * 33  # above every hash


class Drawn(NamedTuple):
    """What `draw_labels` drew; the fields are those of `Plan`."""

    draw: Draw
    frame: str
    answers: int
    parts: list[Part]
    items: list[Item]


def draw_labels(connection: Connection, request: PlanRequest, seed: str) -> Drawn:
    """Draws the answers to label, in the caller's transaction, and only reads.

    Erased answers belong to the frame, and are passed over in the draw.
    """
    share, app = request.judge_share, request.app
    below = _WHOLE if share >= 1 else int(share * 2**64).to_bytes(8, "big")
    period = {"app": app, "since": request.since, "until": request.until}
    connection.execute(
        text(_FRAME.format(score=SCORE_BEFORE_JUDGE)),
        {**period, "seed": seed, "below": below, "unsupported": UNSUPPORTED, "supported": SUPPORTED},
    )
    size = connection.execute(_SIZE).one()
    draw = way(size.answers, size.judged, request.labels, guaranteed=request.guaranteed)
    cuts = {Draw.STRATA: strata.BY_SCORE, Draw.JUDGE: judged.BY_SCORE, Draw.RANDOM: (1.0,)}[draw]
    ends = list(accumulate(strata.sizes(size.answers, cuts)))[:-1]
    connection.execute(_PARTED, {"ends": ends})
    parts = _parts(connection.execute(_CELLS).all(), by_judge=draw is Draw.JUDGE)
    order = turns(draw, parts, request.labels)
    places = {(part.stratum, part.says): number for number, part in enumerate(parts)}
    most = max(Counter(order).values(), default=0)
    drawn: dict[int, list[Row[Any]]] = {}
    for row in connection.execute(_DRAWN, {"app": app, "by_judge": draw is Draw.JUDGE, "most": most, "more": _MORE}):
        drawn.setdefault(places[row.stratum, row.says if draw is Draw.JUDGE else None], []).append(row)
    taken = Counter[int]()
    rows = []
    for part in order:
        if taken[part] < len(drawn.get(part, ())):
            rows.append((part, drawn[part][taken[part]]))
            taken[part] += 1
    items = [
        Item(place=place, part=part, app=app, id=row.id, occurred_at=row.occurred_at)
        for place, (part, row) in enumerate(rows)
    ]
    return Drawn(draw=draw, frame=size.digest, answers=size.answers, parts=parts, items=items)


def _parts(cells: Sequence[Row[Any]], *, by_judge: bool) -> list[Part]:
    """One part for each stratum, or with `by_judge` for each stratum and what the judge says there."""
    answers = Counter[int]()
    lowest: dict[int, float] = {}
    for cell in cells:
        answers[cell.stratum] += cell.size
        lowest[cell.stratum] = min(cell.lowest, lowest.get(cell.stratum, 1.0))
    if not by_judge:
        return [Part(stratum=s, answers=answers[s], lowest=lowest[s]) for s in sorted(answers)]
    read = [cell for cell in cells if cell.says in judged.SAYS]
    read.sort(key=lambda cell: (cell.stratum, judged.SAYS.index(cell.says)))
    return [
        Part(stratum=c.stratum, answers=answers[c.stratum], lowest=lowest[c.stratum], says=c.says, judged=c.size)
        for c in read
    ]
