"""What only the command does; the promise of all targets is in `tests/contract/test_target.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from monitor.core.errors import Fatal
from monitor.probe.target import ChatbotFailed
from monitor.probe.targets.command import CommandTarget
from tests.rig.waiting import until


def ask(code, *, timeout=30.0, question="Q"):
    target = CommandTarget([sys.executable, "-c", code], timeout=timeout, per_second=None)
    return target.ask(question, history=[], conversation="c-1")


def test_plain_text_is_the_answer():
    answer = ask("print('  A refund takes 14 days.\\n')")
    assert (answer.text, answer.documents, answer.version) == ("A refund takes 14 days.", (), None)


def test_it_may_write_before_it_has_read_what_it_is_asked():
    code = "import sys; sys.stdout.write('x' * 200_000); sys.stdout.flush(); print(len(sys.stdin.read()))"
    assert ask(code, question="y" * 200_000).text.startswith("x" * 200_000 + "200")


def test_no_shell_sees_the_arguments():
    target = CommandTarget(
        [sys.executable, "-c", "import sys; print(sys.argv[1])", "$(id); *"], timeout=30, per_second=1e9
    )
    assert target.ask("Q", history=[], conversation="c-1").text == "$(id); *"


def test_children_that_hold_the_output_open_are_ended_and_not_waited_for(tmp_path):
    sleeper = "import time; time.sleep(60)"
    code = f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {sleeper!r}]); print('hello')"
    code += f"; open({str(tmp_path / 'pid')!r}, 'w').write(str(p.pid))"
    assert ask(code).text == "hello"
    pid = (tmp_path / "pid").read_text(encoding="utf-8")
    until("the child has ended", lambda: ended(pid))


def ended(pid):
    try:
        stat = Path("/proc", pid, "stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in {"Z", "X"}  # nobody has asked for its status yet


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(3)", "refused"),
        ("import sys; [sys.stdout.write('x' * 65_536) for _ in iter(int, 1)]", "too_long"),
        ("print('{\"answer\": ')", "malformed"),
        ("print('{\"answer\": 7}')", "malformed"),
        ("print('{' * 100_000)", "malformed"),
    ],
)
def test_what_is_no_answer_fails_the_question(code, reason):
    with pytest.raises(ChatbotFailed) as caught:
        ask(code)
    assert caught.value.reason == reason


def test_a_command_that_does_not_exist_ends_the_run():
    with pytest.raises(Fatal, match="/no/such/bot: cannot be started: No such file"):
        CommandTarget(["/no/such/bot"], timeout=1, per_second=None).ask("Q", history=[], conversation="c-1")
