from __future__ import annotations

import warnings
from datetime import date
from math import inf

import pytest

from monitor.core.yaml.marked import MAX_DEPTH, InvalidYaml, Mark, parse_yaml


def refusal(text):
    with pytest.raises(InvalidYaml) as caught:
        parse_yaml(text)
    return caught.value.mark.line, caught.value.mark.column, caught.value.problem


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *((word, True) for word in ("yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE")),
        *((word, False) for word in ("no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE")),
        *((word, word) for word in ("y", "Y", "n", "N", "yES", "oN")),
        *((word, None) for word in ("~", "null", "Null", "NULL", "")),
        ("1:30", 90),
        ("-1:30", -90),
        ("190:20:30", 685_230),
        ("1:30.5", 90.5),
        ("12:99", "12:99"),
        ("5m", "5m"),
        ("010", 8),
        ("-010", -8),
        ("0o10", "0o10"),
        ("08", "08"),
        ("0x1f", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("_1", "_1"),
        ("-_1", "-_1"),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5", "-.5"),
        ("1e3", "1e3"),
        ("1e+3", "1e+3"),
        ("1.5e3", "1.5e3"),
        ("1.5e+3", 1500.0),
        (".inf", inf),
        ("-.INF", -inf),
        ("2024-05-13", date(2024, 5, 13)),
        ("'010'", "010"),
        ('"yes"', "yes"),
        ("!!str 1:30", "1:30"),
    ],
)
@pytest.mark.parametrize("directive", ["", "%YAML 1.1\n---\n", "%YAML 1.2\n---\n"])
def test_a_plain_scalar_means_what_it_means_to_pyyaml(written, value, directive):
    read = parse_yaml(f"{directive}a: {written}\n").value["a"]
    assert (type(read), read) == (type(value), value)


def test_a_word_for_true_is_no_string_as_a_key_either():
    assert parse_yaml("on: 1\n'on': 2\n").value == {True: 1, "on": 2}


def test_values_and_keys_know_their_place():
    document = parse_yaml("a:\n  - {b: 1, c: x}\n  -\n  - d:\n    e: 2\n")
    assert document.mark(("a", 0, "c")) == Mark(line=2, column=15)
    assert document.mark(("a", 0, "c"), of_key=True) == Mark(line=2, column=12)
    assert document.mark(("a", 1)) == Mark(line=3, column=4)
    assert document.mark(("a", 2, "d")) == Mark(line=4, column=7)
    assert document.mark(("a", 2, "d"), of_key=True) == Mark(line=4, column=5)


def test_a_missing_value_has_the_place_of_its_nearest_parent():
    document = parse_yaml("a:\n  - {b: 1}\n")
    assert document.mark(("a", 0, "x", "y")) == document.mark(("a", 0)) == Mark(line=2, column=5)
    assert parse_yaml("# nothing\n").mark(("a",)) == Mark(line=1, column=1)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: 1\na: 1\n", 2, 1),
        ("a: 1\n'a': 1\n", 2, 1),
        ("- {b: 1, c: {d: 1, d: 2}}\n", 1, 20),
        ("a: &x {b: 1}\nc: {<<: *x, d: 1, d: 2}\n", 2, 19),
        ("a: &x {b: 1}\nc: {<<: *x, <<: *x}\n", 2, 13),
    ],
)
def test_a_repeated_key_is_refused_where_it_is_repeated(text, line, column):
    found = refusal(text)
    assert found[:2] == (line, column)
    assert "is already in line" in found[2]


def test_a_merged_key_may_be_given_again():
    text = "a: &x {b: 1, c: 2}\nd: {<<: *x, b: 3}\n"
    assert parse_yaml(text).value == {"a": {"b": 1, "c": 2}, "d": {"b": 3, "c": 2}}


def test_an_anchor_may_be_set_anew_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_yaml("- &a 1\n- &a 2\n- *a\n").value == [1, 2, 2]


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system", "!!python/name:os.system", "!x"])
def test_a_tag_of_python_or_of_nobody_is_refused(tag):
    line, column, problem = refusal(f"a: 1\nb: {tag} [ls]\n")
    assert (line, column) == (2, 4)
    assert tag.rpartition("!")[2] in problem


@pytest.mark.parametrize("text", ["a: !!int ''", "a: !!bool maybe", "a: 2020-99-99", "!!omap [a: 1, a: 2]"])
def test_a_value_that_does_not_suit_its_tag_is_refused(text):
    assert refusal(text)[2].startswith("this does not parse")


def test_a_list_or_mapping_as_a_key_is_refused():
    assert refusal("a: 1\n? [b]\n: 1\n") == (2, 3, "a key must be a single value")


def test_nesting_is_refused_where_it_gets_too_deep():
    parse_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert refusal("[" * 5_000) == (1, MAX_DEPTH + 1, "the nesting is deeper than 100 levels")


def test_nesting_by_aliases_is_refused_too():
    text = "l0: &a0 [x]\n" + "".join(f"l{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 1_000))
    assert refusal(text) == (100, 6, "the nesting is deeper than 100 levels")


@pytest.mark.parametrize("item", ["[{}]", "{{<<: [{}]}}", "[[{}]]"])
def test_aliases_that_multiply_are_refused(item):
    nine_of_the_line_before = [item.format(", ".join(9 * [f"*a{level}"])) for level in range(11)]
    lines = [f"l{level}: &a{level} {value}" for level, value in enumerate(["{x: 1}", *nine_of_the_line_before])]
    line, _, problem = refusal("\n".join(lines))
    assert line < len(lines)
    assert problem == "aliases repeat more than 100,000 values"


def test_a_long_file_without_aliases_is_read():
    assert len(parse_yaml("- {a: 1}\n" * 2_000).value) == 2_000


def test_an_alias_to_its_own_parent_is_read_once():
    value = parse_yaml("a: &a [*a]").value["a"]
    assert value[0] is value


def test_a_character_that_yaml_forbids_is_named_with_its_place():
    assert refusal("a: 1\nb: x\x01\n")[:2] == (2, 5)


@pytest.mark.parametrize("text", [r'a: {b: "x\ud800"}', r'"\udc00": 1', r'["\ud83d\ude00"]'])
def test_half_of_a_character_is_refused_where_it_stands(text):
    with pytest.raises(InvalidYaml, match="half of a surrogate pair") as caught:
        parse_yaml(text)
    assert caught.value.mark.column == text.index('"') + 1
