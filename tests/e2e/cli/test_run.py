"""`monitor run`: follows files, stops cleanly, goes on where it was, and says when the rules are broken."""

from __future__ import annotations

import json
import signal

from tests.rig.waiting import until

QUICK = {"INGEST__BATCH_MS": "20", "EVALUATION_INTERVAL": "0.5"}
HASH = {**QUICK, "EMBEDDING__PROVIDER": "hash"}


def append(file, *lines):
    with file.open("a") as opened:
        opened.writelines(lines)


def test_a_file_is_followed_as_it_grows_and_nothing_is_lost_on_sigterm(monitor, log, event, rows, stored):
    running = monitor.start("run", log, anew=True, **QUICK)  # the file is not there yet
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


def test_a_log_of_another_form_is_followed_with_a_mapping(monitor, log, event, rows, stored):
    own = json.loads(event("1"))
    append(log, json.dumps({**own, "question": {"text": own["question"]}}) + "\n")
    running = monitor.start("run", log, "--map", "question=question.text", **HASH)
    stored(1)
    assert running.terminate() == 0
    assert rows("SELECT question FROM interaction") == [(own["question"],)]


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
        running = monitor.start("run", log, anew=True, **small)
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
