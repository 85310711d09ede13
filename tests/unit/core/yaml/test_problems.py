"""What pydantic finds, in plain words."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from monitor.core.yaml.problems import keys_at, problems_of, unknown_key, written


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid")

    span: int = Field(0, alias="for")
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid")

    leaves: list[Leaf] = []
    by_app: dict[str, Leaf] = {}
    one: Leaf | None = None
    size: Annotated[int, Field(ge=1_000)] = 2_000
    words: Annotated[list[str], Field(min_length=1, max_length=2)] = ["a"]
    needed: bool


def problems(**values):
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate({"needed": True, **values})
    return problems_of(caught.value, Whole)


@pytest.mark.parametrize(
    ("values", "path", "said"),
    [
        ({"needed": None}, "needed", "must be true or false"),
        ({"needd": 1}, "needd", "unknown key; did you mean needed?"),
        ({"xyz": 1}, "xyz", "unknown key; known: leaves, by_app, one, size, words, needed"),
        ({"size": 999}, "size", "must be 1,000 or more"),
        ({"size": "many"}, "size", "must be a whole number"),
        ({"words": []}, "words", "must not be empty"),
        ({"words": ["a", "b", "c"]}, "words", "must have 2 entries or fewer"),
        ({"words": [None]}, "words[0]", "must be a text"),
        ({"one": 3}, "one", "must be a mapping of keys to values"),
        ({"one": {"share": 0}}, "one.share", "must be more than 0"),
        ({"leaves": [{}, {"fro": 1}]}, "leaves[1].fro", "unknown key; did you mean for?"),
        ({"by_app": {"shop": {"shre": 1}}}, "by_app.shop.shre", "unknown key; did you mean share?"),
    ],
)
def test_a_fault_is_told_in_plain_words_with_its_place(values, path, said):
    found = {written(at): problem for at, problem in problems(**values)}
    assert found == {path: said}


def test_an_empty_document_is_told_with_what_it_needs():
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(None)
    assert problems_of(caught.value, Whole) == [((), "is empty; it needs needed")]
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate({})
    assert problems_of(caught.value, Whole) == [(("needed",), "is missing")]


def test_the_keys_of_a_place_are_those_of_its_form():
    assert keys_at(Whole, ("leaves", 3)) == keys_at(Whole, ("by_app", "shop")) == keys_at(Whole, ("one",))
    assert keys_at(Whole, ("one",)) == ["for", "share"]
    assert unknown_key("shar", keys_at(Whole, ("one",))) == "unknown key; did you mean share?"


def test_an_entry_is_called_by_its_name_where_it_has_one_that_can_be_shown():
    value = {"probes": [{"name": "support"}, {"name": "a\nb"}, {"name": "x" * 101}, {}, {"name": 3}]}
    found = [written(("probes", place, "turns"), value) for place in range(6)]
    assert found == ["probes[support].turns", *(f"probes[{place}].turns" for place in range(1, 6))]
    assert written(()) == "file"
