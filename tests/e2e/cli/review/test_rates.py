"""True rates by the command line: drawn, labelled from a file, told, and recomputed by an auditor from an export."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[4] / "docs/quality/rates.md"
NUMBER = 520  # enough for strata


@pytest.fixture
def filled(monitor, event):
    """The answers of yesterday morning."""
    monitor.settings["EMBEDDING__PROVIDER"] = "hash"
    start = datetime.now(UTC).replace(hour=6, minute=0, second=0, microsecond=0) - timedelta(days=1)
    lines = (
        event(f"q-{n}", answer=f"Snapshots {'x' * (n % 40)}.", occurred_at=(start + timedelta(seconds=n)).isoformat())
        for n in range(NUMBER)
    )
    assert monitor.run("replay", "-", "--strict", stdin="".join(lines).encode()).returncode == 0
    return monitor, start, start + timedelta(hours=1)


def printed_command(text, name):
    (command,) = (line.rpartition(": ")[2] for line in text.splitlines() if f"monitor {name}" in line)
    return shlex.split(command)[1:]


def test_labels_make_a_rate_known_and_an_auditor_finds_the_same(filled, tmp_path):
    monitor, start, end = filled
    period = ("--from", start.isoformat(), "--to", end.isoformat())
    before = monitor.run("rates", "--app", "support-bot", *period)
    assert before.returncode == 0
    assert "not known yet" in before.stdout
    made = monitor.run(*printed_command(before.stdout, "review plan"))
    assert made.returncode == 0
    assert "plan 1: 100 of 520 answers of support-bot" in made.stdout
    plan = monitor.json("review", "plan", "--app", "support-bot", *period, "--labels", "60")
    assert (plan["plan"], plan["app"], len(plan["items"])) == (2, "support-bot", 60)
    assert set(plan["items"][0]) == {"app", "id", "stratum"}

    rows = ["app,id,label,by", *(f"support-bot,{item['id']},{verdict(item)},ann" for item in plan["items"])]
    Path(tmp_path / "labels.csv").write_text("\n".join(rows), encoding="utf-8")
    assert monitor.run("review", "import", "labels.csv").stdout.startswith("60 labelled; ")
    told = monitor.run(*printed_command(made.stdout, "rates"))
    assert "60 of 60" in told.stdout
    assert "plan 2" in told.stdout
    self_generated, refusal, negative = monitor.json("rates", "--app", "support-bot", *period)
    assert self_generated["lower"] < self_generated["estimate"] < self_generated["upper"]
    assert (self_generated["seed"], self_generated["method"]) == (plan["seed"], "strata")
    assert refusal["estimate"] == 0.0
    assert negative["estimate"] == self_generated["estimate"]

    assert monitor.run("audit", "seal").returncode == 0
    assert monitor.json("audit", "verify")["findings"] == []
    exported = monitor.run("audit", "export", "-o", "all.zip", *period)
    check = exported.stdout.partition("check it with: ")[2].replace("python3", sys.executable)
    subprocess.run(["bash", "-c", check], cwd=tmp_path, check=True, capture_output=True)
    code = DOCS.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0].replace('"3"', '"2"')
    recomputed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert [float(figure) for figure in recomputed.stdout.split()] == pytest.approx(
        [self_generated[name] for name in ("estimate", "lower", "upper")], abs=1e-4
    )


@pytest.mark.parametrize("of", [("--app", "support-bot"), ()])
def test_a_period_without_answers_names_one_that_has_some(filled, of):
    monitor, _, _ = filled
    empty = monitor.run("rates", *of, "--from", "2020-01-06", "--to", "2020-01-13")
    assert empty.returncode == 0
    told = monitor.run(*printed_command(empty.stdout, "rates"))
    assert f"support-bot: {NUMBER} answers from" in told.stdout
    assert "that week" not in told.stdout
    nobody = monitor.run("rates", "--app", "nobody")
    assert "none is stored of any other time; `monitor replay FILE` stores some" in nobody.stdout


def verdict(item):
    """A made-up opinion: mostly bad in the first strata."""
    bad = item["stratum"] == 0 or int(item["id"][2:]) % (2 + 3 * item["stratum"]) == 0
    return "self_generated" if bad else "grounded"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rates", "--from", "2026-01-05"), "give both --from and --to"),
        (("review", "plan", "--app", "nobody"), "no assessed answers of the app 'nobody' are stored"),
        (("review", "import", "nowhere.csv"), "nowhere.csv: cannot be read"),
    ],
)
def test_wrong_use_says_what_is_wrong(monitor, arguments, said):
    monitor.settings["EMBEDDING__PROVIDER"] = "hash"
    ended = monitor.run(*arguments)
    assert ended.returncode == 2
    assert said in ended.stderr


def test_a_label_of_an_unknown_answer_stores_none(filled, tmp_path):
    monitor, _, _ = filled
    lines = [{"app": "support-bot", "id": id_, "label": "grounded", "by": "bob"} for id_ in ("q-1", "q-9999")]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ended = monitor.run("review", "import", "labels.jsonl")
    assert ended.returncode == 2
    assert "support-bot/q-9999: no such interaction is stored" in ended.stderr
    assert monitor.run("review", "import", "labels.jsonl").returncode == 2
    assert monitor.json("review", "label", "support-bot/q-1", "grounded", "--by", "bob")["stored"] == 1
