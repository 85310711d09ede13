"""Reads people's labels of answers whose assessment has the judge's word in it: what its weights are learnt from."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from sqlalchemy import Engine, text

from monitor.assess.classify.judged import labelled_word
from monitor.assess.judge.word import LabelledWord
from monitor.core.model import Verdict
from monitor.store.database import limited_read

MOST: Final = 2_000  # the newest labels, of all apps
# The newest label of an answer counts. A refusal says nothing about faithfulness.
_LABELS = text("""
    SELECT DISTINCT ON (r.app, r.interaction_id) r.app, r.label, a.judge
    FROM (SELECT * FROM review ORDER BY id DESC LIMIT :most) r
    JOIN LATERAL (
        SELECT jsonb_build_object('judge', evidence -> 'judge') AS judge FROM assessment
        WHERE app = r.app AND id = r.interaction_id AND occurred_at = r.occurred_at AND live
            AND evidence -> 'judge' ->> 'says' IS NOT NULL
        LIMIT 1
    ) a ON true
    ORDER BY r.app, r.interaction_id, r.id DESC
""")


class JudgedLabels:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def by_app(self) -> dict[str, list[LabelledWord]]:
        """The labels of judged answers, without labelled refusals, by app."""
        found: defaultdict[str, list[LabelledWord]] = defaultdict(list)
        with limited_read(self._engine, "the database is busy; try again in a moment") as connection:
            for app, label, judge in connection.execute(_LABELS, {"most": MOST}):
                if label != Verdict.REFUSAL:
                    found[app].append(labelled_word(judge, Verdict(label)))
        return dict(found)
