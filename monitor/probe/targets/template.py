"""Fills the templates of requests. Placeholders are filled in parsed values, so no text can change their structure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from re import compile as compiled
from typing import Final

from monitor.core.model import Json
from monitor.probe.target import Exchange

QUESTION, HISTORY, MESSAGES, CONVERSATION = "{question}", "{history}", "{messages}", "{conversation}"
_PLACEHOLDERS: Final = {written.strip("{}"): written for written in (QUESTION, HISTORY, MESSAGES, CONVERSATION)}
_BRACED: Final = compiled(r"\{\s*(\w+)\s*\}")
_NEAR: Final = 0.85  # share of letters in common, as difflib counts: histroy and message are near, query and story not


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


def unfilled(template: Json) -> str | None:
    """What is wrong with a placeholder that would be sent as it is: misspelt, or within a text; None if nothing is.

    Other words in braces are texts of the template's own.
    """
    if isinstance(template, dict | list):
        below = template.values() if isinstance(template, dict) else template
        return next((problem for value in below if (problem := unfilled(value)) is not None), None)
    for found in _BRACED.finditer(template) if isinstance(template, str) else ():
        written, near = found[0], get_close_matches(found[1].lower(), _PLACEHOLDERS, n=1, cutoff=_NEAR)
        if written in {HISTORY, MESSAGES} and template != written:
            return f"{written} is a list of messages and cannot stand within a text: make it a value of its own"
        if near and written not in _PLACEHOLDERS.values():
            known = ", ".join(_PLACEHOLDERS.values())
            return f"{written} is no placeholder: did you mean {_PLACEHOLDERS[near[0]]}? The placeholders are {known}"
    return None


def asks(template: Json) -> bool:
    """Whether the question stands anywhere in the template."""
    if isinstance(template, dict):
        return any(map(asks, template.values()))
    if isinstance(template, list):
        return any(map(asks, template))
    return isinstance(template, str) and (QUESTION in template or template == MESSAGES)
