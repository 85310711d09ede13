"""The file of probes: what it says, and its errors with line and column."""

from __future__ import annotations

from datetime import time, timedelta

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.file import load_probes, parse_probes

WHOLE = """\
probes:
  - name: support
    app: support-bot
    golden: support
    at: "06:30"
    turns: 3
    repeats: 2
    concurrency: 16
    per_second: 5
    timeout: 30s
    version: v7
    target:
      http:
        url: https://bot.example/chat
        headers: {Authorization: "Bearer ${file:/run/secrets/bot}"}
        body: {question: "{question}", history: "{history}"}
        answer: $.answer
        documents: $.sources[*].text
    retriever:
      python: bot:retrieve
  - name: by hand
    app: support-bot
    environment: staging
    golden: support
    every: 1h30m
    target: {command: [./bot, --once]}
"""
TARGET = "target: {python: 'bot:answer'}"


def probe(*lines):
    return "probes:\n  - name: a\n    app: b\n    golden: c\n" + "".join(f"    {line}\n" for line in lines)


def errors(text):
    with pytest.raises(WrongSettings) as caught:
        parse_probes(text, name="p.yaml")
    return str(caught.value).splitlines()


def test_a_whole_file():
    found = parse_probes(WHOLE, name="p.yaml")
    assert [*found] == ["support", "by hand"]
    first, second = found.values()
    assert (first.app, first.environment, first.golden, first.version) == ("support-bot", "production", "support", "v7")
    assert (first.at, first.every, first.timeout) == (time(6, 30), None, timedelta(seconds=30))
    assert (first.turns, first.repeats, first.concurrency, first.per_second) == (3, 2, 16, 5.0)
    assert first.target.http.documents.text == "$.sources[*].text"
    assert first.retriever.python == "bot:retrieve"
    assert (second.environment, second.every, second.turns) == ("staging", timedelta(minutes=90), 1)
    assert second.target.command == ["./bot", "--once"]
    assert second.open_retriever() is None


def test_targets_are_opened_with_their_names():
    second = parse_probes(WHOLE, name="p.yaml")["by hand"]
    target = second.open_target()
    target.close()
    assert target.place == "command ./bot"
    chat = probe("target: {chat: {base_url: 'https://u:p@bot.example/v1', model: m, api_key: '${env:PATH}'}}")
    target = parse_probes(chat, name="p.yaml")["a"].open_target()
    target.close()
    assert target.place == "http https://bot.example/v1/chat/completions"


