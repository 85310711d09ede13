"""Standard output that cannot be written, or lacks characters, and an installation that lacks packages: no defects."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from monitor import __main__ as program
from monitor.cli.terminal import print_json
from tests.conftest import missing
from tests.rig.commands import ROOT

FULL = Path("/dev/full")


@pytest.fixture
def ended(monkeypatch, capsys, caplog):
    """Ends the program whose command is this function; gives its exit code and what it says."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")

    def end(command, out):
        monkeypatch.setattr("monitor.cli.app.app", command)
        monkeypatch.setattr(sys, "stdout", out)
        with pytest.raises(SystemExit) as end:
            program.main()
        assert not caplog.records  # no defect
        return end.value.code, capsys.readouterr().err

    return end


def prints(size):
    def command():
        typer.echo("x" * size)
        sys.exit(program.DONE)

    return command


@pytest.mark.parametrize("size", [1, 100_000], ids=["at the end", "meanwhile"])
def test_a_full_disk_is_told_in_a_line(ended, size):
    if not FULL.exists():
        missing("/dev/full is needed, which Linux has")
    with FULL.open("w") as out:
        assert ended(prints(size), out) == (program.FAILED, "monitor: cannot write: No space left on device\n")


def test_a_full_disk_of_another_file_is_told_with_its_name(ended):
    def command():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/there/report.html")

    code, said = ended(command, io.StringIO())
    assert (code, said) == (program.FAILED, "monitor: cannot write /there/report.html: No space left on device\n")


def test_a_reader_that_has_seen_enough_is_told_nothing(ended):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as out:
        assert ended(prints(1), out) == (program.FAILED, "")


def test_a_terminal_that_lacks_a_character_gets_a_question_mark(ended):
    def command():
        sys.stdout.write("Schlüssel\n")
        print_json({"app": "Schlüssel"})
        sys.exit(program.DONE)

    written = io.BytesIO()
    out = io.TextIOWrapper(written, encoding="ascii")
    assert ended(command, out) == (program.DONE, "")
    line, _, text = written.getvalue().decode("ascii").partition("\n")
    assert line == "Schl?ssel"
    assert json.loads(text) == {"app": "Schlüssel"}  # whole


def test_without_its_dependencies_the_program_says_that_the_client_alone_is_installed():
    ended = subprocess.run(
        [sys.executable, "-S", "-m", "monitor", "ledger"],  # without site-packages
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == program.WRONG_USE
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith("monitor: the package ")
    assert "`pip install --no-deps` installs no more than the client" in line
