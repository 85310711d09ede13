"""Converts an alert to Alertmanager's data model: labels identify it, annotations describe it.

Names follow Prometheus's rule, `[a-zA-Z_][a-zA-Z0-9_]*`: other characters become `_`. Values are one harmless line and
never empty, since an empty label counts as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from monitor.alert.figures import figure
from monitor.alert.notification import Notification, NotifiedAlert
from monitor.alert.wording import escalated_words, facts, http_url, labels_of, why
from monitor.core.text.plain import shortened

_MAX_NAME, _MAX_LABEL, _MAX_ANNOTATION = 100, 1_000, 4_000
_WRONG = re.compile("[^a-zA-Z0-9_]")


def label_set(alert: NotifiedAlert) -> dict[str, str]:
    """`alertname` is the rule; then come `severity` and the alert's other labels, which cannot replace the two."""
    return {**named(labels_of(alert)), "alertname": shortened(alert.rule, _MAX_LABEL), "severity": alert.severity}


def annotation_set(alert: NotifiedAlert, notification: Notification) -> dict[str, str]:
    """The rule's annotations, a default `summary`, the figures; for the leading alert also cause, changes, examples."""
    runbook = http_url(alert.annotations.get("runbook"))
    annotations = {
        "summary": figure(alert),
        **({"runbook_url": runbook} if runbook else {}),  # the name that Prometheus's own alerts use
        **named(alert.annotations, limit=_MAX_ANNOTATION),
        **({"escalated": escalated_words(alert.escalated_after)} if alert.escalated_after else {}),
        "figures": "; ".join(f"{name}: {value}" for name, value in facts(alert)),
    }
    if alert is not notification.leading:
        return annotations
    if run := http_url(notification.run_url):
        annotations["run_url"] = run
    if notification.cause:
        annotations["cause"] = " ".join(shortened(sentence, _MAX_LABEL) for sentence in notification.cause)
    if notification.changes:
        annotations["changes"] = " ".join(shortened(change, _MAX_LABEL) for change in notification.changes)
    for number, example in enumerate(notification.examples, start=1):
        text = f"{why(example)}. Question: {example.question} Answer: {example.answer}"
        annotations[f"example_{number}"] = shortened(text, _MAX_ANNOTATION)
    return annotations


def named(values: Mapping[str, str], *, limit: int = _MAX_LABEL) -> dict[str, str]:
    """`values` under names that Prometheus allows, without empty ones."""
    return {valid_name(name): shortened(value, limit) for name, value in values.items() if value}


def valid_name(name: str) -> str:
    """`prompt-version` → `prompt_version`, `4xx` → `_4xx`."""
    allowed = _WRONG.sub("_", name)[:_MAX_NAME]
    return allowed if allowed and not allowed[0].isdigit() else f"_{allowed}"


def common(mappings: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The entries that all `mappings` share; there is at least one mapping."""
    first, *others = mappings
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def timestamp(time: datetime) -> str:
    """`time` in RFC 3339 form, in UTC."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
