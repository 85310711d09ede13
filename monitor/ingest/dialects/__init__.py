"""The forms of events that can be read. In: a JSON object and its headers. Out: an interaction, or InvalidMessage.

A new dialect is a module in this folder and a line below.
"""

from __future__ import annotations

from monitor.ingest.dialects import cloudevents, native, ragas
from monitor.ingest.dialects.dialect import Dialect

# in the order in which they are tried
DIALECTS: tuple[Dialect, ...] = (
    cloudevents.DIALECT,
    native.DIALECT,
    ragas.DIALECT,
    native.FEEDBACK,
)
