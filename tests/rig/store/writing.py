"""Writes assessments as one batch, and reads the rollup that they make."""

from __future__ import annotations

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import (
    Mark,
    Reason,
    Verdict,
)
from monitor.store.tables.interactions import METRICS
from tests.factories.answers import a_batch

FAR = frozenset({Mark.TIME_OUT_OF_RANGE})


ROLLUP = f"""
    SELECT minute, app, environment, model, topic, total, {", ".join(Verdict)}, {", ".join(Reason)},
           {", ".join(f"{m}_count" for m in METRICS)}, {", ".join(f"{m}_sum" for m in METRICS)},
           {", ".join(f"{m}_bins" for m in METRICS)}, heard, {", ".join(Diagnosis)}
    FROM verdict_minute ORDER BY 1, 2, 3, 4, 5
"""


def write(writer, *assessments, **over):
    return writer.write(a_batch(*assessments, **over))


def stay_in_pipeline_mode(connection):
    """Leaves the connection as psycopg does, once in some hundred times, where it is ended within `executemany`.

    Raises:
        psycopg.OperationalError: always; the connection does not count as closed.
    """
    connection.pgconn.enter_pipeline_mode()
    connection.pgconn.send_query_params(b"SELECT 1", None)
    assert not connection.closed
    connection.execute("SELECT 1")
