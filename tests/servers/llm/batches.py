"""/v1/files and /v1/batches for chat completions (https://platform.openai.com/docs/guides/batch).

A batch makes progress only when a client asks for its status: no clock and no thread moves it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from itertools import count
from threading import Lock
from time import time
from typing import Any

from tests.servers.llm.chat import ChatRequest, readable
from tests.servers.llm.troubles import CHAT_PATH, Request, Trouble, refusal, replied

_UNDONE = {
    "expired": ("batch_expired", "This request could not be executed before the completion window expired."),
    "cancelled": ("batch_cancelled", "This request was not executed because the batch was cancelled."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEnd:
    """How a batch ends: completed, failed (with `errors`) or expired (only the first `done` requests done)."""

    status: str = "completed"
    done: int | None = None  # None: all
    errors: tuple[dict[str, Any], ...] = ()


def failed(message: str, code: str = "token_limit_exceeded") -> BatchEnd:
    """The batch as a whole is refused."""
    return BatchEnd(status="failed", errors=(_error(code, message),))


def expired(done: int) -> BatchEnd:
    """Only the first `done` requests are done when the time is over."""
    return BatchEnd(status="expired", done=done)


@dataclass(slots=True, kw_only=True)
class _Batch:
    facts: dict[str, Any]  # the JSON that clients see
    lines: list[dict[str, Any]]
    end: BatchEnd
    polls_left: int


@dataclass(slots=True, kw_only=True)
class Batches:
    """Files and batches. A batch ends at the `polls`-th request for its status, as the next entry of `script` says."""

    polls: int = 2
    script: deque[BatchEnd] = field(default_factory=deque)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)  # of the files
    _batches: dict[str, _Batch] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _lock: Lock = field(default_factory=Lock)

    def respond(self, request: Request, chat: Callable[[ChatRequest], Trouble]) -> Trouble:
        """Answers a request about a file or a batch; `chat` answers the requests in a batch."""
        with self._lock:
            match request.method, *request.path.split("/")[2:]:
                case "POST", "files":
                    reply = self._upload(request)
                case "GET", "files", name, "content" if name in self.files:
                    reply = Trouble(headers={"Content-Type": "application/octet-stream"}, body=self.contents[name])
                case "GET", "files", name if name in self.files:
                    reply = replied(self.files[name])
                case "DELETE", "files", name if name in self.files:
                    del self.files[name], self.contents[name]
                    reply = replied({"id": name, "object": "file", "deleted": True})
                case "POST", "batches":
                    reply = self._create(request.body or {})
                case "GET", "batches", name if name in self._batches:
                    self._move(self._batches[name], chat)
                    reply = replied(self._batches[name].facts)
                case "POST", "batches", name, "cancel" if name in self._batches:
                    reply = _cancel(self._batches[name].facts)
                case _, "files" | "batches", name, *_:
                    reply = refusal(404, f"No such object: {name}")
                case _:
                    reply = refusal(404, f"Unknown request URL: {request.method} {request.path}", code="unknown_url")
            return reply

    def _upload(self, request: Request) -> Trouble:
        kind = f"Content-Type: {request.headers.get('Content-Type')}\r\n\r\n"
        form = message_from_bytes(kind.encode() + request.content)
        parts = {part.get_param("name", header="Content-Disposition"): part for part in form.walk()}
        if not {"file", "purpose"} <= set(parts):
            return refusal(400, "A 'file' and a 'purpose' are required.")
        if parts["purpose"].get_payload() != "batch":
            return refusal(400, f"'{parts['purpose'].get_payload()}' is not one of ['batch']", param="purpose")
        content = bytes(parts["file"].get_payload(decode=True)).decode()
        return replied(self._keep(content, str(parts["file"].get_filename()), "batch"))

    def _keep(self, content: str, filename: str, purpose: str) -> dict[str, Any]:
        name = f"file-{next(self._numbers)}"
        self.contents[name] = content
        self.files[name] = {
            "id": name,
            "object": "file",
            "bytes": len(content.encode()),
            "created_at": int(time()),
            "filename": filename,
            "purpose": purpose,
            "status": "processed",
        }
        return self.files[name]

    def _create(self, body: dict[str, Any]) -> Trouble:
        file, endpoint, window = (body.get(key) for key in ("input_file_id", "endpoint", "completion_window"))
        if file not in self.files:
            return refusal(400, f"No such File object: {file}", param="input_file_id")
        if endpoint != CHAT_PATH:
            return refusal(400, f"Invalid value: '{endpoint}'. Supported values are: '{CHAT_PATH}'.", param="endpoint")
        if window != "24h":
            return refusal(400, f"Invalid value: '{window}'. Value must be '24h'.", param="completion_window")
        lines, errors = _read(self.contents[file])
        end = self.script.popleft() if self.script else BatchEnd()
        name, now = f"batch_{next(self._numbers)}", int(time())
        facts = {
            "id": name,
            "object": "batch",
            "endpoint": endpoint,
            "errors": None,
            "input_file_id": file,
            "completion_window": window,
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "created_at": now,
            "expires_at": now + 24 * 60 * 60,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            "metadata": body.get("metadata"),
        }
        end = BatchEnd(status="failed", errors=tuple(errors)) if errors else end
        self._batches[name] = _Batch(facts=facts, lines=lines, end=end, polls_left=self.polls)
        return replied(facts)

    def _move(self, batch: _Batch, chat: Callable[[ChatRequest], Trouble]) -> None:
        """Moves the batch one step on, unless it has ended."""
        batch.polls_left -= 1
        status = batch.facts["status"]
        if status == "cancelling":
            self._finish(batch, BatchEnd(status="cancelled", done=0), chat)
        elif status in {"validating", "in_progress"} and batch.end.status == "failed":
            batch.facts["errors"] = {"object": "list", "data": batch.end.errors}
            _turn(batch.facts, "failed")
        elif status in {"validating", "in_progress"}:
            batch.facts["request_counts"]["total"] = len(batch.lines)
            if batch.polls_left > 0:
                _turn(batch.facts, "in_progress")
            else:
                self._finish(batch, batch.end, chat)

    def _finish(self, batch: _Batch, end: BatchEnd, chat: Callable[[ChatRequest], Trouble]) -> None:
        output: list[str] = []
        errors: list[str] = []
        done = len(batch.lines) if end.done is None else end.done
        for line in batch.lines[:done]:
            reply = chat(ChatRequest(body=line["body"], custom_id=line["custom_id"]))
            number = next(self._numbers)
            content: Any = reply.body
            with suppress(ValueError):
                content = json.loads(content)
            response = {"status_code": reply.status, "request_id": f"req_{number}", "body": content}
            (output if reply.status == 200 else errors).append(_result(number, line, response, None))
        counts = {"total": len(batch.lines), "completed": len(output), "failed": len(errors)}
        for line in batch.lines[done:]:
            code, message = _UNDONE[end.status]
            errors.append(_result(next(self._numbers), line, None, {"code": code, "message": message}))
        for key, results in (("output", output), ("error", errors)):
            if results:
                kept = self._keep("".join(results), f"{batch.facts['id']}_{key}.jsonl", "batch_output")
                batch.facts[f"{key}_file_id"] = kept["id"]
        batch.facts["request_counts"] = counts
        _turn(batch.facts, end.status)


def _read(content: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The requests in a file, and its errors."""
    lines: dict[str, dict[str, Any]] = {}
    errors = []
    for number, text in enumerate(content.strip().split("\n"), start=1):
        try:
            line = json.loads(text)
        except ValueError:
            errors.append(_error("invalid_json_line", "This line is not parseable as valid JSON.", number))
            continue
        if not (isinstance(line, dict) and isinstance(line.get("custom_id"), str) and readable(line.get("body") or {})):
            errors.append(_error("invalid_request", "A custom_id and the body of a request are required.", number))
        elif (line.get("method"), line.get("url")) != ("POST", CHAT_PATH):
            errors.append(_error("mismatched_endpoint", "The URL does not match the batch's endpoint.", number))
        elif line["custom_id"] in lines:
            errors.append(_error("duplicate_custom_id", f"'{line['custom_id']}' stands on two lines.", number))
        else:
            lines[line["custom_id"]] = line
    return list(lines.values()), errors


def _error(code: str, message: str, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "line": line, "param": None}


def _result(number: int, line: dict[str, Any], response: dict[str, Any] | None, error: dict[str, Any] | None) -> str:
    result = {"id": f"batch_req_{number}", "custom_id": line["custom_id"], "response": response, "error": error}
    return json.dumps(result) + "\n"


def _turn(facts: dict[str, Any], status: str) -> None:
    facts |= {"status": status, f"{status}_at": int(time())}


def _cancel(facts: dict[str, Any]) -> Trouble:
    if facts["status"] not in {"validating", "in_progress", "cancelling"}:
        return refusal(409, f"Cannot cancel a batch with status '{facts['status']}'.")
    _turn(facts, "cancelling")
    return replied(facts)
