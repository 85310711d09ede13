"""`monitor run`: follows files, stops cleanly, goes on where it was, and says when the rules are broken."""

from __future__ import annotations

import json
import signal

import pytest

from tests.e2e.conftest import REFUSAL, RULES
from tests.slack_server import CHANNEL, TOKEN, shown, slack_server
from tests.waiting import until

QUICK = {"INGEST__BATCH_MS": "20", "EVALUATION_INTERVAL": "0.5"}
HASH = {**QUICK, "EMBEDDING__PROVIDER": "hash"}


@pytest.fixture
def rules(tmp_path):
    file = tmp_path / "rules.yaml"
    file.write_text(RULES)
    return str(file)


def append(file, *lines):
    with file.open("a") as opened:
        opened.writelines(lines)


def test_a_file_is_followed_as_it_grows_and_nothing_is_lost_on_sigterm(monitor, log, event, rows, stored):
    running = monitor.start("run", log, **QUICK)  # the file is not there yet
    append(log, event("1"), event("2"))
    stored(2)
    append(log, event("3"), "not JSON\n", event("2"), event("4")[:20])
    stored(3)
    append(log, event("4")[20:], event("5"))
    stored(5)
    append(log, *(event(f"more {n}") for n in range(50)))
    assert running.terminate() == 0
    assert "Traceback" not in running.err
    # how much of the last lines was fetched is a matter of chance; what was, is stored with its place
    ((place,),) = rows("SELECT next_offset FROM consumer_offset")
    read = log.read_bytes()[:place].splitlines(keepends=True)
    assert read[-1].endswith(b"\n")
    ids = {json.loads(line)["id"] for line in read if line.startswith(b"{")}
    assert {id_ for (id_,) in rows("SELECT id FROM interaction")} == ids
    assert f"{len(read)} received = {len(ids)} assessed + 1 duplicate + 1 dead" in running.err


def test_a_restart_reads_on_from_its_place(monitor, log, event, stored):
    append(log, event("1"), event("2"))
    first = monitor.start("run", log, **HASH)
    stored(2)
    assert first.terminate() == 0
    append(log, event("3"))
    second = monitor.start("run", log, **HASH)
    stored(3)
    assert second.terminate() == 0
    assert "1 received = 1 assessed + 0 duplicate + 0 dead" in second.err


def test_a_rotated_file_is_read_to_its_end_and_its_successor_from_its_beginning(monitor, log, event, stored, tmp_path):
    append(log, event("1"))
    running = monitor.start("run", log, **HASH)
    stored(1)
    log.rename(tmp_path / "answers.jsonl.1")
    append(tmp_path / "answers.jsonl.1", event("2"))  # the chatbot has not opened its new file yet
    append(log, event("3"), event("4"))
    stored(4)
    append(log, event("5"))
    stored(5)
    assert running.terminate() == 0
    assert "5 received = 5 assessed + 0 duplicate + 0 dead" in running.err


def test_a_file_that_is_emptied_in_place_is_read_from_its_beginning(monitor, log, event, stored):
    append(log, event("1"), event("2"))
    running = monitor.start("run", log, **HASH)
    stored(2)
    log.write_text(event("3"))
    stored(3)
    assert running.terminate() == 0


def test_nothing_is_lost_or_doubled_when_it_is_killed_with_the_hash_embedder(monitor, log, event, rows, stored):
    append(log, *(event(str(n)) for n in range(3000)))
    small = {**HASH, "INGEST__BATCH_EVENTS": "20"}
    for least in (1, 400, 800):
        running = monitor.start("run", log, **small)
        until(f"over {least} are stored", lambda n=least: rows("SELECT count(*) >= %s FROM interaction", n)[0][0])
        running.process.send_signal(signal.SIGKILL)
        running.ended()
    running = monitor.start("run", log, **HASH)
    stored(3000)
    assert running.terminate() == 0
    assert rows("SELECT sum(total)::bigint FROM verdict_minute") == [(3000,)]
    assert " 0 duplicate " in running.err


def test_standard_input_is_read_to_its_end(monitor, event, rows):
    running = monitor.start("run", "-", **HASH)
    running.write(event("1"))
    until("the line is stored", lambda: rows("SELECT count(*) FROM interaction") == [(1,)])
    running.write(event("2") + event("1"))
    running.process.stdin.close()
    assert running.ended() == 0
    assert "3 received = 2 assessed + 1 duplicate + 0 dead" in running.err
    running.process.stdin = None


def test_standard_input_that_stays_open_does_not_hold_up_sigterm(monitor, event, stored):
    running = monitor.start("run", "-", **HASH)
    running.write(event("1"))
    stored(1)
    assert running.terminate() == 0
    assert "1 received = 1 assessed" in running.err


