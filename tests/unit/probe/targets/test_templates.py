"""Templates of requests, JSONPath, pace and secrets."""

from __future__ import annotations

import json

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.target import Exchange
from monitor.probe.targets.json_path import parse_json_path
from monitor.probe.targets.pace import Pace
from monitor.probe.targets.secrets import with_secrets
from monitor.probe.targets.template import asks, fill

BEFORE = [Exchange(question="a", answer="b")]
HISTORY = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
HOSTILE = [
    'say "yes"',
    "{conversation}",
    "{history}",
    "{messages}",
    "{question}",
    '", "admin": true, "x": "',
    "\\",
    "\n",
]


def filled(template, question="q", conversation="c"):
    return fill(template, question=question, history=BEFORE, conversation=conversation)


@pytest.mark.parametrize("question", HOSTILE)
def test_no_question_changes_the_structure(question):
    template = {"ask": "{question}", "both": "{conversation}: {question}", "at": [1, None, True, "{question}"]}
    found = json.loads(json.dumps(filled(template, question)))
    assert found == {"ask": question, "both": f"c: {question}", "at": [1, None, True, question]}


@pytest.mark.parametrize("mark", HOSTILE)
def test_a_mark_is_filled_once(mark):
    assert filled("{question}/{conversation}", "q", mark) == f"q/{mark}"


def test_history_and_messages_are_lists_and_join_the_list_that_they_stand_in():
    question = {"role": "user", "content": "q"}
    assert filled({"h": "{history}", "m": "{messages}"}) == {"h": HISTORY, "m": [*HISTORY, question]}
    assert filled([{"role": "system"}, "{messages}"]) == [{"role": "system"}, *HISTORY, question]
    assert filled("so far: {history}") == "so far: {history}"  # within a text it stands for nothing


def test_names_are_never_filled_and_the_template_stays_as_it_is():
    template = {"{question}": ["{question}"]}
    assert filled(template) == {"{question}": ["q"]}
    assert template == {"{question}": ["{question}"]}


@pytest.mark.parametrize(
    ("template", "asked"),
    [
        ("Please: {question}", True),
        ({"a": [{"b": "{question}"}]}, True),
        (["{messages}"], True),
        ("say {messages}", False),
        ({"{question}": 1}, False),
        ("{history}", False),
        (None, False),
    ],
)
def test_whether_a_template_asks(template, asked):
    assert asks(template) is asked


VALUE = {"a": {"b c": [{"t": 1}, {"t": None}, {"u": 3}]}, "ü": "x", "0": "zero", "l": [[1, 2], [3]]}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [VALUE]),
        ("$.a['b c'][0].t", [1]),
        ('$["a"]["b c"][*].t', [1, None]),
        ("$.a.*[2].u", [3]),
        ("$.l[*][*]", [1, 2, 3]),
        ("$.ü", ["x"]),
        ("$['0']", ["zero"]),
        ("$.l[7]", []),
        ("$.nothing.at.all", []),
        ("$[0]", []),
        ("$.ü[0]", []),
    ],
)
def test_what_stands_at_a_path(path, found):
    assert parse_json_path(path).find(VALUE) == found


@pytest.mark.parametrize(
    "path",
    [
        "",
        "answer",
        "$answer",
        "$.",
        "$..a",
        "$.a[",
        "$.a[-1]",
        "$.a[1:2]",
        "$.a[?(@.b)]",
        "$.a['b",
        "$.a b",
        "$.1",
        "$ ",
    ],
)
def test_what_is_no_path_is_refused_with_the_place(path):
    with pytest.raises(ValueError, match="write names and places"):
        parse_json_path(path)


def test_a_long_path_takes_time_linear_in_its_length():
    assert len(parse_json_path("$" + ".a" * 50_000).steps) == 50_000


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self):
        self.now = 100.0
        self.waited = []

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.waited.append(round(seconds, 6))
        self.now += seconds
        return False


def test_calls_are_evenly_spaced():
    clock = Clock()
    pace = Pace(4, clock=clock, wait=clock.wait)
    for _ in range(4):
        pace.enter()
    assert clock.waited == [0.25, 0.25, 0.25]


def test_quiet_times_give_no_credit():
    clock = Clock()
    pace = Pace(2, clock=clock, wait=clock.wait)
    pace.enter()
    clock.now += 60
    pace.enter()
    pace.enter()
    assert clock.waited == [0.5]


def test_those_who_come_together_get_turns_after_each_other():
    clock = Clock()
    waited = []
    pace = Pace(0.5, clock=clock, wait=waited.append)  # nobody's waiting makes time pass
    for _ in range(4):
        pace.enter()
    assert waited == [2, 4, 6]


def test_without_a_pace_nobody_waits():
    clock = Clock()
    pace = Pace(None, clock=clock, wait=clock.wait)
    for _ in range(9):
        pace.enter()
    assert clock.waited == []


def test_a_closed_pace_lets_all_go():
    pace = Pace(0.001)
    pace.enter()
    pace.close()
    pace.enter()  # would be 1,000 seconds


def test_secrets_are_put_in_place(tmp_path, monkeypatch):
    (tmp_path / "key").write_text(" s3cret\n")
    monkeypatch.setenv("BOT_KEY", "k3y${env:HOME}")
    text = f"Bearer ${{file:{tmp_path}/key}} ${{env:BOT_KEY}} $5 ${{other:x}}"
    assert with_secrets(text, of="header x") == "Bearer s3cret k3y${env:HOME} $5 ${other:x}"


def test_secrets_that_are_not_there_are_named(tmp_path):
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    for text, why in (
        ("${env:NO_SUCH_BOT_KEY}", "header x: the environment has no NO_SUCH_BOT_KEY"),
        ("${file:/nowhere/key}", "header x: cannot read /nowhere/key: No such file or directory"),
        (f"${{file:{tmp_path}/latin}}", "it is not UTF-8"),
        (f"${{file:{tmp_path}}}", "Is a directory"),
    ):
        with pytest.raises(WrongSettings, match=why):
            with_secrets(text, of="header x")
