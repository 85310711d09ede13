"""Stored answers under another profile: what `replay` names, and what each command names as the next step, is run."""

from __future__ import annotations

import json
import shlex
from importlib import resources
from threading import Event

import pytest
from typer.testing import CliRunner

from monitor.app.rescore import estimate, rescore, use
from monitor.app.wiring.application import Application
from monitor.cli.app import app as command_line
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.store.rescore import answers as rescore_answers
from monitor.store.rescore.answers import RescoreSpan
from tests.factories.answers import NOON, at
from tests.rig.store.keys import give_key

FILES = resources.files("monitor.assess.classify.profiles")
DAY = ("--from", "2026-05-04", "--to", "2026-05-05")


@pytest.fixture
def folder(database, monkeypatch, tmp_path):
    """The hash embedder, and a profile that calls nearly everything self-generated."""
    shipped = (FILES / "hash.toml").read_text(encoding="utf-8")
    known = [next(line for line in shipped.splitlines() if line.startswith(key)) for key in ("name", "threshold =")]
    strict = shipped.replace(known[0], 'name = "strict"').replace(known[1], "threshold = 0.001")
    (tmp_path / "strict.toml").write_text(strict)
    give_key(tmp_path / "state")
    for name, value in {
        "STATE_DIR": str(tmp_path / "state"),
        "DATABASE_URL": database,
        "EMBEDDING__PROVIDER": "hash",
    }.items():
        monkeypatch.setenv(f"MONITOR_{name}", value)
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def ran(*arguments, **settings):
        environment = {"COLUMNS": "200", **{f"MONITOR_{name}": value for name, value in settings.items()}}
        return CliRunner().invoke(command_line, [str(one) for one in arguments], env=environment)

    return ran


def write(folder, number):
    text = "Deleted snapshots are kept for 30 days."
    lines = [
        {"id": f"a {n}", "app": "support-bot", "occurred_at": f"2026-05-04T09:{n:02}:00Z", "question": "How long?"}
        | {"answer": text, "retrieved_documents": [text]}
        for n in range(number)
    ]
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return "answers.jsonl"


def follow(run, said, *more):
    """Runs the command that the text names, as it is written there."""
    (line,) = [line for line in said.splitlines() if "monitor rescore" in line]
    _, *arguments = shlex.split(line[line.index("monitor rescore") :])
    return run(*arguments, *more)


def verdicts(rows):
    return (
        rows("SELECT verdict, count(*)::integer FROM assessment WHERE live GROUP BY 1 ORDER BY 1"),
        rows("SELECT sum(grounded)::integer, sum(self_generated)::integer FROM verdict_minute"),
    )


def test_each_command_names_the_next_one_up_to_the_way_back(folder, run, rows):
    log = write(folder, 12)
    assert "rescore" not in run("replay", log).stderr
    shown = verdicts(rows)
    assert shown == ([("grounded", 12)], [(12, 0)])

    again = run("replay", log, PROFILE="strict.toml")
    assert again.exit_code == 0
    assert "12 answers stored under another profile keep their verdicts" in again.stderr
    assert verdicts(rows) == shown

    added = follow(run, again.stderr)
    assert added.exit_code == 0, added.stderr
    assert "12 answers: 0 have a verdict under strict already, 12 to assess; less than a minute" in added.stderr
    assert "12 of 12 verdicts move" in added.stdout
    assert "support-bot: self-generated 0.0 % → 100.0 %" in added.stdout
    assert verdicts(rows) == shown

    assert "Add --yes" in str(follow(run, added.stdout).exception)
    used = follow(run, added.stdout, "--yes")
    assert used.exit_code == 0, used.stderr
    assert "new answers still get their verdicts under hash" in used.stderr
    assert verdicts(rows) == ([("self_generated", 12)], [(0, 12)])
    assert rows("SELECT kind FROM audit_queue WHERE kind = 'verdicts'") == [("verdicts",)]

    back = follow(run, used.stderr, "--yes")
    assert back.exit_code == 0, back.stderr
    assert verdicts(rows) == shown


def test_a_dry_run_stores_nothing_and_what_is_wrong_is_said(folder, run, rows):
    run("replay", write(folder, 6))
    asked = ("rescore", "--profile", "strict.toml", *DAY, "--json")
    found = json.loads(run(*asked, "--dry-run").stdout)
    assert (found["answers"], found["left"], found["added"], found["compared"]) == (6, 6, 0, 0)
    assert rows("SELECT count(*) FROM assessment") == [(6,)]
    for more, words in (
        (("--compare", "--use"), "either --compare or --use"),
        (("--to", "2026-05-01"), "--from must be before --to"),
        (("--profile", "0123456789abcdef", "--compare"), "no stored profile"),
        (("--profile", "nowhere.toml"), "nowhere.toml"),
    ):
        failed = run(*asked, *more).exception
        assert isinstance(failed, WrongSettings)
        assert words in str(failed)


class Killed(Exception):
    """As if the process ended here."""


def test_one_that_is_killed_goes_on_where_it_was(folder, run, rows, monkeypatch):
    run("replay", write(folder, 10))
    monkeypatch.setattr("monitor.app.rescore.AT_ONCE", 4)
    monkeypatch.setattr(rescore_answers, "PAGE", 3)

    def killed(done):
        if done >= 4:
            raise Killed

    stop = Event()
    with Application(load_settings(profile="strict.toml")) as application:
        application.prepare()
        profile_hash = application.assessing.profile.hash
        span = RescoreSpan(profile_hash=profile_hash, since=at(0), until=NOON.replace(year=2027), app="support-bot")
        with pytest.raises(Killed):
            rescore(application, span, stop=stop, progress=killed)
        done = estimate(application, span).totals.assessed
        assert 4 <= done < 10
        assert rescore(application, span, stop=stop, progress=lambda _: None) == 10 - done
        assert rescore(application, span, stop=stop, progress=lambda _: None) == 0

        monkeypatch.setattr("monitor.app.rescore.SWITCHED", 3)
        with pytest.raises(Killed):
            use(application, span, by="ann", now=NOON, stop=stop, progress=killed)
        switched = rows("SELECT count(*) FROM assessment WHERE live AND profile_hash = %s", profile_hash)[0][0]
        assert 4 <= switched < 10
        assert rows("SELECT sum(self_generated)::integer FROM verdict_minute") == [(switched,)]
        assert use(application, span, by="ann", now=NOON, stop=stop, progress=lambda _: None).total() == 10 - switched
    assert verdicts(rows) == ([("self_generated", 10)], [(0, 10)])
