"""An alert in Alertmanager's data model: labels that name it, annotations that tell of it.

Names are what Prometheus allows, `[a-zA-Z_][a-zA-Z0-9_]*`: other characters become `_`. Values are one harmless line
and never empty, since an empty label counts as none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from monitor.alert.notification import Notification, NotifiedAlert
from monitor.alert.wording import facts, figure, labels_of, why
from monitor.core.text.plain import shortened

_MAX_NAME, _MAX_LABEL, _MAX_ANNOTATION = 100, 1_000, 4_000
_WRONG = re.compile("[^a-zA-Z0-9_]")


def label_set(told: NotifiedAlert) -> dict[str, str]:
    """`alertname` is the rule; `severity` and the alert's own labels, of which those of the same name make way."""
    return {**named(labels_of(told)), "alertname": shortened(told.rule, _MAX_LABEL), "severity": told.severity}


def annotation_set(told: NotifiedAlert, notification: Notification) -> dict[str, str]:
    """The rule's own; `summary` where it has none; the figures; what changed and the examples, with the leading one."""
    said = {
        "summary": figure(told),
        **named(told.annotations, limit=_MAX_ANNOTATION),
        "figures": "; ".join(f"{name}: {value}" for name, value in facts(told)),
    }
    if told is not notification.leading:
        return said
    if notification.changes:
        said["changes"] = " ".join(shortened(change, _MAX_LABEL) for change in notification.changes)
    for number, example in enumerate(notification.examples, start=1):
        text = f"{why(example)}. Question: {example.question} Answer: {example.answer}"
        said[f"example_{number}"] = shortened(text, _MAX_ANNOTATION)
    return said


def named(values: Mapping[str, str], *, limit: int = _MAX_LABEL) -> dict[str, str]:
    """`values` under names that Prometheus allows, without empty ones."""
    return {valid_name(name): shortened(value, limit) for name, value in values.items() if value}


def valid_name(name: str) -> str:
    """`prompt-version` → `prompt_version`, `4xx` → `_4xx`."""
    allowed = _WRONG.sub("_", name)[:_MAX_NAME]
    return allowed if allowed and not allowed[0].isdigit() else f"_{allowed}"


def common(those: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """What all of them hold."""
    first, *others = those
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def timestamp(time: datetime) -> str:
    """As RFC 3339, in UTC."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
