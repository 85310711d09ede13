from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.methods import METHODS
from monitor.alert.methods.absence import Absence
from monitor.alert.methods.burn_rate import BurnRate, BurnWindow
from monitor.alert.methods.rate import Rate
from monitor.alert.methods.shift import Shift
from monitor.alert.methods.threshold import Threshold
from monitor.alert.rule import Grouping, Rule
from monitor.alert.rules.file import load_rules, parse_rules
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.silence import Matcher
from monitor.alert.target import Target
from monitor.core.errors import WrongSettings

FULL = """\
grouping: {by: [app, team], wait: 1s, interval: 2m, repeat: 1h}
inhibit:
  - source: ['about="ingestion"', 'severity=~"critical|warning"']
    target: about="quality"
    equal: [app]
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
    lateness: 1m
    for: 2m
    keep_firing_for: 10m
    no_data: alerting
    error: keep_last
    severity: critical
    labels: {team: support}
    annotations: {summary: "Look at it", runbook: "https://wiki.example/rag"}
    receivers: [slack, console]
"""
SHORT = "  - {name: %s, signal: {rate: refusal}, above: 0.2, window: 10m}\n"
OF_LAG = "rules:\n  - name: a\n    signal: lag\n    above: 300\n"
BURNING = """\
rules:
  - name: a
    signal: {rate: negative}
    method: burn_rate
    allowed: 0.05
    windows:
      - {long: 1h, short: 5m, factor: 6}
      - {long: 6h, short: 30m, factor: 3}
"""


def parse(text: str):
    return parse_rules(text, name="rules.yaml", receivers=("slack", "console"))


def problems(text: str) -> list[str]:
    with pytest.raises(WrongSettings) as caught:
        parse(text)
    return str(caught.value).splitlines()


def test_every_field_is_read():
    rules = parse(FULL)
    assert rules.rules == (
        Rule(
            name="negative-rate",
            signal=Signal(kind=SignalKind.RATE, name="negative"),
            method=Threshold(above=Target(value=0.3), min_samples=30, confident=True),
            selector={"app": ("support", "shop"), "environment": ("production",)},
            by=("app", "topic"),
            lateness=timedelta(minutes=1),
            for_=timedelta(minutes=2),
            keep_firing_for=timedelta(minutes=10),
            no_data="alerting",
            error="keep_last",
            severity="critical",
            labels={"team": "support"},
            annotations={"summary": "Look at it", "runbook": "https://wiki.example/rag"},
            receivers=("slack", "console"),
        ),
    )
    assert rules.grouping == Grouping(
        by=("app", "team"), wait=timedelta(seconds=1), interval=timedelta(minutes=2), repeat=timedelta(hours=1)
    )
    (inhibition,) = rules.inhibitions
    assert [str(matcher) for matcher in inhibition.source] == ['about="ingestion"', 'severity=~"critical|warning"']
    assert (inhibition.target, inhibition.equal) == ((Matcher(label="about", operator="=", value="quality"),), ("app",))


def test_the_rest_has_defaults():
    rules = parse("rules:\n" + SHORT % "x")
    (rule,) = rules.rules
    assert (rule.by, rule.for_, rule.receivers, rule.severity) == (("app",), timedelta(), None, "warning")
    assert (rule.method.name, rule.no_data, rule.error) == ("threshold", "keep_last", "error")
    assert (rules.grouping, rules.inhibitions) == (Grouping(), ())


