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


def test_it_need_not_read_its_input():
    assert ask("print('fine')", question="x" * 1_000_000).text == "fine"


def test_output_that_is_no_utf8_is_read_as_far_as_it_goes():
    assert ask("import sys; sys.stdout.buffer.write(b'a\\xffb')").text == "a\ufffdb"


def shell(script, *, timeout=30.0):
    target = CommandTarget(["/bin/sh", "-c", script], timeout=timeout, per_second=None)
    return target.ask("Q", history=[], conversation="c-1")


def test_children_that_hold_the_output_open_are_ended_and_not_waited_for(tmp_path):
    assert shell(f"sleep 600 & echo $! > {tmp_path}/child; echo hello").text == "hello"
    until("the child has ended", lambda: ended(tmp_path / "child"))


def test_children_of_one_that_hangs_are_ended(tmp_path):
    with pytest.raises(ChatbotFailed):
        shell(f"sleep 600 & echo $! > {tmp_path}/child; wait", timeout=0.3)
    until("the child has ended", lambda: ended(tmp_path / "child"))


def test_one_that_closes_its_output_and_goes_on_is_late():
    with pytest.raises(ChatbotFailed) as caught:
        shell("exec >&-; sleep 600", timeout=0.3)
    assert caught.value.reason == "timeout"


def ended(child):
    """Whether the process is gone whose id the file holds."""
    try:
        stat = Path("/proc", child.read_text(encoding="ascii").strip(), "stat").read_text(encoding="utf-8")
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


def test_a_broken_object_is_quoted():
    with pytest.raises(ChatbotFailed, match=r'wrote no JSON: \{"answer": oh'):
        ask("""print('{"answer": oh')""")


def failure(code, **more):
    with pytest.raises(ChatbotFailed) as caught:
        ask(code, **more)
    return str(caught.value)


COMPLAIN = "import sys, time; sys.stderr.write({!r}); sys.stderr.flush(); "


def test_what_it_wrote_to_standard_error_says_why_it_failed():
    said = failure("print('A refund'); raise LookupError('no index at /srv/index')")
    assert "ended with 1; it wrote: " in said
    assert said.endswith("LookupError: no index at /srv/index")
    said = failure(COMPLAIN.format("one\ntwo\n\nthree\x1b[31m \u202e\n  four\n") + "sys.exit(3)")
    assert said.endswith("ended with 3; it wrote: two three[31m four")


def test_one_that_is_late_tells_what_it_wrote_so_far():
    with pytest.raises(ChatbotFailed, match="no answer in 3 s; it wrote: waiting for the index"):
        shell("echo waiting for the index >&2; sleep 600", timeout=3.0)


def test_one_that_writes_nothing_there_is_named_alone():
    assert failure("raise SystemExit(3)").endswith("ended with 3")


def test_no_more_than_the_end_is_kept_of_what_it_writes_to_standard_error():
    said = failure("import sys; sys.stderr.write('x' * 3_000_000 + ' the end'); sys.exit(1)")
    assert said.endswith("xxx the end")
    assert len(said) < 500


def test_what_it_writes_to_standard_error_is_no_part_of_an_answer():
    assert ask(COMPLAIN.format("a warning\n") + "print('fine')").text == "fine"


def test_a_child_that_goes_on_complaining_is_not_waited_for():
    assert shell("yes >&2 & echo hello").text == "hello"


def test_secrets_of_the_environment_and_those_that_look_like_one_are_not_quoted(monkeypatch):
    monkeypatch.setenv("SHOP_API_KEY", "s3cret-of-the-shop")
    monkeypatch.setenv("SHOP_KEY_FILE", "/run/secrets/shop")
    text = "s3cret-of-the-shop /run/secrets/shop postgresql://me:pass@db.example/x sk-0123456789abcdefghij\n"
    assert failure(COMPLAIN.format(text) + "sys.exit(1)").endswith(
        "it wrote: [secret] /run/secrets/shop postgresql://***@db.example/x [key]"
    )


def test_the_place_names_the_script_and_no_other_argument(tmp_path):
    script = tmp_path / "ask.py"
    script.write_text("raise SystemExit(2)")
    target = CommandTarget([sys.executable, "-S", str(script), "--key", "s3cret"], timeout=30, per_second=None)
    assert target.place == f"command {sys.executable} {script}"
    with pytest.raises(ChatbotFailed, match=r"ask\.py ended with 2$"):
        target.ask("Q", history=[], conversation="c-1")
    assert CommandTarget(["bot", "x" * 5_000, "a\x00b"], timeout=30, per_second=None).place == "command bot"


@pytest.mark.parametrize(
    ("name", "why"),
    [("/no/such/bot", "/no/such/bot: cannot be started: No such file"), ("no\x00bot", "cannot be started")],
)
def test_a_command_that_cannot_be_started_ends_the_run(name, why):
    with pytest.raises(Fatal, match=why):
        CommandTarget([name], timeout=1, per_second=None).ask("Q", history=[], conversation="c-1")
