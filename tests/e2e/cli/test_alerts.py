"""Alerts as an on-call engineer meets them: a process that runs, Slack, and the commands."""

from __future__ import annotations

import pytest

from tests.rig.installation import REFUSAL, RULES
from tests.rig.waiting import until
from tests.servers.slack import APP_TOKEN, CHANNEL, HOOK_PATH, TOKEN, Trouble, buttons, click, shown, slack_server

HASH = {"INGEST__BATCH_MS": "20", "EVALUATION_INTERVAL": "0.3", "EMBEDDING__PROVIDER": "hash"}
SECOND_RULE = """
  - name: negative
    signal: {rate: negative}
    above: 0.5
    min_samples: 4
    lateness: 0s
"""


@pytest.fixture
def rules(tmp_path):
    file = tmp_path / "rules.yaml"
    file.write_text(RULES)
    return file


@pytest.fixture
def slack():
    with slack_server() as server:
        yield server


@pytest.fixture
def to_slack(slack):
    return {"SLACK__BOT_TOKEN": TOKEN, "SLACK__CHANNEL": CHANNEL, "SLACK__API_URL": slack.url}


def append(file, *lines):
    with file.open("a") as opened:
        opened.writelines(lines)


def refusals(event, number, **over):
    return [event(f"bad {n}", answer=REFUSAL, **over) for n in range(number)]