@pytest.mark.parametrize(
    ("signal", "by", "method"),
    [
        ("{mean: sda}, below: 0.5", ("app",), "threshold"),
        ("no_data", ("app",), "absence"),
        ("dead_letters, above: 0.1", ("source",), "threshold"),
        ("lag, above: 300", ("source",), "threshold"),
        ("ledger_imbalance, above: 0, by: []", (), "threshold"),
        ("{rate: refusal}, method: change", ("app",), "change"),
        ("{rate: refusal}, method: sequential, target: baseline + 1pp", ("app",), "sequential"),
        ("{probe: correctness}", ("probe", "app", "environment"), "decline"),
        (
            "{probe: wscore}, method: threshold, below: 3.5, confident: true",
            ("probe", "app", "environment"),
            "threshold",
        ),
    ],
)
def test_every_signal_has_labels_and_a_method_that_suit_it(signal, by, method):
    (rule,) = parse(f"rules:\n  - {{name: a, signal: {signal}}}\n").rules
    assert (rule.by, rule.method.name) == (by, method)


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("signal: {probe: sda}", "there is no {probe: sda}; known: correctness, wscore, unsure, unjudged"),
        ("signal: {probe: correctness}, method: change", "the method 'change' takes"),
        ("signal: {rate: refusal}, method: decline", "the method 'decline' takes probe, not rate"),
        ("signal: {probe: correctness}, at_least: 6", "at_least: must be above 0 and at most 5"),
        ("signal: {probe: unsure}, at_least: 1", "at_least: must be below 1"),
        ("signal: {probe: correctness}, runs: 6", "runs: must be 5 or less"),
        ("signal: {probe: unsure}, method: threshold, below: 0.5", "only a mean can be too low"),
        ("signal: {probe: correctness}, by: [topic]", "no label 'topic'; its labels: probe, app, environment"),
        ("signal: {probe: correctness}, by: [app]", "each probe is looked at for itself: leave by out"),
    ],
)
def test_errors_of_rules_on_probes_name_what_is_wrong(rule, problem):
    with pytest.raises(WrongSettings, match=re.escape(problem)):
        parse(f"rules:\n  - {{name: a, {rule}}}\n")


def test_parameters_reach_the_method():
    first, second = parse(BURNING + "  - {name: b, signal: no_data, window: 30m, expected: 5}\n").rules
    hour = timedelta(hours=1)
    assert first.method == BurnRate(
        allowed=Target(value=0.05),
        windows=(
            BurnWindow(long=hour, short=timedelta(minutes=5), factor=6.0),
            BurnWindow(long=6 * hour, short=timedelta(minutes=30), factor=3.0),
        ),
    )
    assert second.method == Absence(window=timedelta(minutes=30), expected=5)


# What is good or usual differs from team to team, so no line can ship.
OWN_LINES = {SignalKind.MEAN, SignalKind.LATENCY, SignalKind.TOKENS, SignalKind.COST}


def test_the_shipped_rules_cover_what_can_be_measured():
    rules = load_rules(None, receivers=("console",))
    assert {rule.signal.kind for rule in rules.rules} == set(SignalKind) - OWN_LINES
    assert {rule.severity for rule in rules.rules} == {"critical", "warning"}
    assert all(rule.receivers is None and "summary" in rule.annotations for rule in rules.rules)
    quality = [rule for rule in rules.rules if rule.labels["about"] == "quality"]
    ingestion = [rule for rule in rules.rules if rule.labels["about"] == "ingestion"]
    probes = [rule for rule in rules.rules if rule.labels["about"] == "probes"]
    assert (len(quality), len(ingestion), len(probes)) == (7, 3, 3)
    assert all(rule.method.promise for rule in rules.rules)
    lines = [rule.method.target for rule in quality if rule.signal.kind is SignalKind.RATE]
    assert all(line.is_learnt for line in lines)  # a fixed one would page some chatbots for ever
    ranks = [rule.method for rule in quality if rule.signal.kind is SignalKind.RANKS]
    assert sum(timedelta(weeks=10) / method.false_alarm_every for method in ranks) <= 1


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("signal: {ranks: sda}", "there is no {ranks: sda}; known: score, refusal, sdq, qrd"),
        ("signal: {ranks: score}, method: threshold, above: 1", "the method 'threshold' takes"),
        ("signal: {rate: refusal}, method: shift", "the method 'shift' takes ranks, not rate"),
        ("signal: {ranks: score}, false_alarm_every: 1h", "false_alarm_every: must be 1d or longer"),
        ("signal: {ranks: score}, target: 0.1", "target: unknown key"),
        ("signal: {probe: wscore}, selector: {prob: a}", "selector.prob: unknown key; did you mean probe?"),
        ("signal: {probe: unjudged}, method: decline", "method: decline compares questions"),
        ("signal: {true_rate: refusal}", "above: is missing"),
        ("signal: {true_rate: refusal}, above: 5", "above: must be between 0 and 1"),
        ("signal: {true_rate: refusal}, above: 0.1, max_age: 1h", "max_age: must be 1d or longer"),
        ("signal: {true_rate: refusal}, above: 0.1, by: [topic]", "no label 'topic'; its labels: app"),
        ("signal: {rate: negative}, above: 'max(0.3, 5pp)'", "is not a target"),
    ],
)
def test_errors_of_rules_on_ranks_and_labels_name_what_is_wrong(rule, problem):
    with pytest.raises(WrongSettings, match=re.escape(problem)):
        parse_rules(f"rules: [{{name: a, {rule}}}]", name="rules.yaml", receivers=())


