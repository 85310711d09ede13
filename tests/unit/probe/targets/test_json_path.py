from __future__ import annotations

import pytest

from monitor.probe.targets.json_path import parse_json_path

VALUE = {
    "choices": [{"message": {"content": "Hi"}}, {"message": {"content": "Ho"}}],
    "a b": {"c.d": 1, "e": None},
    "sources": {"x": {"text": "X"}, "y": {"text": "Y"}, "z": "no object"},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [VALUE]),
        ("$.choices[0].message.content", ["Hi"]),
        ("$.choices[-1].message.content", ["Ho"]),
        ("$.choices[*].message.content", ["Hi", "Ho"]),
        ("$['a b']['c.d']", [1]),
        ('$["a b"].e', [None]),
        ("$.sources.*.text", ["X", "Y"]),
        ("$.sources[*].text", ["X", "Y"]),
        ("$.choices[2]", []),
        ("$.choices[-3]", []),
        ("$.choices.message", []),
        ("$.sources[0]", []),
        ("$.nothing.at.all", []),
    ],
)
def test_what_stands_at_a_path(path, found):
    assert parse_json_path(path).find(VALUE) == found


@pytest.mark.parametrize(
    "path", ["", "answer", "$..a", "$.a[?(@.b)]", "$.a[0:2]", "$.a[0,1]", "$.", "$.a]", "$['']", "$[99999999999]", "$a"]
)
def test_other_paths_are_refused_with_what_is_possible(path):
    with pytest.raises(ValueError, match=r"\[\*\] for every item"):
        parse_json_path(path)


def test_a_long_path_is_read_in_time_linear_in_its_length():
    assert len(parse_json_path("$" + ".a" * 50_000).steps) == 50_000