def test_an_incident_from_its_first_page_to_its_end(monitor, log, event, rules, slack, to_slack):  # noqa: PLR0915
    monitor.settings |= {"RULES": str(rules), "SLACK__APP_TOKEN": APP_TOKEN, **HASH, **to_slack}

    def root():
        (one,) = slack.roots()
        return shown(one.payload)

    def lines():
        return [shown(line.payload) for line in slack.thread(slack.roots()[0].ts)]

    append(log, *refusals(event, 5))
    running = monitor.start("run", log)
    until("somebody is called", slack.roots)
    for words in ("Firing", "too-many-refusals", "The bot refuses.", "support-bot", "100.0 %", REFUSAL):
        assert words in root()

    # the rules change while it runs: wrong ones are told of and leave those of before, right ones hold
    rules.write_text(RULES.replace("above: 0.5", "above: 5"))
    until("what is wrong is logged", lambda: "rules.yaml:6:12: rules[0].above" in running.err)
    rules.write_text(RULES + SECOND_RULE)
    until("the new rules hold", lambda: "alert rules in force: 2" in running.err)
    until("its alert joins the others", lambda: any("joined" in line for line in lines()))
    assert "and 1 more" in root()
    assert "too-many-refusals" in root()  # which the wrong rules did not end

    # somebody is at it: one alert is acknowledged by command, the other by a click
    done = monitor.run("alerts", "ack", "too-many-refusals", "--by", "grace", "--comment", "the index is gone")
    assert (done.returncode, done.stdout) == (0, "1 acknowledged\n")
    until("Slack is told", lambda: any("Acknowledged by grace" in line for line in lines()))
    until("the listener is there", lambda: slack.socket.connected)
    acknowledge = buttons(slack.roots()[0].payload)["Acknowledge"]
    slack.socket.send(click(acknowledge["action_id"], acknowledge["value"], response_url=slack.response_url))
    until("Slack is told", lambda: any("Acknowledged by slack:U0ADA (ada)" in line for line in lines()))
    until("so is who clicked", lambda: slack.replies)
    assert "acknowledged" in shown(slack.replies[0])
    again = monitor.run("alerts", "ack", "negative", "--by", "grace")
    assert (again.returncode, again.stdout) == (0, "1 already by slack:U0ADA (ada)\n")

    # silenced, and not any more
    silence = monitor.json("alerts", "silence", "app=support-bot", "--for", "2h", "--by", "grace", "--comment", "known")
    assert silence["silences"] == ["negative", "too-many-refusals"]
    until("Slack is told", lambda: any("Silenced" in line for line in lines()))
    (held,) = monitor.json("alerts", "silences")
    assert (held["id"], held["matchers"]) == (silence["id"], ['app="support-bot"'])
    assert (held["created_by"], held["comment"]) == ("grace", "known")
    assert f"{silence['id']} has ended" in monitor.run("alerts", "unsilence", silence["id"]).stdout
    assert monitor.json("alerts", "silences") == []
    assert monitor.run("alerts", "unsilence", silence["id"]).returncode == 2
    until("it is told of again", lambda: any("Still firing" in line for line in lines()))

    # a restart in between, and its end
    assert running.terminate() == 0
    listed = monitor.json("alerts", "list")
    assert [(a["rule"], a["state"], a["labels"]) for a in sorted(listed["alerts"], key=lambda a: a["rule"])] == [
        ("negative", "firing", {"app": "support-bot"}),
        ("too-many-refusals", "firing", {"app": "support-bot"}),
    ]
    assert listed["unsent"] == listed["silences"] == []
    again = monitor.start("run", log)
    append(log, *(event(f"good {n}") for n in range(40)))
    until("it is over", lambda: "Resolved" in root())
    until("the thread says so", lambda: any("Resolved after" in line for line in lines()))
    assert again.terminate() == 0
    assert slack.roots()[0].edits >= 5
    for said in (running.err, again.err):
        assert "Traceback" not in said
        assert TOKEN not in said
        assert APP_TOKEN not in said

    # what became of it
    (alert,) = [a for a in monitor.json("alerts", "list")["alerts"] if a["rule"] == "too-many-refusals"]
    assert (alert["state"], alert["acknowledged_by"]) == ("resolved", "grace (the index is gone)")
    history = monitor.json("alerts", "show", alert["fingerprint"][:12])
    assert [a["fingerprint"] for a in history["alerts"]] == [alert["fingerprint"]]
    assert [(e["from_state"], e["to_state"]) for e in history["events"]] == [
        ("inactive", "firing"),
        ("firing", "resolved"),
    ]
    assert [(a["action"], a["by"], a["comment"]) for a in history["actions"]] == [
        ("acknowledge", "grace", "the index is gone")
    ]
    told = [n["news"] for n in history["notifications"] if n["receiver"] == "slack"]
    assert (told[0], told[-1]) == ("firing", "resolved")
    assert {"changed", "acknowledged", "silenced", "repeated"} <= set(told)
    assert all(n["delivered_at"] for n in history["notifications"])
    assert history["explanations"].keys() == {alert["episode"]}
    page = monitor.run("alerts", "show", "too-many-refusals").stdout
    for words in (
        "resolved, critical",
        "The bot refuses.",
        "firing → resolved",
        "by grace the index is gone",
        "to slack",
    ):
        assert words in page


def test_an_alert_on_the_console_is_listed_and_resolves(monitor, log, event, rules, stored):
    append(log, *refusals(event, 5))
    running = monitor.start("run", log, RULES=str(rules), **{**HASH, "EMBEDDING__PROVIDER": "minilm"})
    until("the alert is told", lambda: "Firing: too-many-refusals" in running.err)
    assert "[critical]" in running.err
    append(log, *(event(f"good {n}") for n in range(20)))
    stored(25)
    until("its end is told", lambda: "Resolved: too-many-refusals" in running.err)
    assert running.terminate() == 0
    assert "Traceback" not in running.err
    listed = monitor.json("alerts", "list")
    (alert,) = listed["alerts"]
    assert (alert["rule"], alert["state"]) == ("too-many-refusals", "resolved")
    assert listed["unsent"] == []
    (rule,) = listed["rules"]
    assert (rule["rule"], rule["error"], rule["stale_since"]) == ("too-many-refusals", None, None)
    assert monitor.run("alerts", "show", "ffff").returncode == 2
    assert monitor.run("alerts", "ack", "too-many-refusals").returncode == 1  # it is not active