def test_the_signal_chooses_the_method_of_ranks_and_labels():
    text = "rules: [{name: a, signal: {ranks: qrd}}, {name: b, signal: {true_rate: negative}, above: 0.1}]"
    ranks, labels = parse_rules(text, name="rules.yaml", receivers=()).rules
    assert (ranks.method, labels.method) == (Shift(), Rate(above=0.1))


def test_the_inhibition_of_the_shipped_rules_covers_quality():
    rules = load_rules(None, receivers=("console",))
    (inhibition,) = rules.inhibitions
    quality = [rule for rule in rules.rules if rule.labels["about"] == "quality"]
    ingestion = [rule for rule in rules.rules if rule.labels["about"] == "ingestion"]
    behind = [
        rule for rule in ingestion if rule.name != "dead-letters"
    ]  # those of one source say nothing of the others
    for source in ingestion:
        for target in quality:
            assert inhibition.holds({**source.labels, "rule": source.name}, target.labels) is (source in behind)


@pytest.mark.parametrize(
    ("line", "column", "message", "change"),
    [
        (1, 17, "grouping.by[0]: must be a text", ("[app, team], wait", "[1, team], wait")),
        (1, 35, "grouping.wait: '1' is not a duration", ("1s", '"1"')),
        (1, 53, "grouping.often: unknown key", ("repeat", "often")),
        (3, 14, "inhibit[0].source[0]: 'about' is not a matcher", ("'about=\"ingestion\"'", "about")),
        (3, 35, "inhibit[0].source[1]: 'critical(' is not a regular expression", ("critical|warning", "critical(")),
        (4, 13, "inhibit[0].target[0]: must be a matcher such as", ('about="quality"', "3")),
        (7, 11, "rules[0].name: ", ("negative-rate", '"a\\tb"')),
        (8, 21, "rules[0].selector.app[0]: must be a text", ("[support, shop]", "12")),
        (8, 24, "rules[0].selector.source: rate of negative has no label 'source'", ("app: [", "source: [")),
        (9, 15, "rules[0].by[1]: ", ("topic", "tenant")),
        (9, 9, "rules[0].by: 'app' is listed twice", ("app, topic", "app, app")),
        (9, 9, "rules[0].by.source: rate of negative has no label 'source'; its labels: app", ("app, topic", "source")),
        (10, 13, "rules[0].signal: there is no {rate: negatif}", ("negative}", "negatif}")),
        (
            10,
            13,
            "rules[0].signal: {'rate': 'negative', 'mean': 'sdq'} is not a",
            ("negative}", "negative, mean: sdq}"),
        ),
        (10, 13, "rules[0].signal: 'rate' is not a signal", ("{rate: negative}", "rate")),
        (10, 13, "rules[0].signal: the method 'threshold' takes cost, dead_letters", ("{rate: negative}", "no_data")),
        (11, 13, "rules[0].method: unknown method 'burn'", ("threshold", "burn")),
        (12, 12, "rules[0].above: must be between 0 and 1", ("0.30", "30")),
        (12, 12, "rules[0].above: must be between 0 and 1", ("0.30", "0")),
        (12, 12, "rules[0].above: nan is not a target", ("0.30", ".nan")),
        (12, 12, "rules[0].above: 'baseline plus 1' is not a target", ("0.30", "baseline plus 1")),
        (12, 12, "rules[0].above: set either above or below", ("above: 0.30", "above: 0.30\n    below: 0.1")),
        (13, 13, "rules[0].window: must be a whole number of minutes", ("5m", "90s")),
        (13, 13, "rules[0].window: 90 is not a duration", ("5m", "1:30")),
        (14, 18, "rules[0].min_samples: must be 1 or more", ("30\n    conf", "0\n    conf")),
        (15, 16, "rules[0].confident: must be true or false", ("true", "2")),
        (17, 5, "rules[0].fro: unknown key", ("for: 2m", "fro: 2m")),
        (17, 10, "rules[0].for: '2 min' is not a duration", ("2m\n    keep", "2 min\n    keep")),
        (19, 14, "rules[0].no_data: ", ("alerting", "ok")),
        (20, 12, "rules[0].error: ", ("keep_last", "no_data")),
        (21, 15, "rules[0].severity: ", ("severity: critical", "severity: page")),
        (22, 13, "rules[0].labels: 'app' is a label that monitor sets itself", ("team: support", "app: x")),
        (22, 13, "rules[0].labels: 'my team' is not a label name", ("team: support", "my team: x")),
        (23, 28, "rules[0].annotations.summary: contains a character", ("Look at it", "\\0")),
        (24, 24, "rules[0].receivers[1]: receiver 'pager' is not configured; configured: con", ("console", "pager")),
        (24, 16, "rules[0].receivers: ", ("[slack, console]", "[]")),
    ],
)
def test_an_error_names_file_line_and_column(line, column, message, change):
    assert FULL.replace(*change) != FULL
    found = problems(FULL.replace(*change))
    assert [p for p in found if p.startswith(f"rules.yaml:{line}:{column}: {message}")], found


