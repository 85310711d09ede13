"""`monitor calibrate`: labels in, a profile out, and verdicts given under it."""

from __future__ import annotations

import json

import pytest

from tests.factories.review.labelled import HOLDS, INVENTED


def labels(count=80):
    """Grounded answers copy their documents, the others mostly do not; two rows share a source."""
    rows = []
    for i in range(count):
        made_up = i % 2 == 1
        answer = INVENTED if made_up and i % 10 != 9 else HOLDS[i // 2 % 2]
        rows.append(
            {
                "id": f"q-{i}",
                "question": f"Question {i // 2}?",
                "retrieved_documents": HOLDS,
                "answer": f"{answer} ({i} of many.)" if made_up else answer,
                "label": "self_generated" if made_up else "grounded",
            }
        )
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_labels_make_a_profile_that_verdicts_are_given_under(offline, tmp_path):
    (tmp_path / "labels.jsonl").write_text(labels())
    made = offline.json("calibrate", "labels.jsonl", "--out", "mine.toml", "--objective", "f2")
    assert made["rows"] == 80
    assert made["self_generated"] == 40
    assert made["groups"] == 40
    assert made["objective"] == "f2"
    assert made["better"]
    assert made["comparison"]["log_loss"]["high"] < 0
    assert 0.5 < made["figures"]["auc"] <= 1
    low, high = made["intervals"]["f2"]
    assert low <= made["figures"]["f2"] <= high

    evaluated = offline.json("evaluate", "labels.jsonl", "--profile", "mine.toml")
    assert evaluated["profile"] == {
        "name": "mine",
        "hash": made["hash"],
        "embedding_model": "hash/64",
        "calibrated": True,
        "on_its_own_labels": True,
    }
    assert any("fitted to these very labels" in note for note in evaluated["notes"])
    assert evaluated["all"]["confusion"]["verdict"]["grounded"]["grounded"] >= 35

    said = offline.run("calibrate", "labels.jsonl", "--out", "again.toml", "--name", "mine", "--objective", "f2")
    assert said.returncode == 0, said.stderr
    assert "about 240 more usable answers would halve the width of the intervals" in said.stdout
    assert "grounding" in said.stdout
    assert "Better not used" not in said.stdout
    assert "MONITOR_PROFILE=again.toml" in said.stderr
    assert "hash against it, on the same held-out answers" in said.stdout
    assert (tmp_path / "again.toml").read_text() == (tmp_path / "mine.toml").read_text()


def test_a_profile_is_not_written_over_and_not_taken_for_another_model(offline, tmp_path):
    (tmp_path / "labels.jsonl").write_text(labels())
    assert offline.run("calibrate", "labels.jsonl", "--out", "mine.toml").returncode == 0
    kept = (tmp_path / "mine.toml").read_text()
    again = offline.run("calibrate", "labels.jsonl", "--out", "mine.toml")
    assert again.returncode == 2
    assert "mine.toml exists already" in again.stderr
    assert (tmp_path / "mine.toml").read_text() == kept
    assert offline.run("calibrate", "labels.jsonl", "--out", "mine.toml", "--force").returncode == 0

    (tmp_path / "other.toml").write_text(kept.replace('token_model = "hash/64"', 'token_model = "another"'))
    other = offline.run("evaluate", "labels.jsonl", "--profile", "other.toml")
    assert other.returncode == 2
    assert "was made for the token model 'another'" in other.stderr
    (tmp_path / "old.toml").write_text(kept.replace("features_version = 1", "features_version = 0"))
    old = offline.run("evaluate", "labels.jsonl", "--profile", "old.toml")
    assert old.returncode == 2
    assert "calibrate it again" in old.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["labels.jsonl", "--out", "mine.toml", "--objective", "accuracy"], "--objective must be f1, f2 or recall@P"),
        (["labels.jsonl", "--out", "nowhere/mine.toml"], "folder nowhere does not exist"),
        (["few.jsonl", "--out", "mine.toml"], "20 usable answers of either kind"),
        (["missing.jsonl", "--out", "mine.toml"], "missing.jsonl"),
    ],
)
def test_what_cannot_be_done_is_said(offline, tmp_path, arguments, words):
    (tmp_path / "labels.jsonl").write_text(labels())
    (tmp_path / "few.jsonl").write_text(labels(30))
    ended = offline.run("calibrate", *arguments)
    assert ended.returncode == 2, ended.stdout
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "mine.toml").exists()


def test_a_folder_that_cannot_be_written_to_is_found_before_the_work(offline):
    ended = offline.run("calibrate", "missing.jsonl", "--out", "/proc/mine.toml")
    assert ended.returncode == 2, ended.stdout
    assert "cannot write /proc/mine.toml" in ended.stderr
    assert "missing.jsonl" not in ended.stderr  # the labels were not looked for yet


def test_one_that_is_not_better_is_not_recommended(offline, tmp_path):
    rows = [json.loads(line) for line in labels().splitlines()]
    for i, row in enumerate(rows):
        row |= {"answer": f"{HOLDS[0]} {HOLDS[1]}", "label": "self_generated" if i * 7 % 11 < 5 else "grounded"}
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended = offline.run("calibrate", "labels.jsonl", "--out", "mine.toml")
    assert ended.returncode == 1, ended.stdout
    assert "do not use it: on held-out answers it does not clearly tell" in ended.stderr
    assert "MONITOR_PROFILE" not in ended.stderr

    advice = "Better not used: on held-out answers it does not clearly tell self-generated answers from grounded ones."
    assert advice in " ".join(offline.run("profiles", "mine.toml").stdout.split())
    assert (
        f"mine.toml: Calibrated on 80 labelled answers. {advice}" in offline.run("profiles", PROFILE="mine.toml").stdout
    )
    notes = {p["name"]: p["note"] for p in offline.json("profiles", PROFILE="mine.toml")}
    assert notes["mine.toml"].endswith(advice)


def test_profiles_are_listed_and_shown(offline, tmp_path):
    (tmp_path / "labels.jsonl").write_text(labels())
    assert offline.run("calibrate", "labels.jsonl", "--out", "mine.toml").returncode == 0
    listed = {p["name"]: p for p in offline.json("profiles")}
    assert {"hash", "minilm", "text-embedding-3-small"} <= set(listed)
    earlier = {name for name, p in listed.items() if p["earlier"]}
    assert earlier == {"minilm-1", "minilm-int8-1", "text-embedding-3-small-1"}
    assert not any(p["calibrated"] or p["configured"] for p in listed.values())
    shown = offline.run("profiles", "mine.toml")
    assert "80 labelled answers from 40 sources" in shown.stdout
    assert offline.json("profiles", "mine.toml")["calibration"]["rows"] == 80
    assert offline.run("profiles", "nowhere").returncode == 2
    listed = {p["name"]: p for p in offline.json("profiles", PROFILE="mine.toml")}
    assert listed["mine.toml"]["configured"]
    assert "on 80 labels" in offline.run("profiles", PROFILE="mine.toml").stdout