def test_a_second_process_that_reads_the_same_file_is_stopped_and_nothing_is_doubled(monitor, log, event, rows, stored):
    append(log, event("1"))
    first = monitor.start("run", log, **HASH)
    stored(1)
    second = monitor.start("run", log, **HASH)
    number = 1

    def one_ends():
        nonlocal number
        number += 1
        append(log, event(str(number)))
        return first.process.poll() is not None or second.process.poll() is not None

    until("one of the two is stopped", one_ends)
    stopped, left = (first, second) if first.process.poll() is not None else (second, first)
    assert stopped.ended() == 1
    assert "another process reads it too" in stopped.err
    stored(number)
    assert left.terminate() == 0
    assert rows("SELECT sum(total)::bigint FROM verdict_minute") == [(number,)]


def test_a_folder_or_wrong_rules_are_told_before_anything_is_read(monitor, tmp_path):
    assert monitor.run("run", tmp_path).returncode == 2
    (tmp_path / "rules.yaml").write_text("rules:\n  - name: x\n")
    ended = monitor.run("run", "answers.jsonl", RULES=str(tmp_path / "rules.yaml"))
    assert ended.returncode == 2
    assert "rules.yaml:2" in ended.stderr


def test_an_alert_fires_on_the_console_and_is_listed_and_resolves(monitor, log, event, rules, stored):
    append(log, *(event(str(n), answer=REFUSAL) for n in range(5)))
    running = monitor.start("run", log, RULES=rules, **QUICK)
    until("the alert is told", lambda: "too-many-refusals" in running.err and "Rate of refusal" in running.err)
    assert "[critical]" in running.err
    assert "Firing" in running.err or "firing" in running.err
    append(log, *(event(f"good {n}") for n in range(20)))
    stored(25)
    until("its end is told", lambda: "Resolved: too-many-refusals" in running.err)
    assert running.terminate() == 0
    assert "Traceback" not in running.err
    (alert,) = monitor.json("alerts", "list")
    assert (alert["rule"], alert["state"], alert["waiting"]) == ("too-many-refusals", "resolved", 0)
    assert alert["labels"] == {"app": "support-bot"}
    assert alert["samples"] == 25
    history = monitor.json("alerts", "show", alert["fingerprint"][:12])
    assert [(row["from_state"], row["to_state"]) for row in history] == [("inactive", "firing"), ("firing", "resolved")]
    assert "too-many-refusals" in monitor.run("alerts", "list").stdout
    told = [line.split() for line in monitor.run("alerts", "show", "too-many-refusals").stdout.splitlines()[1:]]
    assert [(words[0], words[3], words[4]) for words in told] == [
        (alert["fingerprint"][:12], "inactive", "firing"),
        (alert["fingerprint"][:12], "firing", "resolved"),
    ]
    assert monitor.run("alerts", "show", "ffff").returncode == 2


def test_an_alert_is_posted_to_slack_once_over_a_restart(monitor, log, event, rules):
    append(log, *(event(str(n), answer=REFUSAL) for n in range(5)))
    with slack_server() as slack:
        to_slack = {"SLACK__BOT_TOKEN": TOKEN, "SLACK__CHANNEL": CHANNEL, "SLACK__API_URL": slack.url}
        settings = {"RULES": rules, **QUICK, **to_slack}
        running = monitor.start("run", log, **settings)
        until("Slack was told", slack.roots)
        until("that was noted", lambda: monitor.json("alerts", "list", **to_slack)[0]["waiting"] == 0)
        assert running.terminate() == 0
        assert TOKEN not in running.err
        again = monitor.start("run", log, **settings)
        append(log, *(event(f"good {n}") for n in range(20)))
        until("its end is told in the thread", lambda: slack.thread(slack.roots()[0].ts))
        assert again.terminate() == 0
        (root,) = slack.roots()
        text = shown(root.payload)
    assert "too-many-refusals" in text
    assert "The bot refuses." in text
    assert REFUSAL in text


def test_notifications_wait_in_the_outbox_while_slack_is_down(monitor, log, event, rules):
    append(log, *(event(str(n), answer=REFUSAL) for n in range(5)))
    to_slack = {"SLACK__BOT_TOKEN": TOKEN, "SLACK__CHANNEL": CHANNEL, "SLACK__API_URL": "http://127.0.0.1:1/api/"}
    running = monitor.start("run", log, RULES=rules, **HASH, **to_slack)
    until("the failure is noted", lambda: "slack:" in running.err)
    assert running.terminate() == 0
    assert [alert["waiting"] for alert in monitor.json("alerts", "list")] == [1]
