from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.methods import METHODS
from monitor.alert.rule import Rule, Selector
from monitor.alert.rules_file import load_rules, parse_rules
from monitor.errors import WrongSettings

FULL = """\
rules:
  - name: negative-rate
    selector: {app: [support, shop], environment: production}
    by: [app, topic]
    signal: {rate: negative}
    method: threshold
    above: 0.30
    window: 5m
    min_samples: 30
    confident: true
    for: 2m
    severity: critical
    labels: {team: support}
    annotations: {summary: "Look at it", runbook: "https://wiki.example/rag"}
    receivers: [slack, console]
"""
SHORT = "  - {name: %s, signal: {rate: refusal}, above: 0.2, window: 10m}\n"


def parse(text: str):
    return parse_rules(text, name="rules.yaml", receivers=("slack", "console"))


def problems(text: str) -> list[str]:
    with pytest.raises(WrongSettings) as caught:
        parse(text)
    return str(caught.value).splitlines()


def test_every_field_is_read():
    assert parse(FULL) == (
        Rule(
            name="negative-rate",
            selector=Selector(app=("support", "shop"), environment=("production",)),
            by=("app", "topic"),
            signal="negative",
            method="threshold",
            above=0.3,
            window=timedelta(minutes=5),
            min_samples=30,
            confident=True,
            for_=timedelta(minutes=2),
            severity="critical",
            labels={"team": "support"},
            annotations={"summary": "Look at it", "runbook": "https://wiki.example/rag"},
            receivers=("slack", "console"),
        ),
    )


def test_the_rest_has_defaults():
    (rule,) = parse("rules:\n" + SHORT % "x")
    assert (rule.by, rule.for_, rule.receivers, rule.severity) == (("app",), timedelta(), None, "warning")


def test_the_shipped_rules_are_in_order():
    rules = load_rules(None, receivers=("console",))
    assert [rule.signal for rule in rules] == ["negative", "self_generated", "refusal"]


@pytest.mark.parametrize(
    ("line", "column", "said", "change"),
    [
        (2, 11, "rules[0].name: ", ("negative-rate", '"a\\tb"')),
        (3, 21, "rules[0].selector.app[0]: Input should be a valid string", ("[support, shop]", "12")),
        (4, 15, "rules[0].by[1]: ", ("topic", "tenant")),
        (4, 9, "rules[0].by: 'app' stands here twice", ("app, topic", "app, app")),
        (5, 20, "rules[0].signal.rate: unknown signal 'negatif'", ("negative}", "negatif}")),
        (5, 14, "rules[0].signal.mean: unknown key", ("rate: negative", "rate: negative, mean: sdq")),
        (6, 13, "rules[0].method: unknown method 'burn'", ("threshold", "burn")),
        (7, 12, "rules[0].above: Input should be less than 1", ("0.30", "30")),
        (7, 12, "rules[0].above: Input should be greater than 0", ("0.30", "0")),
        (7, 12, "rules[0].above: Input should be a finite number", ("0.30", ".nan")),
        (8, 13, "rules[0].window: must be a whole number of minutes", ("5m", "90s")),
        (8, 13, "rules[0].window: 90 is no duration", ("5m", "1:30")),
        (9, 18, "rules[0].min_samples: ", ("30\n    conf", "0\n    conf")),
        (10, 16, "rules[0].confident: ", ("true", "2")),
        (11, 5, "rules[0].fro: unknown key", ("for:", "fro:")),
        (11, 10, "rules[0].for: '2 min' is no duration", ("2m", "2 min")),
        (12, 15, "rules[0].severity: ", ("critical", "page")),
        (13, 13, "rules[0].labels: 'app' comes from the answers", ("team: support", "app: x")),
        (14, 28, "rules[0].annotations.summary: holds a character", ("Look at it", "\\0")),
        (
            15,
            24,
            "rules[0].receivers[1]: receiver 'pager' is not configured; configured: console, slack",
            ("console", "pager"),
        ),
        (15, 16, "rules[0].receivers: ", ("[slack, console]", "[]")),
    ],
)
def test_an_error_names_file_line_and_column(line, column, said, change):
    if said.endswith("mean: unknown key"):
        column = 30
    assert FULL.replace(*change) != FULL
    found = problems(FULL.replace(*change))
    assert [p for p in found if p.startswith(f"rules.yaml:{line}:{column}: {said}")], found


def test_a_missing_field_is_named_where_the_rule_begins():
    assert problems("rules:\n  - name: x\n    above: 0.2\n    window: 5m\n") == [
        "rules.yaml:2:5: rules[0].signal: is missing"
    ]


def test_all_errors_are_told_at_once():
    assert len(problems("rules:\n" + SHORT.replace("0.2", "2").replace("10m", "x") % "a")) == 2


def test_a_name_stands_once():
    assert problems("rules:\n" + SHORT % "a" + SHORT % "a") == [
        "rules.yaml:3:12: rules[1].name: another rule has the name 'a' already"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules:\n- name: a\n  name: b\n", "rules.yaml:3:3: the key 'name' stands in line 2 already"),
        ("rules: [", "rules.yaml:1:9: "),
        ("\trules: []", "rules.yaml:1:1: "),
        ("rules: !!python/object/apply:os.system [ls]", "rules.yaml:1:8: "),
        ("rules: &a [*a]", "rules.yaml:1:8: rules[0]: must be a mapping"),
        ("[" * 5_000, "rules.yaml:1:1: "),
        ("a: 2020-99-99", "rules.yaml:1:1: "),
        ("x: \x01", "rules.yaml:1:4: "),
        ("rules: []\n---\nrules: []\n", "rules.yaml:2:1: "),
        ("", "rules.yaml:1:1: file: must be a mapping"),
        ("- a", "rules.yaml:1:1: file: must be a mapping"),
    ],
)
def test_what_is_no_yaml_of_ours_is_refused_with_its_place(text, said):
    assert problems(text)[0].startswith(said)


def test_merge_keys_work_and_are_located():
    base = "base: &b {signal: {rate: refusal}, window: 5m}\n"
    assert "unknown key" in problems(base + "rules: []")[0]
    text = "rules:\n  - &b {name: a, signal: {rate: refusal}, above: 0.2, window: 5m}\n  - {<<: *b, name: b}\n"
    assert [rule.name for rule in parse(text)] == ["a", "b"]


@given(st.text(alphabet=st.sampled_from("rules:[]{}- \n&*!|>'\"#%@`namewido0.5m\\"), max_size=80))
def test_no_text_breaks_the_reader(text):
    with suppress(WrongSettings):
        parse(text)


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    with pytest.raises(WrongSettings, match="cannot read the alert rules"):
        load_rules(tmp_path / "none.yaml", receivers=())
    (tmp_path / "latin.yaml").write_bytes(b"rules: [\xe4]")
    with pytest.raises(WrongSettings, match="cannot read the alert rules"):
        load_rules(tmp_path / "latin.yaml", receivers=())


def test_tuning_keeps_the_digest_and_measuring_something_else_changes_it():
    (rule,) = parse(FULL)
    (tuned,) = parse(FULL.replace("0.30", "0.4").replace("5m", "10m").replace("critical", "info"))
    (other,) = parse(FULL.replace("[app, topic]", "[app]"))
    assert rule.digest == tuned.digest != other.digest


def test_the_registry_is_what_the_file_may_name():
    assert set(METHODS) == {"threshold"}
