"""`monitor probe` and `monitor golden` as a person or a release gate runs them, with a scripted chatbot and judge."""

from __future__ import annotations

import json
import re
import shlex
from xml.etree import ElementTree as ET

import pytest

from tests.rig.waiting import until
from tests.servers.chatbot import Says, chatbot
from tests.servers.llm import CHAT_MODEL, KEY, llm_server
from tests.servers.llm.conversing import conversing

REFERENCE = "A refund takes 14 days."
ITEMS = [{"id": f"q{n}", "question": f"How long does refund {n} take?", "reference": REFERENCE} for n in range(12)]
NEXT_STEP = re.compile(r"^ *(monitor (?:probe|golden) .*)$", re.MULTILINE)
PROBES = """
probes:
  - name: support
    app: shop
    golden: refunds
    concurrency: 1
    timeout: 60s
    target:
      http:
        url: {url}
        body: {{question: "{{question}}", history: "{{history}}", id: "{{conversation}}"}}
        answer: $.answer
        version: $.version
"""


@pytest.fixture
def bot():
    with chatbot() as running:
        yield running


@pytest.fixture
def judge():
    with llm_server(answer=conversing) as server:
        yield server


@pytest.fixture
def probed(monitor, judge, bot, tmp_path, monkeypatch):
    """An installation with a golden set of twelve questions and a probe of the scripted chatbot."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "probes.yaml").write_text(PROBES.format(url=bot.url))
    (tmp_path / "golden.jsonl").write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    monitor.settings |= {
        "EMBEDDING__PROVIDER": "hash",
        "LLM__BASE_URL": judge.base_url,
        "LLM__API_KEY": KEY,
        "LLM__MODEL": CHAT_MODEL,
        "PROBES": "probes.yaml",
        "AUDIT__ENABLED": "0",
    }
    made = monitor.run("golden", "import", "golden.jsonl", "--set", "refunds", "--by", "ada")
    assert (made.returncode, made.stdout.startswith("refunds, version 1: 12 items")) == (0, True), made.stderr
    return monitor


def answers(text, version):
    return [Says(body=json.dumps({"answer": text, "version": version})) for _ in ITEMS]


def steps(monitor, text):
    """Runs every next step that a command has printed."""
    found = NEXT_STEP.findall(text)
    for step in found:
        ended = monitor.run(*shlex.split(step)[1:])
        assert ended.returncode == 0, (step, ended.stderr)
    return found


def test_a_release_gate(probed, bot, tmp_path):
    bot.script += answers(REFERENCE, "v1")
    good = probed.run("probe", "run", "support", "--fail-under", "correctness=4.0", "--fail-under", "unsure=0.1")
    assert good.returncode == 0, good.stderr
    assert re.search(r"correctness, 1 to 5 +5\.00", good.stdout)
    assert steps(probed, good.stdout) == ["monitor probe show 1"]

    bot.script += answers("A refund takes 30 days.", "v2")
    bad = probed.run("probe", "run", "support", "--fail-under", "correctness=4.0", "--junit", "out.xml")
    assert bad.returncode == 1
    assert "failed: correctness is 3.00, and its limit is 4" in bad.stdout
    assert "-2.00 over 12 questions: worse" in bad.stdout
    assert steps(probed, bad.stdout) == ["monitor probe compare 1 2", "monitor probe show 2"]
    suite = ET.parse(tmp_path / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("14", "1", "0")

    for names in (("v1", "v2"), ("1", "2")):
        compared = probed.json("probe", "compare", *names)
        assert compared["differences"]["correctness"]["outcome"] == "worse"
        assert (compared["before"]["chatbot"], compared["after"]["chatbot"]) == ("v1", "v2")
    listed = probed.json("probe", "list", "--app", "shop")
    assert [(one["number"], one["chatbot"], one["state"]) for one in listed] == [(2, "v2", "done"), (1, "v1", "done")]
    shown = probed.json("probe", "show", 2)
    assert [one["correctness"] for one in shown["items"]] == [3.0] * 12
    marks = {asked.body["id"].rpartition("-")[0] for asked in bot.asked}
    assert len(marks) == 2  # one for each run


def test_a_process_that_reads_nothing_runs_scheduled_probes(probed, bot, tmp_path):
    refused = probed.run("run")
    assert (refused.returncode, "in which a probe has `every` or `at`" in refused.stderr) == (2, True)
    bot.script += answers(REFERENCE, "v1")
    (tmp_path / "probes.yaml").write_text(PROBES.format(url=bot.url) + "    every: 1h\n")
    running = probed.start("run")
    until("the probe has run", lambda: "probe support: run 1: done" in running.err)
    assert running.terminate() == 0
    assert len(bot.asked) == 12


def test_a_run_with_further_turns_and_json(probed, bot):
    bot.script += [Says(body=json.dumps({"answer": text})) for text in ("It takes a while.", REFERENCE)]
    found = probed.json("probe", "run", "support", "--turns", 3, "--limit", 1, "--version", "mine")
    assert (found["run"]["chatbot"], found["run"]["items"], found["run"]["turns"]) == ("mine", 1, 3)
    (item,) = found["items"]
    assert (item["correctness"], item["wscore"], item["lscore"], item["mscore"]) == (1.0, 3.0, 2, 5.0)
    assert [turn["scores"] for turn in item["turns"]] == [[1], [5]]
    assert found["failed"] == []
    assert [asked.body["history"] for asked in bot.asked][1][0]["content"] == ITEMS[0]["question"]


def test_versions_are_compared_within_a_probe(probed, bot, tmp_path):
    two = PROBES.format(url=bot.url) + PROBES.format(url=bot.url).split("probes:")[1].replace("support", "other")
    (tmp_path / "probes.yaml").write_text(two)
    bot.script += answers(REFERENCE, "v1") + answers(REFERENCE, "v2") + answers(REFERENCE, "v2")
    for name in ("support", "support", "other"):
        assert probed.run("probe", "run", name).returncode == 0
    compared = probed.json("probe", "compare", "v1", "v2")
    assert [compared[run]["number"] for run in ("before", "after")] == [1, 2]
    apart = probed.run("probe", "compare", "v1", "v2", "--probe", "other")
    assert (apart.returncode, "there is no run or version v1" in apart.stderr) == (2, True)
    doctor = {one["check"]: one for one in json.loads(probed.run("doctor", "--json").stdout)}
    assert doctor["probes"]["detail"] == "2 probes: other, support"
    assert f"judge of probes: {CHAT_MODEL} answers" in doctor["language models"]["detail"]
    (tmp_path / "probes.yaml").write_text(two.replace("golden: refunds", "golden: none"))
    doctor = {one["check"]: one for one in json.loads(probed.run("doctor", "--json").stdout)}
    assert "there is no golden set 'none': make it with monitor golden import" in doctor["probes"]["detail"]


def test_a_file_with_the_name_of_a_set_that_is_asked_is_refused(probed, tmp_path):
    (tmp_path / "refunds.jsonl").write_text(json.dumps(ITEMS[0]) + "\n")
    refused = probed.run("probe", "run", "support", "--golden", "refunds.jsonl")
    assert refused.returncode == 2
    (step,) = re.findall(r"or import it with monitor (golden import .*)$", refused.stderr, re.MULTILINE)
    assert probed.run(*shlex.split(step)).returncode == 0


def test_a_file_of_questions_is_asked_as_a_set_of_its_own(probed, bot, tmp_path):
    (tmp_path / "gate.jsonl").write_text(json.dumps(ITEMS[0]) + "\n")
    found = probed.json("probe", "run", "support", "--golden", "gate.jsonl", "--version", "abc")
    assert (found["run"]["golden"], found["run"]["items"], len(bot.asked)) == ("gate", 1, 1)
    assert [(one["name"], one["version"]) for one in probed.json("golden", "list")] == [("gate", 1), ("refunds", 1)]


def test_a_chatbot_that_does_not_answer_is_no_reason_to_pass(probed, bot):
    bot.script += [Says(status=400) for _ in ITEMS]
    ended = probed.run("probe", "run", "support", "--fail-under", "correctness=1", "--junit", "out.xml")
    assert ended.returncode == 1
    assert "the chatbot did not answer 12 questions" in ended.stdout
    assert "failed: only 0 of 12 questions have a grade" in ended.stdout
    assert "no item has this score" in ended.stdout


def test_a_run_without_a_single_grade_has_failed_and_says_why(probed, bot):
    bot.script += [Says(body=json.dumps({"anser": "?"})) for _ in range(2)]
    ended = probed.run("probe", "run", "support", "--limit", 2)
    assert ended.returncode == 1
    assert "failed: no answer could be judged: malformed: http " in ended.stdout
    assert "nothing at $.answer" in ended.stdout


def test_a_run_that_judged_nothing_is_not_what_the_next_one_is_compared_with(probed, bot):
    bot.script += answers(REFERENCE, "v1") + [Says(status=400) for _ in ITEMS] + answers("It takes 30 days.", "v2")
    assert [probed.run("probe", "run", "support").returncode for _ in range(2)] == [0, 1]
    assert "monitor probe compare 1 3" in probed.run("probe", "run", "support").stdout
    assert "no question was judged in both runs" in probed.run("probe", "compare", "1", "2").stdout


def test_a_chatbot_that_nobody_reaches_is_three(probed, bot, tmp_path):
    (tmp_path / "probes.yaml").write_text(PROBES.format(url="http://127.0.0.1:1/"))
    ended = probed.run("probe", "run", "support", "--limit", 2)
    assert ended.returncode == 3
    assert "monitor: no question reached the chatbot: http " in ended.stderr
    assert bot.asked == []


def test_a_candidate_is_compared_and_counts_nowhere(probed, bot):
    bot.script += answers(REFERENCE, "v1") + answers("A refund takes 30 days.", "v2") + answers(REFERENCE, "v3")
    assert probed.run("probe", "run", "support").returncode == 0
    tried = probed.run("probe", "run", "support", "--candidate")
    assert "done (candidate)" in tried.stdout
    assert "monitor probe compare 1 2" in tried.stdout
    after = probed.run("probe", "run", "support")
    assert "monitor probe compare 1 3" in after.stdout
    assert [one["candidate"] for one in probed.json("probe", "list")] == [False, True, False]


def test_a_refused_key_ends_the_run_at_once(probed, bot):
    bot.script += [Says(), Says(status=401, body="who?")]
    ended = probed.run("probe", "run", "support")
    assert ended.returncode == 1
    assert "failed: 1 of 12 questions were asked\n" in ended.stdout
    assert "HTTP 401 (who?)" in ended.stderr
    assert len(bot.asked) == 2


def test_what_was_graded_stays_when_a_run_is_stopped_and_none_begins_beside_it(probed, bot, rows):
    bot.script += [Says(), Says(), Says(hangs=True)]
    running = probed.start("probe", "run", "support")
    until("the third is asked", lambda: len(bot.asked) == 3)
    second = probed.run("probe", "run", "support")
    assert second.returncode == 2
    assert "the probe 'support' is running already: monitor probe list" in second.stderr
    assert probed.json("probe", "list")[0]["state"] == "running"
    running.process.send_signal(15)
    until("it says so", lambda: "stopping" in running.err)
    bot.closed.set()
    assert running.ended() == 1
    assert rows("SELECT state FROM probe_run") == [("stopped",)]
    assert rows("SELECT place, state FROM probe_result ORDER BY place") == [(0, "graded"), (1, "graded"), (2, "failed")]
    assert "stopped: 3 of 12 questions were asked: it was told to stop" in running.out


def test_a_run_that_was_killed_is_over_for_the_next_one(probed, bot, rows):
    bot.script += [Says(), Says(hangs=True)]
    running = probed.start("probe", "run", "support")
    until("the second is asked", lambda: len(bot.asked) == 2)
    running.process.kill()
    running.process.wait()
    ended = until(
        "its lock is gone", lambda: (e := probed.run("probe", "run", "support", "--limit", 1)).returncode != 2 and e
    )
    assert ended.returncode == 0, ended.stderr
    assert rows("SELECT number, state FROM probe_run ORDER BY number") == [(1, "stopped"), (2, "done")]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("run", "other"), "there is no probe 'other'; known: support"),
        (("run", "support", "--fail-under", "correctness"), "--fail-under: 'correctness' is no threshold"),
        (("run", "support", "--fail-under", "speed=4"), "--fail-under: 'speed=4' is no threshold"),
        (("run", "support", "--golden", "nowhere.jsonl"), "nowhere.jsonl: cannot be read"),
        (("run", "support", "--junit", "nowhere/out.xml"), "--junit: there is no folder nowhere"),
        (("show", "7"), "there is no run 7: monitor probe list"),
        (("compare", "7", "v9"), "there is no run or version 7"),
    ],
)
def test_wrong_use_is_two(probed, arguments, why):
    ended = probed.run("probe", *arguments)
    assert ended.returncode == 2
    assert why in ended.stderr


def test_without_a_set_the_next_step_is_named(probed, tmp_path):
    (tmp_path / "probes.yaml").write_text((tmp_path / "probes.yaml").read_text().replace("refunds", "new"))
    ended = probed.run("probe", "run", "support")
    assert ended.returncode == 2
    assert "monitor golden import FILE --set new" in ended.stderr
    unset = probed.run("probe", "run", "support", PROBES="")
    assert unset.returncode == 2
    assert "set MONITOR_PROBES" in unset.stderr


def test_golden_sets_are_kept_in_versions(probed, tmp_path, event):
    again = probed.run("golden", "import", "golden.jsonl", "--set", "refunds")
    assert again.stdout.startswith("refunds, version 1: ")
    exported = probed.run("golden", "export", "refunds").stdout
    (tmp_path / "again.jsonl").write_text(exported)
    assert probed.json("golden", "import", "again.jsonl", "--set", "refunds")["version"] == 1
    removed = probed.json("golden", "remove", "refunds", "q0")
    assert (removed["version"], removed["items"]) == (2, 11)

    assert probed.run("replay", "-", stdin=event("a").encode()).returncode == 0
    unlabelled = probed.run("golden", "add", "support-bot/a", "--set", "refunds")
    assert unlabelled.returncode == 2
    (step,) = re.findall(r"or label it with monitor (review label .*)$", unlabelled.stderr, re.MULTILINE)
    assert probed.run(*shlex.split(step)).returncode == 0
    assert probed.json("golden", "add", "support-bot/a", "--set", "refunds")["version"] == 3
    item = probed.json("golden", "show", "refunds")["items"][-1]
    assert (item["id"], item["reference"]) == ("support-bot/a", "Deleted snapshots are kept for 30 days.")
    changed = probed.json("golden", "add", "support-bot/a", "--set", "refunds", "--reference", "30 days.")
    assert (changed["version"], changed["items"]) == (4, 12)
    assert [(one["name"], one["version"]) for one in probed.json("golden", "list")] == [("refunds", 4)]
    assert len(probed.json("golden", "show", "refunds", "--version", 1)["items"]) == 12
    dry = probed.run("golden", "import", "golden.jsonl", "--set", "other", "--dry-run")
    assert (dry.returncode, "nothing is stored" in dry.stdout) == (0, True)
    assert probed.run("golden", "show", "other").returncode == 2
    assert probed.run("golden", "add", "support-bot/nothing", "--set", "refunds").returncode == 2
    erased = probed.run("erase", "--app", "support-bot", "--interaction", "a", "--yes")
    assert "with them 2 golden items that were made of them" in erased.stdout  # in versions 3 and 4
    assert len(probed.json("golden", "show", "refunds")["items"]) == 11
    gone = probed.run("golden", "add", "support-bot/a", "--set", "refunds", "--reference", "30 days.")
    assert (gone.returncode, "was erased" in gone.stderr) == (2, True), gone.stderr
