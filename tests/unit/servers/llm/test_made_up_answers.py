"""Answers that the scripted LLM server makes up for a schema."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from tests.rig.assess.llm_client import JSON_OBJECT, USER, Verdict, ask, content, json_schema
from tests.servers.llm import (
    ChatRequest,
    made_up,
)


class Leaf(BaseModel):
    kind: Literal["leaf"]
    weight: float = Field(gt=0, lt=1)


class Tree(BaseModel):
    kind: Literal["tree"]
    left: Tree | Leaf
    right: Leaf | None
    others: list[Tree]


class Everything(BaseModel):
    verdict: Literal["yes", "no"]
    sure: bool
    score: int = Field(ge=3, le=5)
    share: float = Field(ge=0, le=1)
    above: int = Field(gt=7)
    below: int = Field(le=-2)
    even: int = Field(ge=3, multiple_of=2)
    short: str = Field(max_length=4)
    long: str = Field(min_length=40)
    nothing: None
    maybe: str | None
    reasons: list[Verdict] = Field(min_length=2, max_length=3)
    none_of: list[str] = Field(max_length=0)
    pair: tuple[int, str]
    different: set[int] = Field(min_length=3)
    by_name: dict[str, int] = Field(min_length=2)
    tree: Tree


@pytest.mark.parametrize(
    "kind", [Verdict, Everything, Tree, list[Verdict], bool, Literal["a"], Verdict | int, str, Any]
)
def test_makes_up_something_valid_for_any_schema(kind):
    adapter = TypeAdapter(kind)
    told = ChatRequest(body={"messages": [USER], "response_format": json_schema(adapter.json_schema())})
    adapter.validate_json(made_up(told))
    assert made_up(told) == made_up(told)


@pytest.mark.parametrize("before", ["", "Not this: {oops {} [1] ", '{"type": "string"} but '])
def test_finds_the_schema_in_the_prompt(client, before):
    schema = json.dumps({"name": "verdict", "schema": Verdict.model_json_schema()}, indent=1)
    prompt = {"role": "user", "content": f'{before} Answer by {schema} about {{"text": "this"}}.'}
    Verdict.model_validate_json(content(ask(client, messages=[prompt])))


def test_gives_json_where_no_schema_says_which(client):
    assert json.loads(content(ask(client, response_format=JSON_OBJECT)))["answer"]
