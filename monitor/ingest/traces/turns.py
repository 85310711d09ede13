"""From traces to turns: the flow on one screen."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turn import NoTurn, Turn


def turns(traces: Sequence[Trace]) -> list[Turn | NoTurn]:
    """The turn of each trace, or why it has none, in the order of `traces`."""
    return [NoTurn(trace_id=trace.trace_id, because="not read yet") for trace in traces]
