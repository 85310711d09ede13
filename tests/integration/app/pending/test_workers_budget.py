"""Workers keep within the budget, in two processes and of two kinds."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from threading import Event

import pytest

from monitor.app.pending.workers import work_off
from monitor.app.wiring.application import Application
from monitor.core.pending import Work
from monitor.core.settings.load import load_settings
from monitor.store.interaction.writer import Writer
from tests.factories.answers import A_STAND_IN, a_batch, an_assessment, clock
from tests.rig.installation import ROOT
from tests.rig.store.keys import QUEUE_KEY
from tests.servers.llm import CHAT_MODEL, KEY, llm_server


@pytest.fixture
def queued(database):
    """Stores interactions that wait for the judge or the sidecar."""

    def queue(kind, number):
        with closing(Writer(database, clock, follow_ups=lambda _: [kind], queue_key=QUEUE_KEY)) as writer:
            found = [
                an_assessment(id=f"{kind} {n}", answer=f"For {n} days.", support=A_STAND_IN, profile_hash="of today")
                for n in range(number)
            ]
            writer.write(a_batch(*found))

    return queue


def test_two_processes_make_no_call_too_many(database, queued, rows, tmp_path):
    queued(Work.JUDGE, 16)
    with llm_server(latency=0.02) as server:
        named = {
            "DATABASE_URL": database,
            "STATE_DIR": str(tmp_path / "state"),
            "EMBEDDING__PROVIDER": "hash",
            "JUDGE__MODE": "separate",
            "JUDGE__METRICS": '["answer_relevance"]',
            "JUDGE__BUDGET_SHARE": "1",
            "LLM__BASE_URL": server.base_url,
            "LLM__API_KEY": KEY,
            "LLM__MODEL": CHAT_MODEL,
            "LLM__BUDGET__CALLS_PER_DAY": "7",
        }
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **{f"MONITOR_{n}": v for n, v in named.items()}}
        both = [
            subprocess.Popen(
                [sys.executable, "-m", "monitor", "pending", "work"],
                env=environment,
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        for process in both:
            _, said = process.communicate()
            assert process.returncode == 0, said
    used = rows("SELECT sum(calls)::integer FROM llm_usage GROUP BY date_trunc('day', hour, 'UTC')")
    assert max(used) == (7,)  # midnight may have come in between
    assert len(server.chats) == sum(calls for (calls,) in used) == rows("SELECT count(*) FROM judgement")[0][0]
    left = rows("SELECT attempts, given_up, claim, last_error FROM pending")
    assert len(left) == 16 - len(server.chats)
    assert all((attempts, given_up, claim) == (0, False, None) for attempts, given_up, claim, _ in left)
    assert all("7 calls per day is spent" in error for *_, error in left)


def test_the_judge_leaves_the_sidecar_its_part_while_both_are_at_work(database, queued, rows):
    queued(Work.JUDGE, 10)
    queued(Work.SIDECAR, 10)
    with llm_server() as server:
        settings = load_settings(
            database_url=database,
            embedding={"provider": "hash"},
            sidecar={"mode": "explain"},
            judge={"mode": "separate", "metrics": ["answer_relevance"], "budget_share": 0.25},
            llm={"base_url": server.base_url, "api_key": KEY, "model": CHAT_MODEL, "budget": {"calls_per_day": 12}},
        )
        rows("UPDATE pending SET not_before = not_before + interval '1 hour' WHERE kind = 'sidecar'")
        with Application(settings, now=clock) as application:
            work_off(application, Event())
            assert rows("SELECT purpose, calls FROM llm_usage") == [("judge", 3)]
            rows("UPDATE assessment SET profile_hash = %s", application.assessing.profile.hash)
            rows("UPDATE pending SET not_before = %s WHERE kind = 'sidecar'", clock())
            work_off(application, Event())
    assert sorted(rows("SELECT purpose, calls FROM llm_usage")) == [("judge", 3), ("sidecar", 9)]
    assert len(server.chats) == 12
    assert rows("SELECT count(*) FROM assessment WHERE revised_at IS NOT NULL") == [(9,)]
