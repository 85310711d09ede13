"""The dialects that events may be written in. A new one is a file beside these and a line below."""

from __future__ import annotations

from monitor.ingest.dialects import cloudevents, native, ragas
from monitor.ingest.dialects.dialect import Dialect

# In the order in which they are tried.
DIALECTS: tuple[Dialect, ...] = (
    cloudevents.DIALECT,
    native.DIALECT,
    ragas.DIALECT,
)