def test_a_secret_that_is_missing_is_told_when_the_target_is_opened():
    found = parse_probes(WHOLE, name="p.yaml")
    where = r"p\.yaml:15:34: probes\[support\]\.target\.http\.headers\.Authorization"
    with pytest.raises(WrongSettings, match=f"^{where}: cannot read /run/secrets/bot: No such file"):
        found["support"].open_target()
    with pytest.raises(
        WrongSettings, match=r"^p\.yaml:20:15: probes\[support\]\.retriever\.python: cannot load 'bot:retr"
    ):
        found["support"].open_retriever()
    chat = probe("target: {chat: {base_url: 'https://bot.example/v1', model: m, api_key: '${env:NO_SUCH_KEY}'}}")
    where = r"p\.yaml:5:76: probes\[a\]\.target\.chat\.api_key"
    with pytest.raises(WrongSettings, match=f"^{where}: the environment has no NO_SUCH_KEY: set it$"):
        parse_probes(chat, name="p.yaml")["a"].open_target()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "p.yaml:1:1: file: is empty; it needs probes"),
        ("probes: []\n", "p.yaml:1:9: probes: must not be empty"),
        ("- a\n", "p.yaml:1:1: file: must be a mapping of keys to values"),
        ("probe: []\n", "p.yaml:1:1: probe: unknown key; did you mean probes?"),
        (WHOLE.replace("name: by hand", "name: [by hand]"), "p.yaml:21:11: probes[1].name: must be a text"),
        ("probes:\n  - [\n", "p.yaml:3:1: "),
        (probe(TARGET, "colour: red"), "p.yaml:6:5: probes[a].colour: unknown key; known: name, app, environment"),
        (probe("target: {}"), "p.yaml:5:13: probes[a].target: name one of http, chat, python and command"),
        (
            probe("target: {python: 'a:b', command: [x]}"),
            "p.yaml:5:13: probes[a].target: name one of http, chat, python and command",
        ),
        (probe("target: {command: []}"), "p.yaml:5:23: probes[a].target.command: must name a program"),
        (probe("target: {command: ['']}"), "p.yaml:5:23: probes[a].target.command: must name a program"),
        (probe("target: {python: bot}"), "p.yaml:5:22: probes[a].target.python: must be module:function"),
        (
            probe("target: {http: {url: 'ftp://b', body: '{question}', answer: $.a}}"),
            "p.yaml:5:26: probes[a].target.http.url: must be an http or https URL",
        ),
        (
            probe("target: {http: {url: 'http://b?k=${file:/k}', body: '{question}', answer: $.a}}"),
            "p.yaml:5:26: probes[a].target.http.url: secrets are filled into headers and api_key only",
        ),
        (
            probe("target: {http: {url: 'http://b', body: {q: '{question}', k: '${env:K}'}, answer: $.a}}"),
            "p.yaml:5:44: probes[a].target.http.body: secrets are filled into headers and api_key only",
        ),
        (
            probe("target: {http: {url: 'http://b', headers: {'a b': x}, body: '{question}', answer: $.a}}"),
            "p.yaml:5:47: probes[a].target.http.headers: 'a b' cannot be the name of a header",
        ),
        (
            probe("target: {http: {url: 'http://b', body: '{question}'}}"),
            "p.yaml:5:13: probes[a].target: http.answer is missing",
        ),
        (
            probe(TARGET, "retriever: {http: {url: 'http://b', body: '{question}', answer: $.a}}"),
            "p.yaml:6:16: probes[a].retriever: http.documents is missing",
        ),
        (
            probe("target: {chat: {base_url: '', model: m}}"),
            "p.yaml:5:31: probes[a].target.chat.base_url: must be an http or https",
        ),
        (
            probe("target: {chat: {base_url: 'http://b', model: m, extra: {messages: [], user: x}}}"),
            "p.yaml:5:60: probes[a].target.chat.extra: cannot set messages, user: the probe does",
        ),
        (probe(TARGET, "per_second: 0.0000001"), "p.yaml:6:17: probes[a].per_second: must be 0.001 or more"),
        (
            probe("target: {http: {url: 'http://b', body: {question: '{question}'}, answer: answer}}"),
            "p.yaml:5:78: probes[a].target.http.answer: 'answer' is no JSONPath: it begins with $",
        ),
        (
            probe("target: {http: {url: 'http://b', body: {question: '{query}'}, answer: $.a}}"),
            "p.yaml:5:20: probes[a].target.http: body holds neither",
        ),
        (
            probe("target: {http: {url: 'http://b', body: {q: '{question}', h: '{histroy}'}, answer: $.a}}"),
            "p.yaml:5:44: probes[a].target.http.body: {histroy} is no placeholder: did you mean {history}? The ",
        ),
        (
            probe("target: {http: {url: 'http://b', bodies: 1, body: '{question}', answer: $.a}}"),
            "p.yaml:5:38: probes[a].target.http.bodies: unknown key; did you mean body?",
        ),
        (probe(TARGET, "every: soon"), "p.yaml:6:12: probes[a].every: 'soon' is not a duration"),
        (probe(TARGET, "every: 30s"), "p.yaml:6:12: probes[a].every: must be 1m or longer"),
        (probe(TARGET, "every: 1h", "at: '06:00'"), "p.yaml:2:5: probes[a]: give every or at, not both"),
        (probe(TARGET, "at: 10:30"), "p.yaml:6:9: probes[a].at: must be a time of day in UTC, in quotes"),
        (probe(TARGET, "at: '25:00'"), "p.yaml:6:9: probes[a].at: must be a time of day in UTC, in quotes"),
        (probe(TARGET, "at: '06:00+02:00'"), "p.yaml:6:9: probes[a].at: must be a time of day in UTC, in quotes"),
        (probe(TARGET, "timeout: 0s"), "p.yaml:6:14: probes[a].timeout: must be above 0 and at most 1h"),
        (probe(TARGET, "timeout: 2h"), "p.yaml:6:14: probes[a].timeout: must be above 0 and at most 1h"),
        (probe(TARGET, "turns: 0"), "p.yaml:6:12: probes[a].turns: "),
        (probe(TARGET, "turns: 21"), "p.yaml:6:12: probes[a].turns: must be 20 or less"),
        (probe(TARGET, "turns: '3'"), "p.yaml:6:12: probes[a].turns: must be a whole number"),
        (probe(TARGET, "turn: 3"), "p.yaml:6:5: probes[a].turn: unknown key; did you mean turns?"),
        (probe(TARGET, "turns: true"), "p.yaml:6:12: probes[a].turns: "),
        (probe(TARGET, "concurrency: 0"), "p.yaml:6:18: probes[a].concurrency: "),
        (probe(TARGET, "repeats: 10"), "p.yaml:6:14: probes[a].repeats: "),
        (probe(TARGET, "per_second: 0"), "p.yaml:6:17: probes[a].per_second: "),
        (probe(TARGET, "per_second: .nan"), "p.yaml:6:17: probes[a].per_second: "),
        (probe(TARGET, "per_second: .inf"), "p.yaml:6:17: probes[a].per_second: "),
        (probe(TARGET, "per_second: true"), "p.yaml:6:17: probes[a].per_second: "),
        (probe(TARGET, "environment: 'a/b'"), "p.yaml:6:18: probes[a].environment: must have 1 to 100 characters"),
        (probe(TARGET, 'environment: "a\\tb"'), "p.yaml:6:18: probes[a].environment: must have 1 to 100 characters"),
        (probe(), "p.yaml:2:5: probes[a].target: is missing"),
        (probe(TARGET) + probe(TARGET)[8:], "p.yaml:6:11: probes[a].name: the probe in line 2 has this name already"),
    ],
)
def test_errors_name_line_and_column(text, error):
    found = errors(text)
    assert any(line.startswith(error) for line in found), found


def test_every_error_is_named():
    found = errors(probe("target: {}", "turns: 0", "colour: red"))
    assert len(found) == 3


def test_files_that_cannot_be_read_are_named(tmp_path):
    (tmp_path / "latin").write_bytes(b"probes: \xff")
    for name, why in (("nowhere", "No such file"), ("latin", "cannot read the probes"), (".", "Is a directory")):
        with pytest.raises(WrongSettings, match=why):
            load_probes(tmp_path / name)
    (tmp_path / "p.yaml").write_text(WHOLE)
    assert [*load_probes(tmp_path / "p.yaml")] == ["support", "by hand"]


def test_a_secret_stands_in_no_repr(monkeypatch):
    monkeypatch.setenv("BOT_KEY", "TopSecretChatbotKey")
    text = probe("target: {chat: {base_url: 'http://x/v1', model: m, api_key: '${env:BOT_KEY}'}}")
    found = parse_probes(text, name="p.yaml")["a"]
    target = found.open_target()
    assert "TopSecret" not in f"{found!r} {target!r} {target.place}"
    target.close()
