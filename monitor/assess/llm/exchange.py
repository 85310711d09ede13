"""The exchange with a language model: prompts, their data, typed replies and what they cost.

Prompts are files of this package with a version in their name. Text from outside (documents, questions, answers) never
enters a prompt: it is sent as data, between fences that it cannot close.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from monitor.core.errors import MonitorError, Retriable


class Purpose(StrEnum):
    """The purpose of a call. Each purpose has its own account in the budget."""

    SIDECAR = "sidecar"
    JUDGE = "judge"
    PROBE = "probe"


class Form(BaseModel):
    """The form of an answer: every field is needed, and no other is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True)


T = TypeVar("T", bound=Form)
_OURS = ("title", "description")  # names and docstrings of our classes
_NAMES = ("$defs", "properties")  # their keys are names of types and fields, not keywords of JSON Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(Generic[T]):
    """Instructions with the form of the answer. `hash` changes with either."""

    name: str  # with its version: `explain.v1`
    text: str
    form: type[T]

    @property
    def schema(self) -> dict[str, object]:
        """The JSON Schema of the answer, without the names and docstrings of our classes, which would cost tokens."""
        return _schema(self.form)

    @property
    def hash(self) -> str:
        """16 hex digits of the SHA-256 of the instructions and the schema of the answer."""
        return _hash(self.text, self.form)


@cache
def _schema(form: type[Form]) -> dict[str, object]:
    schema: dict[str, object] = _plain(form.model_json_schema())
    return schema


@cache
def _hash(text: str, form: type[Form]) -> str:
    return combined_hash([text, json.dumps(_schema(form), sort_keys=True)])


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in _OURS}
    named = {name: {key: _plain(part) for key, part in kept.pop(name).items()} for name in _NAMES if name in kept}
    return {**named, **{name: _plain(value) for name, value in kept.items()}}


def combined_hash(parts: Sequence[str]) -> str:
    """16 hex digits of the SHA-256 of several texts."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def prompts_hash(prompts: Sequence[Prompt[Any]]) -> str:
    """One hash for the prompts of a result, in order. For a single prompt it is the prompt's own; for none, empty."""
    hashes = [prompt.hash for prompt in prompts]
    return combined_hash(hashes) if len(hashes) > 1 else "".join(hashes)


def load_prompt(package: str, name: str, form: type[T]) -> Prompt[T]:
    """The prompt in `prompts/<name>.txt` of `package`, followed by the instructions about data."""
    return Prompt(name=name, text=f"{_text(package, name)}\n{_text(__package__ or '', 'data.v1')}", form=form)


@cache
def _text(package: str, name: str) -> str:
    return files(package).joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of data that the prompt refers to by name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """A prompt with its data."""

    prompt: Prompt[T]
    blocks: tuple[Block, ...]

    @property
    def data(self) -> str:
        """The blocks, each between two lines with a mark that occurs in none of the blocks."""
        texts = [block.text for block in self.blocks]
        mark = combined_hash(texts)
        while any(mark in text for text in texts):
            mark = combined_hash([mark, *texts])
        return "\n\n".join(f"<{b.name} {mark}>\n{b.text}\n</{b.name} {mark}>" for b in self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What calls used. `cost` is in the currency of the prices, and None if no prices are set."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: Spend) -> Spend:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Spend(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What a budget counts for calls before they are made; `at` says in which hour."""

    purpose: Purpose
    model: str
    at: datetime
    spend: Spend


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[T]):
    """An answer in the form that the prompt asks for. `repaired` says that it took a second attempt."""

    value: T
    model: str
    spend: Spend
    repaired: bool = False


class BudgetSpent(Retriable):
    """The budget for calls to language models is spent for now."""


class NoAnswer(MonitorError):
    """The model gives no usable answer to this request, and asking again would not help.

    `reason` is `model_refused`, `content_filter`, `truncated`, `malformed`, `too_long` or `rejected`.
    """

    def __init__(self, reason: str, message: str, spend: Spend) -> None:
        super().__init__(message)
        self.reason = reason
        self.spend = spend
