"""The forms of events that can be read. In: a JSON object and its headers. Out: an interaction, or InvalidMessage.

A new dialect is a module in this folder and a line below, or an entry point of a package (docs/develop/extend.md).
"""

from __future__ import annotations

from typing import Any

from monitor.core.installed import plugins
from monitor.ingest.dialects import cloudevents, langfuse, langsmith, native, otlp, phoenix, ragas
from monitor.ingest.dialects.dialect import Dialect

# in the order in which they are tried
DIALECTS: tuple[Dialect, ...] = (
    cloudevents.DIALECT,
    native.DIALECT,
    ragas.DIALECT,
    otlp.OTLP,
    otlp.OTLP_JSON,
    otlp.OTLP_PROTO,
    phoenix.DIALECT,
    langsmith.DIALECT,
    langfuse.DIALECT,
    native.FEEDBACK,
)


def dialects() -> tuple[Dialect, ...]:
    """Ours, and after them those that installed packages add, in the order in which they are tried.

    Raises:
        WrongSettings: a package's dialect cannot be used.
    """
    ours = {dialect.name: dialect for dialect in DIALECTS}
    return tuple(plugins.with_plugins(plugins.DIALECTS, ours, problem=_problem, reserved=("auto",)).values())


def _problem(name: str, value: Any) -> str | None:
    if not isinstance(value, Dialect):
        return f"it must be a monitor.ingest.dialects.dialect.Dialect, and is a {type(value).__name__}"
    return None if value.name == name else f"the dialect calls itself {value.name!r}, the entry point {name!r}"