@pytest.mark.parametrize(
    ("where", "message", "change"),
    [
        ("4:12", "above: no baseline is learnt for the lag: set a number", ("300", "baseline")),
        ("2:5", "confident: the lag is a momentary state", ("above: 300", "confident: true\n    above: 300")),
        ("4:12", "below: only a mean can be too low", ("above: 300", "below: 300")),
    ],
)
def test_what_does_not_suit_a_state_of_now_is_refused(where, message, change):
    (found,) = problems(OF_LAG.replace(*change))
    if "confident" in message:
        where = "4:16"
    assert found.startswith(f"rules.yaml:{where}: rules[0].{message}")


@pytest.mark.parametrize(
    ("where", "message", "change"),
    [
        ("5:14", "allowed: a burn rate of 6 cannot be exceeded with 0.2 allowed", ("0.05", "0.2")),
        ("5:14", "allowed: must be between 0 and 1", ("0.05", "5")),
        ("7:27", "windows[0].short: must be shorter than long", ("5m", "1h")),
        ("8:40", "windows[1].factor: must be a number", ("3}", "x}")),
        ("8:32", "windows[1].factr: unknown key", ("30m, factor", "30m, factr")),
        ("8:9", "windows[1].long: is missing", ("long: 6h, ", "")),
        ("7:9", "windows[0]: must be a mapping", ("{long: 1h, short: 5m, factor: 6}", "page")),
        ("6:5", "windows: set either windows or preset", ("windows:", "preset: page\n    windows:")),
    ],
)
def test_an_error_in_a_nested_parameter_is_located_too(where, message, change):
    assert BURNING.replace(*change) != BURNING
    found = problems(BURNING.replace(*change))
    if "preset" in message:
        where = "8:7"
    assert [p for p in found if p.startswith(f"rules.yaml:{where}: rules[0].{message}")], found


def test_an_unreachable_preset_says_what_is_highest():
    (found,) = problems("rules:\n  - {name: a, signal: {rate: negative}, method: burn_rate, allowed: 0.07}\n")
    assert found.startswith("rules.yaml:2:69: rules[0].allowed: a burn rate of 14.4 cannot be exceeded")
    assert "allow less than 0.0694" in found


def test_a_missing_field_is_named_where_the_rule_begins():
    assert problems("rules:\n  - name: x\n    above: 0.2\n    window: 5m\n") == [
        "rules.yaml:2:5: rules[0].signal: is missing"
    ]
    assert problems("rules:\n  - {name: x, signal: {rate: refusal}}\n") == [
        "rules.yaml:2:5: rules[0].above: set either above or below"
    ]


