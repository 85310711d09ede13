"""A scripted workflow of Microsoft Teams on 127.0.0.1, which refuses what Teams cannot post.

It checks a card against the facts of the Adaptive Card schema that the receiver relies on
(https://adaptivecards.io/explorer/): which properties and values the elements have, and what of them 1.2 knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.servers.webhook import Answer, HttpServer, Request, http_server

PATH = "/workflows/1/triggers/manual/paths/invoke?sig=TopSecretSignature"
_LARGEST = 28 * 1024
_COLOURS = {"Default", "Dark", "Light", "Accent", "Good", "Warning", "Attention"}
_RUN = {
    "color": _COLOURS,
    "size": {"Default", "Small", "Medium", "Large", "ExtraLarge"},
    "weight": {"Default", "Lighter", "Bolder"},
    "isSubtle": {True, False},
}
_SPACING = {"Default", "None", "Small", "Medium", "Large", "ExtraLarge", "Padding"}
_MOST_ACTIONS = 6  # Teams shows no more


@dataclass(slots=True)
class TeamsServer:
    """`cards` are those posted."""

    http: HttpServer = field(default_factory=HttpServer)
    cards: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.http.url + PATH

    def reset(self) -> None:
        self.http.reset()
        self.cards.clear()

    def answer(self, request: Request) -> Answer:
        if request.path != PATH:
            return refusal(401, "DirectApiAuthorizationRequired")
        if len(request.body) > _LARGEST:
            return refusal(413, "RequestEntityTooLarge")
        message = request.json
        if message.get("type") != "message" or not isinstance(message.get("attachments"), list):
            return refusal(400, "TriggerInputSchemaMismatch")
        for attachment in message["attachments"]:
            if attachment["contentType"] != "application/vnd.microsoft.card.adaptive":
                return refusal(400, "TriggerInputSchemaMismatch")
            if list(problems(attachment["content"])):
                return refusal(400, "InvalidAdaptiveCard")
            self.cards.append(attachment["content"])
        return Answer(status=202)


def refusal(status: int, code: str) -> Answer:
    return Answer(status=status, body=json.dumps({"error": {"code": code, "message": f"see {PATH}"}}))


def problems(card: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a card of version 1.2."""
    unknown = set(card) - {"$schema", "type", "version", "fallbackText", "msteams", "body", "actions"}
    if unknown or card.get("type") != "AdaptiveCard" or card.get("version") != "1.2":
        yield f"not a card of version 1.2: {unknown}"
    if card.get("msteams") != {"width": "Full"}:
        yield "msteams"
    for block in card["body"]:
        yield from _block_problems(block)
    actions = card["actions"]
    if len(actions) > _MOST_ACTIONS:
        yield "more actions than Teams shows"
    for action in actions:
        good = action.get("url", "").startswith(("https://", "http://")) and action.get("title")
        if set(action) != {"type", "title", "url"} or action["type"] != "Action.OpenUrl" or not good:
            yield f"wrong action: {action}"


def _block_problems(block: dict[str, Any]) -> Iterator[str]:
    if block.get("type") != "RichTextBlock" or set(block) - {"type", "inlines", "spacing"}:
        yield f"not a RichTextBlock: {block}"
    if block.get("spacing", "Default") not in _SPACING or not block.get("inlines"):
        yield f"wrong RichTextBlock: {block}"
    for run in block["inlines"]:
        if run.get("type") != "TextRun" or not isinstance(run.get("text"), str) or not run["text"]:
            yield f"not a TextRun: {run}"
        for name in set(run) - {"type", "text"}:
            if run[name] not in _RUN.get(name, ()):
                yield f"wrong {name} of a TextRun: {run}"


def texts(card: dict[str, Any]) -> list[str]:
    """The lines of a card as people read them."""
    return ["".join(run["text"] for run in block["inlines"]) for block in card["body"]]


@contextmanager
def teams_server() -> Iterator[TeamsServer]:
    """Runs a server on a free port for the block."""
    server = TeamsServer()
    with http_server(server.answer) as http:
        server.http = http
        yield server
