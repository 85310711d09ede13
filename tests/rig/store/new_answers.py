"""The list of new answers on a server that other tests use too."""

from __future__ import annotations

from sqlalchemy import text

from monitor.store.alert.new_answers import NewAnswerList
from tests.rig.waiting import until


class PatientList(NewAnswerList):
    """Lists once the transactions of other tests, which share the server, hold nothing back any more."""

    def fill(self, now):
        until("what is stored can be listed", self.complete)
        super().fill(now)

    def complete(self):
        query = "SELECT coalesce(max(transaction_id), 0) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
        with self._engine.connect() as connection:
            return connection.scalar(text(f"{query} FROM assessment"))
