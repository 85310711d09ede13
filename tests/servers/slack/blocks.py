"""What Slack refuses about a message, by its documentation (https://docs.slack.dev/reference/block-kit).

Unknown block types and keys, texts that are empty or too long, too many blocks, buttons that say nothing. Lengths are
counted in UTF-16 units, the strictest reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# Slack's own formatting that can ping or link: <!here>, <@U1>, <#C1>. Links <https://…|…> are the receiver's own.
PING = re.compile(r"<[!@#]")
MAX_TOTAL = 10_000  # our own; Slack's is higher and undocumented

_TEXT_LIMIT = 3_000
_MAX_BUTTONS = 5  # our own; Slack takes 25
_BLOCK_KEYS = {
    "header": {"type", "text", "block_id"},
    "section": {"type", "text", "fields", "block_id"},
    "context": {"type", "elements", "block_id"},
    "divider": {"type", "block_id"},
    "image": {"type", "slack_file", "alt_text", "title", "block_id"},
    "actions": {"type", "elements", "block_id"},
}
_BUTTON_KEYS = {"type", "text", "action_id", "value", "url", "style"}
_BUTTON_LIMITS = {"action_id": 255, "value": 2_000, "url": 3_000}


def problems(payload: dict[str, Any]) -> list[str]:
    """What Slack would refuse about the blocks of a message; empty when they are in order."""
    blocks = payload.get("blocks", [])
    if not isinstance(blocks, list) or len(blocks) > 50:
        return ["blocks: not a list of at most 50"]
    return [problem for index, block in enumerate(blocks) for problem in _block(f"blocks[{index}]", block)]


def texts(value: Any) -> Iterator[str]:
    """Every text that a message shows, wherever it stands in it."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        if isinstance(value.get("alt_text"), str):
            yield value["alt_text"]
        for child in value.values():
            yield from texts(child)
    elif isinstance(value, list):
        for child in value:
            yield from texts(child)


def mrkdwn(value: Any) -> Iterator[str]:
    """Every text in which Slack reads formatting."""
    if isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            yield value["text"]
        for child in value.values():
            yield from mrkdwn(child)
    elif isinstance(value, list):
        for child in value:
            yield from mrkdwn(child)


def shown(payload: dict[str, Any]) -> str:
    """A message about as a client shows it: entities read back, formatting left as it is."""
    text = "\n".join(texts(payload.get("blocks", []))) or payload["text"]
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def buttons(payload: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The buttons of a message by what stands on them."""
    actions = [block for block in payload.get("blocks", []) if block["type"] == "actions"]
    return {element["text"]["text"]: element for block in actions for element in block["elements"]}


def picture(payload: dict[str, Any]) -> str | None:
    """The id of the file that a message shows."""
    return next((b["slack_file"]["id"] for b in payload.get("blocks", []) if b["type"] == "image"), None)


def units(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _block(where: str, block: Any) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in _BLOCK_KEYS:
        yield f"{where}: unknown block type {kind!r}"
        return
    if unknown := set(block) - _BLOCK_KEYS[kind]:
        yield f"{where}: unknown keys {unknown}"
    if kind == "header" or "text" in block:
        header = kind == "header"
        kinds = {"plain_text"} if header else {"plain_text", "mrkdwn"}
        yield from _text(f"{where}.text", block.get("text"), limit=150 if header else _TEXT_LIMIT, kinds=kinds)
    if kind == "section" and not {"text", "fields"} & set(block):
        yield f"{where}: neither text nor fields"
    if kind == "context" or "fields" in block:
        name, limit = ("elements", _TEXT_LIMIT) if kind == "context" else ("fields", 2_000)
        yield from _many(f"{where}.{name}", block.get(name), most=10, each=_any_text(limit))
    if kind == "actions":
        yield from _many(f"{where}.elements", block.get("elements"), most=_MAX_BUTTONS, each=_button)
        ids = [element.get("action_id") for element in block.get("elements", [])]
        if len(set(ids)) < len(ids):
            yield f"{where}: an action_id stands twice in it"
    if kind == "image":
        yield from _image(where, block)


def _many(where: str, items: Any, *, most: int, each: Any) -> Iterator[str]:
    if not isinstance(items, list) or not 1 <= len(items) <= most:
        yield f"{where}: not 1 to {most}"
        return
    for index, item in enumerate(items):
        yield from each(f"{where}[{index}]", item)


def _any_text(limit: int) -> Any:
    return lambda where, item: _text(where, item, limit=limit, kinds={"plain_text", "mrkdwn"})


def _button(where: str, button: Any) -> Iterator[str]:
    if not isinstance(button, dict) or button.get("type") != "button" or set(button) - _BUTTON_KEYS:
        yield f"{where}: no button, or with unknown keys"
        return
    yield from _text(f"{where}.text", button.get("text"), limit=75, kinds={"plain_text"})
    for name, limit in _BUTTON_LIMITS.items():
        value = button.get(name, "-")
        if not isinstance(value, str) or not 1 <= units(value) <= limit:
            yield f"{where}.{name}: not a text of 1 to {limit} characters"
    if not re.fullmatch(r"https?://\S+", button.get("url", "https://x")):
        yield f"{where}.url: no URL"
    if button.get("style", "primary") not in ("primary", "danger"):
        yield f"{where}.style: unknown"


def _image(where: str, block: dict[str, Any]) -> Iterator[str]:
    alt = block.get("alt_text")
    if not isinstance(alt, str) or not 1 <= units(alt) <= 2_000:
        yield f"{where}.alt_text: not a text of 1 to 2000 characters"
    file = block.get("slack_file")
    if not isinstance(file, dict) or set(file) != {"id"} or not re.fullmatch("F[A-Z0-9]{8,}", str(file["id"])):
        yield f"{where}.slack_file: no id of a file"


def _text(where: str, item: Any, *, limit: int, kinds: set[str]) -> Iterator[str]:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind not in kinds:
        yield f"{where}: type {kind!r} is not one of {sorted(kinds)}"
        return
    own = {"plain_text": "emoji", "mrkdwn": "verbatim"}[kind]
    if set(item) - {"type", "text", own} or not isinstance(item.get(own, False), bool):
        yield f"{where}: unknown keys in {sorted(item)}"
    text = item.get("text")
    if not isinstance(text, str) or not 1 <= units(text) <= limit or not text.strip():
        yield f"{where}: not a text of 1 to {limit} characters"
    elif re.search(r"&(?!(amp|lt|gt);)", text):
        yield f"{where}: an ampersand that begins no entity"
