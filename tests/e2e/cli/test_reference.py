"""References by the command line: refused, frozen, listed, compared, and the ranks of later answers."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime, timedelta

import pytest

INVENTED = "The purge is signed by Commander Vorpal of Neptune on 31 February 2091."


@pytest.fixture
def bot(monitor, event):
    """Stores answers of an hour ago by `replay --output`, and returns the assessments."""
    monitor.settings["EMBEDDING__PROVIDER"] = "hash"
    an_hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()

    def replay(names, **over):
        lines = "".join(event(name, **{"occurred_at": an_hour_ago, **over}) for name in names)
        ended = monitor.run("replay", "-", "--output", "-", stdin=lines.encode())
        assert ended.returncode == 0, ended.stderr
        return [json.loads(line) for line in ended.stdout.splitlines()]

    monitor.replay = replay
    return monitor


def test_from_the_refusal_to_the_rank_of_a_later_answer(bot, event, rows):
    numbered = "".join(
        event(
            f"q-{n}",
            occurred_at=(datetime.now(UTC) - timedelta(hours=2)).isoformat(),
            answer=f"Deleted snapshots are kept for 30 days. {'See the handbook. ' * (n % 7)}Ticket {n}.",
        )
        for n in range(500)
    )
    assert "no reference is frozen" in bot.run("reference", "list").stdout
    assert bot.run("replay", "-", stdin=numbered[: numbered.index("\n") + 1].encode()).returncode == 0
    ended = bot.run("reference", "freeze", "--app", "support-bot")
    assert ended.returncode == 2
    assert "a reference needs 500 answers, and support-bot from" in ended.stderr
    assert " has 1." in ended.stderr

    assert bot.run("replay", "-", stdin=numbered.encode()).returncode == 0
    highest = bot.json("reference", "freeze", "--app", "support-bot", "--highest", "3")
    assert [one["score"] for one in highest] == sorted((one["score"] for one in highest), reverse=True)
    assert bot.json("reference", "list") == []
    name = f"{highest[0]['app']}/{highest[0]['id']}"
    assert name in bot.run("reference", "freeze", "--app", "support-bot", "--highest", "1").stdout
    assert bot.run("review", "label", name, "grounded").returncode == 0
    (frozen,) = bot.json("reference", "freeze", "--app", "support-bot", "--by", "ann")["frozen"]
    assert (frozen["size"], frozen["version"], frozen["state"], frozen["frozen_by"]) == (500, 1, "in force", "ann")

    (later,) = bot.replay(["later"], answer=INVENTED)
    assert later["reference"] == frozen["hash"]
    assert 0 < later["rank"] <= 0.1
    (explained,) = bot.json("explain", "later")
    assert explained["rank"] == pytest.approx(later["rank"], abs=1e-6)
    assert "of this app's usual answers" in bot.run("explain", "later").stdout

    assert bot.json("reference", "list")[0]["hash"] == frozen["hash"]
    shown = bot.json("reference", "show", frozen["hash"][:6])
    assert len(shown["content"]["scores"]) == 500
    compared = bot.json("reference", "compare", frozen["hash"], frozen["hash"])
    assert compared["sizes"] == {"earlier": 500, "later": 500}
    ended = bot.run("reference", "compare", frozen["hash"])
    assert ended.returncode == 2
    assert "a comparison needs 500 answers" in ended.stderr
    assert bot.run("audit", "seal").returncode == 0
    assert bot.run("audit", "verify").returncode == 0

    rows("UPDATE assessment SET profile_hash = '0123456789abcdef'")
    printed = bot.run("reference", "list").stderr
    assert "support-bot: answers have another profile now" in printed
    again = bot.run(*shlex.split(printed.split("`")[1])[1:])
    assert again.returncode == 0, again.stderr
    assert "support-bot, version 2: 501 scores" in again.stdout


def test_wrong_use_is_told(bot):
    for arguments, message in (
        (("freeze", "--app", "x", "--from", "soon"), "--from: 'soon' is not a time"),
        (("freeze", "--app", "x", "--from", "2026-03-02", "--to", "2026-03-01"), "is not before"),
        (("show", "ffff"), "no reference 'ffff' is stored; `monitor reference list` shows the hashes"),
        (("compare", "aa", "bb", "--from", "2026-03-01"), "give either LATER or --from and --to"),
    ):
        ended = bot.run("reference", *arguments)
        assert ended.returncode == 2
        assert message in " ".join(ended.stderr.split())
