from __future__ import annotations

from datetime import time, timedelta

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.file import load_probes, parse_probes

COMMAND = "target: {command: [cat]}"
HTTP = "target: {http: {url: 'http://x', body: '{question}', answer: $.a"


def one(fields):
    (probe,) = parse_probes(f"probes: [{{name: p, app: a, golden: g, {fields}}}]", name="f.yaml").values()
    return probe


def refused(fields):
    with pytest.raises(WrongSettings) as caught:
        one(fields)
    return str(caught.value)


def test_a_probe_with_nothing_but_what_it_needs():
    probe = one(COMMAND)
    assert (probe.name, probe.app, probe.golden, probe.environment) == ("p", "a", "g", "production")
    assert (probe.every, probe.at, probe.turns, probe.repeats, probe.concurrency) == (None, None, 1, 1, 4)
    assert (probe.per_second, probe.timeout, probe.version) == (None, timedelta(minutes=1), "")
    assert probe.open_retriever() is None


def test_a_probe_with_everything():
    probe = one(
        f'every: 6h, turns: 5, per_second: 2, timeout: 90s, version: "1", {COMMAND}, retriever: {{command: [ls]}}'
    )
    assert (probe.every, probe.turns, probe.per_second) == (timedelta(hours=6), 5, 2.0)
    assert (probe.open_target().place, probe.open_retriever().place) == ("command cat", "command ls")
    assert one(f'at: "06:30", {COMMAND}').at == time(6, 30)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (f"colour: red, {COMMAND}", "probes[0].colour: unknown key"),
        (
            "target: {http: {url: x, body: '{question}', answer: $.a, verb: PUT}}",
            "probes[0].target.http.verb: unknown key",
        ),
        ("target: {}", "name one of http, chat, python and command"),
        ("target: {python: 'm:f', command: [cat]}", "name one of http, chat, python and command"),
        ("target: {http: {url: 'http://x', body: {q: hello}, answer: $.a}}", "nothing would be asked"),
        (f"{HTTP}, documents: '$..x'}}}}", "probes[0].target.http.documents: '$..x' is no supported JSONPath"),
        (HTTP.replace("'{question}'", "{q: '{question}', n: .nan}") + "}}", "holds what JSON cannot"),
        (f"every: 6h, at: '06:30', {COMMAND}", "give every or at, not both"),
        (f"every: 30s, {COMMAND}", "every must be 1m or longer"),
        (f"every: often, {COMMAND}", "'often' is not a duration"),
        (f"at: 7, {COMMAND}", "must be a time of day in UTC, in quotes"),
        (f"at: '06:30+02:00', {COMMAND}", "must be a time of day in UTC"),
        (f"at: '25:00', {COMMAND}", "must be a time of day in UTC"),
        (f"turns: 21, {COMMAND}", "probes[0].turns: "),
        (f"per_second: 0, {COMMAND}", "probes[0].per_second: "),
        (f"per_second: true, {COMMAND}", "probes[0].per_second: "),
        (f"timeout: 0s, {COMMAND}", "timeout must be between"),
        (f"timeout: 2h, {COMMAND}", "timeout must be between"),
        ("turns: 2", "probes[0].target: "),
    ],
)
def test_what_is_wrong_is_named_with_its_place(fields, said):
    message = refused(fields)
    assert message.startswith("f.yaml:1:")
    assert said in message


def test_each_error_has_its_own_line():
    text = f"probes:\n- name: p\n  app: a\n  golden: g\n  colour: red\n  turns: 0\n  {COMMAND}\n"
    with pytest.raises(WrongSettings) as caught:
        parse_probes(text, name="f.yaml")
    assert [line.split(": ")[0] for line in sorted(str(caught.value).splitlines())] == ["f.yaml:5:3", "f.yaml:6:10"]


@pytest.mark.parametrize("text", ["", "probes: []", "- x", "probes: [1]", "probes: [", "probes: {a: 1}", "a: &x [*x]"])
def test_what_is_no_file_of_probes(text):
    with pytest.raises(WrongSettings, match=r"^f\.yaml:\d+:\d+: "):
        parse_probes(text, name="f.yaml")


def test_a_name_stands_once():
    probe = f"{{name: p, app: a, golden: g, {COMMAND}}}"
    with pytest.raises(WrongSettings, match="two probes are called 'p'"):
        parse_probes(f"probes: [{probe}, {probe}]", name="f.yaml")


def test_a_missing_secret_is_told_when_the_target_is_opened(monkeypatch):
    monkeypatch.delenv("BOT_KEY", raising=False)
    probe = one("target: {chat: {base_url: 'http://x/v1', model: m, api_key: '${env:BOT_KEY}'}}")
    with pytest.raises(WrongSettings, match="the environment has no BOT_KEY"):
        probe.open_target()


def test_a_secret_stands_in_no_repr(monkeypatch):
    monkeypatch.setenv("BOT_KEY", "TopSecretChatbotKey")
    probe = one("target: {chat: {base_url: 'http://x/v1', model: m, api_key: '${env:BOT_KEY}'}}")
    target = probe.open_target()
    assert "TopSecret" not in f"{probe!r} {target!r} {target.place}"
    target.close()


def test_files(tmp_path):
    file = tmp_path / "probes.yaml"
    with pytest.raises(WrongSettings, match="cannot read the probes: No such file"):
        load_probes(file)
    file.write_bytes(b"\xff")
    with pytest.raises(WrongSettings, match="cannot read the probes: "):
        load_probes(file)
    file.write_text(f"probes: [{{name: p, app: a, golden: g, {COMMAND}}}]", encoding="utf-8")
    assert list(load_probes(file)) == ["p"]