def test_all_errors_are_reported_at_once():
    text = "rules:\n" + SHORT.replace("0.2", "x").replace("10m", "y") % "a" + SHORT.replace("0.2", "2") % "a"
    assert [line.split(": ")[1] for line in problems(text)] == [
        "rules[0].above",
        "rules[0].window",
        "rules[1].name",
        "rules[1].above",
    ]


def test_rule_names_are_unique():
    assert problems("rules:\n" + SHORT % "a" + SHORT % "a") == [
        "rules.yaml:3:12: rules[1].name: another rule is already named 'a'"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules:\n- name: a\n  name: b\n", "rules.yaml:3:3: the key 'name' is already in line 2"),
        ("rules: [", "rules.yaml:1:9: "),
        ("\trules: []", "rules.yaml:1:1: "),
        ("rules: !!python/object/apply:os.system [ls]", "rules.yaml:1:8: "),
        ("rules: &a [*a]", "rules.yaml:1:8: rules[0]: must be a mapping"),
        ("[" * 5_000, "rules.yaml:1:101: "),
        ("a: 2020-99-99", "rules.yaml:1:1: "),
        ("x: \x01", "rules.yaml:1:4: "),
        ("rules: []\n---\nrules: []\n", "rules.yaml:2:1: "),
        ("", "rules.yaml:1:1: file: is empty; it needs rules"),
        ("- a", "rules.yaml:1:1: file: must be a mapping"),
        ("grouping: {weit: 1m}\nrules: []", "rules.yaml:1:12: grouping.weit: unknown key; did you mean wait?"),
        ("inhibit: {}\nrules: []", "rules.yaml:1:10: inhibit: "),
        ("rules: []", "rules.yaml:1:8: rules: has no rules, so nobody would ever be alerted"),
    ],
)
def test_invalid_files_are_refused_with_the_position(text, message):
    assert problems(text)[0].startswith(message)


def test_merge_keys_work_and_are_located():
    base = "base: &b {signal: {rate: refusal}, window: 5m}\n"
    assert "unknown key" in problems(base + "rules: []")[0]
    text = "rules:\n  - &b {name: a, signal: {rate: refusal}, above: 0.2, window: 5m}\n  - {<<: *b, name: b}\n"
    assert [rule.name for rule in parse(text).rules] == ["a", "b"]


@given(st.text(alphabet=st.sampled_from("rules:[]{}- \n&*!|>'\"#%@`namewido0.5m\\"), max_size=80))
def test_no_text_breaks_the_reader(text):
    with suppress(WrongSettings):
        parse(text)


KEYS = [
    *("above", "alpha", "allowed", "below", "by", "expected", "false_alarm_every", "for", "labels", "lateness"),
    *("no_data", "preset", "receivers", "selector", "severity", "signal", "target", "weeks", "window", "windows"),
]
any_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["5m", "baseline", "app", "page", "x=1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["rate", "app"]), inner, max_size=2),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from(KEYS), any_value, max_size=5),
    st.sampled_from([*METHODS, None]),
)
def test_no_value_breaks_the_reader(entry, method):
    known = {"name": "a", "signal": {"rate": "refusal"}, **({"method": method} if method else {})}
    # YAML reads JSON, but for two of its words
    text = json.dumps({"rules": [{**known, **entry}]}).replace("NaN", ".nan").replace("Infinity", ".inf")
    with suppress(WrongSettings):
        parse(text)


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    with pytest.raises(WrongSettings, match="cannot read the alert rules"):
        load_rules(tmp_path / "none.yaml", receivers=())
    (tmp_path / "latin.yaml").write_bytes(b"rules: [\xe4]")
    with pytest.raises(WrongSettings, match="cannot read the alert rules"):
        load_rules(tmp_path / "latin.yaml", receivers=())


def test_tuning_keeps_the_digest_and_measuring_something_else_changes_it():
    (rule,) = parse(FULL).rules
    tuned_text = FULL.replace("0.30", "0.4").replace("window: 5m", "window: 10m").replace("for: 2m", "for: 9m")
    (tuned,) = parse(tuned_text).rules
    (other,) = parse(FULL.replace("[app, topic]", "[app]")).rules
    assert rule != tuned
    assert rule.digest == tuned.digest != other.digest
