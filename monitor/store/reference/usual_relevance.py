"""Reads how relevant the chunks of an app's newest grounded answers were: what is usual there."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Engine, text

from monitor.assess.threshold import Spread, pooled
from monitor.core.model import Verdict
from monitor.store.database import limited_read

ANSWERS: Final = 300  # the newest grounded ones of an app
_TOO_SLOW = "the app's chunks are left out of the threshold for now"
# From the index by app, verdict and time. Only grounded answers: what a broken retriever brings must not become usual.
# Answers of an earlier release, without a diagnosis, are among them: there may be millions to look through behind them.
_NEWEST = text("""
    SELECT count(*) AS count, avg(relevance) AS mean, coalesce(stddev_pop(relevance), 0) AS sd FROM (
        SELECT a.evidence FROM assessment a WHERE a.app = :app AND a.verdict = :grounded AND a.live
        ORDER BY a.occurred_at DESC LIMIT :answers
    ) a, LATERAL (
        SELECT CAST(chunk ->> 'relevance' AS double precision) AS relevance
        FROM jsonb_array_elements(a.evidence -> 'retrieval' -> 'chunks') AS c (chunk)
    ) c
""")


class UsualRelevance:
    """What is usual in each app, from its own answers."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, app: str, otherwise: Spread) -> Spread:
        """The spread of the relevances of the chunks of its newest grounded answers.

        Where there are few, it is drawn to `otherwise`.

        Raises:
            Retriable: the database is out of reach or too slow.
        """
        given = {"app": app, "grounded": Verdict.GROUNDED.value, "answers": ANSWERS}
        with limited_read(self._engine, _TOO_SLOW) as connection:
            count, mean, sd = connection.execute(_NEWEST, given).one()
        return pooled(count, Spread(mean=mean, sd=sd), otherwise) if count else otherwise