def test_notifications_wait_in_the_outbox_while_slack_is_down_and_the_list_says_so(monitor, log, event, rules):
    append(log, *refusals(event, 5))
    to_slack = {"SLACK__BOT_TOKEN": TOKEN, "SLACK__CHANNEL": CHANNEL, "SLACK__API_URL": "http://127.0.0.1:1/api/"}
    running = monitor.start("run", log, RULES=str(rules), **HASH, **to_slack)
    until("the failure is noted", lambda: "slack:" in running.err)
    assert running.terminate() == 0
    (unsent,) = monitor.json("alerts", "list")["unsent"]
    assert (unsent["receiver"], unsent["waiting"], unsent["lost"]) == ("slack", 1, 0)
    assert "slack: undelivered notifications (1 waiting) since" in monitor.run("alerts", "list").stdout


def test_a_hostile_name_steers_no_terminal_and_a_narrow_one_cuts_nothing(monitor, log, event, rules, rows):
    hostile = "\x1b[2J\x1b]0;owned\x07shop\u202egnirts :bug: [red]"
    append(log, *refusals(event, 5, app=hostile))
    running = monitor.start("run", log, RULES=str(rules), **HASH)
    until("it fires", lambda: rows("SELECT 1 FROM alert WHERE state = 'firing'"))
    assert running.terminate() == 0
    ((fingerprint,),) = rows("SELECT fingerprint FROM alert")
    by = "\x1b[31meve\x9b"
    told = [
        running.err,
        monitor.run("alerts", "ack", fingerprint[:8], "--by", by).stdout,
        monitor.run("alerts", "ack", fingerprint[:8]).stdout,
        monitor.run("alerts", "silence", "app=\x1b[2Jshop", "rule=x", "--by", by, "--comment", by).stdout,
    ]
    for width in (60, 80):
        for command in (["list"], ["show", "too-many-refusals"], ["silences"]):
            ended = monitor.run("alerts", *command, columns=width)
            assert ended.returncode == 0
            assert max(map(len, ended.stdout.splitlines())) <= width
            told.append(ended.stdout)
            whole = {"list": fingerprint[:12], "show": "too-many-refusals", "silences": "eve"}[command[0]]
            assert whole in ended.stdout
    for text in told:
        assert not any(character in text for character in "\x1b\x07\x9b\u202e"), text


@pytest.mark.parametrize(
    ("trouble", "code", "says"),
    [
        (None, 0, "firing: accepted"),
        (Trouble(error="channel_not_found"), 1, "refused: slack: channel_not_found"),
        (Trouble(status=500, body="no"), 3, "`monitor run` would try again"),
    ],
    ids=["taken", "refused", "out of reach"],
)
def test_a_receiver_is_tried(monitor, slack, to_slack, trouble, code, says):
    if trouble is not None:
        slack.script_of["chat.postMessage"] = [trouble]
    ended = monitor.run("alerts", "test", "slack", **to_slack)
    assert ended.returncode == code
    assert says in ended.stdout + ended.stderr
    assert "bot monitor of Quillmere" in ended.stdout
    assert TOKEN not in ended.stdout + ended.stderr
    roots = [shown(root.payload) for root in slack.roots()]
    assert ["Resolved: monitor-test" in root and "Nothing is wrong" in root for root in roots] == [True] * (code == 0)


def test_a_receiver_that_is_unknown_or_out_of_reach(monitor, slack, to_slack):
    unknown = monitor.run("alerts", "test", "pager")
    assert unknown.returncode == 2
    assert "'pager' is not configured; configured: console" in unknown.stderr
    away = monitor.run("alerts", "test", "slack", **{**to_slack, "SLACK__API_URL": "http://127.0.0.1:1/api/"})
    assert away.returncode == 3
    hook = monitor.run("alerts", "test", "slack", SLACK__WEBHOOK_URL=slack.hook)
    assert hook.returncode == 0
    assert len(slack.roots()) == 2  # a webhook cannot edit
    assert HOOK_PATH not in hook.stdout + hook.stderr
    assert monitor.run("alerts", "test", "console").returncode == 0
