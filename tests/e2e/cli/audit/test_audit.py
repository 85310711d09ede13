"""`monitor audit` as an auditor uses it: seal, verify, prove, export, and the verifier that comes with the export."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from monitor.audit.key import Signer
from tests.rig.waiting import until

HASH = {"EMBEDDING__PROVIDER": "hash"}


@pytest.fixture
def trail(monitor, event):
    """Two answers under a checkpoint."""
    monitor.settings |= HASH
    monitor.run("replay", "-", stdin=(event("a") + event("b", question="Who asked?")).encode())
    assert monitor.run("audit", "seal").returncode == 0
    return monitor


def checkpoints(monitor) -> list[str]:
    file = Path(monitor.settings["STATE_DIR"]) / "audit" / "checkpoints"
    return [line for line in file.read_text().splitlines() if line.startswith("\u2014 ")] if file.exists() else []


def test_before_anything_is_sealed_that_is_said(monitor, event):
    monitor.settings |= HASH
    monitor.run("replay", "-", stdin=event("a").encode())
    said = monitor.run("audit", "status").stdout
    assert "nothing is sealed yet: start `monitor run`, or run `monitor audit seal`" in said
    assert "still being sealed" not in said


def test_what_was_replayed_is_sealed_and_holds_until_somebody_changes_it(trail, rows):
    found = trail.json("audit", "verify")
    assert (found["size"], found["signed"], found["findings"]) == (
        6,
        6,
        [],
    )  # the profile and the statement of the replay too
    status = trail.json("audit", "status")
    assert (status["size"], status["waiting"], status["backfilling"]) == (6, 0, False)
    assert "audit" in {check["check"] for check in trail.json("doctor") if check["good"]}
    rows("UPDATE interaction SET answer = 'We never said that.' WHERE id = 'b'")
    ended = trail.run("audit", "verify")
    assert ended.returncode == 1
    assert "the interaction of b in support-bot, leaf 3, was changed: answer" in ended.stdout
    assert "the trail is not intact" in ended.stdout


def test_a_proof_discloses_texts_only_when_asked_and_that_is_sealed(trail, rows):
    proof = json.loads(trail.run("audit", "prove", "b").stdout)
    assert proof["proved"]
    assert [json.loads(record["body"])["kind"] for record in proof["records"]] == ["interaction", "assessment"]
    assert "Who asked?" not in json.dumps(proof)
    disclosed = json.loads(trail.run("audit", "prove", "b", "--disclose", "--by", "ann").stdout)
    assert disclosed["records"][0]["disclosed"]["question"]["value"] == "Who asked?"
    trail.run("audit", "seal")
    [(body,)] = rows("SELECT body::jsonb -> 'body' FROM audit_leaf WHERE kind = 'look'")
    assert body["by"] == "ann"
    nobody = trail.run("audit", "prove", "nobody")
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert "no such interaction is sealed: 'nobody'" in nobody.stderr


def test_a_proof_is_found_by_app_and_id_as_elsewhere(trail, rows):
    found = json.loads(trail.run("audit", "prove", "support-bot/b", "--disclose").stdout)
    assert (found["id"], found["proved"], found["stored"], len(found["records"])) == ("b", True, "same", 2)
    assert rows("SELECT app, subject FROM audit_queue WHERE kind = 'look'") == [("support-bot", "b")]
    assert trail.run("audit", "prove", "other/b").returncode == 1


def test_a_proof_is_one_file_that_an_auditor_checks_as_it_is_printed(trail, tmp_path):
    printed = trail.run("audit", "prove", "support-bot/b", "-o", "the proof.json").stdout
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = printed.partition("check it with: ")[2].strip()
    witness = Path(trail.settings["STATE_DIR"]) / "audit" / "checkpoints"
    for more in ("", f" --witness '{witness}'"):
        ended = subprocess.run(
            ["sh", "-c", command + more], cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "leaf 3 (interaction 'b'): occurred" in ended.stdout
        assert ", sealed 20" in ended.stdout
    assert "1 of 1 checkpoints are the same at the witness" in ended.stdout
    key = witness.with_name("checkpoints.key").read_text().strip()
    assert f"--key '{key}'" in command
    changed = (tmp_path / "the proof.json").read_text().replace("support-bot", "another-bot")
    (tmp_path / "the proof.json").write_text(changed)
    ended = subprocess.run(
        ["sh", "-c", command.partition("&& ")[2]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "is not proved" in ended.stdout


def test_explain_takes_the_name_that_prove_and_label_take(trail):
    named, bare = trail.run("explain", "support-bot/b"), trail.run("explain", "b")
    assert (named.returncode, named.stdout) == (0, bare.stdout)
    assert "no interaction 'other/b' is stored" in trail.run("explain", "other/b").stderr


def test_explain_without_a_name_lists_the_newest_answers_of_an_app(trail):
    listed = trail.json("explain", "--app", "support-bot")
    assert {"support-bot/b", "support-bot/a"} <= {f"{one['app']}/{one['id']}" for one in listed}
    assert "support-bot/b" in trail.run("explain").stdout
    assert "in app 'other'" in trail.run("explain", "--app", "other").stdout


@pytest.mark.parametrize("disclose", [(), ("--disclose",)])
def test_a_row_that_was_changed_is_said_where_its_leaf_is_proved(trail, rows, tmp_path, disclose):
    rows("UPDATE interaction SET answer = 'We never said that.' WHERE id = 'b'")
    how = "answer: the stored value is not the sealed one"
    ended = trail.run("audit", "prove", "b", *disclose)
    proof = json.loads(ended.stdout)
    assert (ended.returncode, proof["proved"], proof["stored"]) == (1, True, "differs")
    assert [(its["stored"], its["differs"]) for its in proof["records"]] == [("differs", [how]), ("same", [])]
    assert "answer" not in (proof["records"][0]["disclosed"] or {})
    assert f"not stored as sealed: b, leaf 3: {how}" in ended.stderr
    exported = trail.run("audit", "export", "-o", "all.zip", *disclose)
    assert exported.returncode == 1
    assert exported.stderr == f"not stored as sealed: support-bot/b, leaf 3: {how}\n"
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert [its["id"] for its in json.loads(archive.read("manifest.json"))["differs"]] == ["b"]
    assert trail.run("audit", "prove", "a").returncode == 0


def test_an_export_is_checked_with_python_alone(trail, tmp_path):
    key = trail.run("audit", "key").stdout.strip()
    exported = trail.run("audit", "export", "-o", "all.zip", "--disclose", "--to", "9999-12-31T23:59")
    assert exported.returncode == 0, exported.stderr
    as_printed = exported.stdout.partition("check it with: ")[2]
    checked = subprocess.run(["sh", "-c", as_printed], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        archive.extract("verify.py", tmp_path)
    command = [sys.executable, "-I", str(tmp_path / "verify.py"), str(tmp_path / "all.zip"), "--key", key]
    good = subprocess.run(command, capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout + good.stderr
    other = Signer.generate("monitor").verifier_key
    bad = subprocess.run([*command[:-1], other], capture_output=True, text=True, check=False)
    assert bad.returncode == 1


def test_an_export_of_another_app_and_time_holds_nothing_of_this(trail, tmp_path):
    for number, arguments in enumerate((("--app", "other"), ("--to", "2001-01-01"))):
        ended = trail.run("audit", "export", "-o", f"{number}.zip", *arguments)
        assert ended.returncode == 1
        assert "no record of that app and time is sealed: see --app, --from and --to" in ended.stderr
        with zipfile.ZipFile(tmp_path / f"{number}.zip") as archive:
            assert json.loads(archive.read("manifest.json"))["counts"]["kinds"].keys() <= {"profile", "rules"}


def test_a_run_seals_by_the_clock_and_once_more_at_its_end(monitor, log, event, rows):
    running = monitor.start("run", log, **HASH, AUDIT__EVERY="0.3", INGEST__BATCH_MS="20")
    log.write_text(event("a"))
    until("a checkpoint is there", lambda: rows("SELECT count(*) FROM audit_leaf WHERE subject = 'a'") == [(2,)])
    with log.open("a") as file:
        file.write(event("b"))
    until("it is stored", lambda: rows("SELECT count(*) FROM interaction") == [(2,)])
    assert running.terminate() == 0
    assert "Traceback" not in running.err
    assert rows("SELECT count(*) FROM audit_leaf WHERE subject IN ('a', 'b')") == [(4,)]
    assert rows("SELECT kind FROM audit_leaf WHERE kind IN ('profile', 'rules') ORDER BY kind") == [
        ("profile",),
        ("rules",),
    ]
    ((note,),) = rows("SELECT note FROM audit_checkpoint ORDER BY size DESC LIMIT 1")
    assert note.endswith(f"{checkpoints(monitor)[-1]}\n")  # of checkpoints in one round the witness gets the newest
    assert monitor.json("audit", "verify", **HASH)["findings"] == []


def test_wrong_use_is_told_in_one_line(trail):
    for arguments, words in (
        (("export", "-o", "x.zip", "--from", "soon"), "'soon' is not a time"),
        (("verify", "--key", "no key"), "the verifier key must have the form"),
        (("verify", "--witness", "nowhere"), "nowhere: cannot be read"),
    ):
        ended = trail.run("audit", *arguments)
        assert ended.returncode == 2
        assert words in ended.stderr
        assert "Traceback" not in ended.stderr


def test_the_check_that_is_printed_works_wherever_the_export_is(trail, tmp_path):
    (tmp_path / "for the auditor").mkdir()
    exported = trail.run("audit", "export", "-o", "for the auditor/it's all.zip")
    assert exported.returncode == 0, exported.stderr
    as_printed = exported.stdout.partition("check it with: ")[2]
    checked = subprocess.run(["sh", "-c", as_printed], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.startswith("proved: ")
