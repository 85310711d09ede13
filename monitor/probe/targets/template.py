"""Fills the templates of requests. Placeholders are filled in parsed values, so no text can change their structure."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.core.model import Json
from monitor.probe.target import Exchange

QUESTION, HISTORY, MESSAGES, CONVERSATION = "{question}", "{history}", "{messages}", "{conversation}"


def fill(template: Json, *, question: str, history: Sequence[Exchange], conversation: str) -> Json:
    """The template with its placeholders filled.

    `{question}` and `{conversation}` may stand within a text. A text that is `{history}` becomes the list of the
    messages before the question, `{"role": …, "content": …}`; `{messages}` that list with the question.
    """
    before: list[Json] = [
        {"role": role, "content": text}
        for exchange in history
        for role, text in (("user", exchange.question), ("assistant", exchange.answer))
    ]

    def filled(value: Json) -> Json:
        if isinstance(value, dict):
            return {name: filled(below) for name, below in value.items()}
        if isinstance(value, list):
            found: list[Json] = []
            for item in value:  # `[{system message}, "{messages}"]` is one list of messages
                below = filled(item)
                found += below if item in (HISTORY, MESSAGES) and isinstance(below, list) else [below]
            return found
        if value == HISTORY:
            return before
        if value == MESSAGES:
            return [*before, {"role": "user", "content": question}]
        if isinstance(value, str):
            parts = value.split(QUESTION)  # each is filled for itself: a question may hold a placeholder
            return question.join(part.replace(CONVERSATION, conversation) for part in parts)
        return value

    return filled(template)


def asks(template: Json) -> bool:
    """Whether the question stands anywhere in the template."""
    if isinstance(template, dict):
        return any(map(asks, template.values()))
    if isinstance(template, list):
        return any(map(asks, template))
    return isinstance(template, str) and (QUESTION in template or template == MESSAGES)
