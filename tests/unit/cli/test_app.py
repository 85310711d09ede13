"""The command line as a whole: what it lists, what a shell completes, and the options before a command."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module

import pytest
import typer
from typer.testing import CliRunner

from monitor.cli.app import COMMANDS, app
from tests.rig.commands import ROOT

LISTED = [command for commands in COMMANDS.values() for command in commands]


@pytest.mark.parametrize(("name", "place", "summary"), LISTED, ids=[name for name, _, _ in LISTED])
def test_each_command_is_listed_with_the_first_sentence_of_its_help(name, place, summary):
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute)
    help_text = found.info.help if isinstance(found, typer.Typer) else inspect.getdoc(found)
    assert help_text.split("\n\n")[0].replace("\n", " ") == summary
    assert (found.info.name if isinstance(found, typer.Typer) else attribute) == name


def test_the_help_of_a_listed_command_is_that_of_the_command_itself():
    shown = CliRunner().invoke(app, ["alerts", "silence", "--help"], env={"COLUMNS": "200"}).output
    assert "--comment" in shown
    assert "Notify nobody of the alerts that match" in shown


def test_a_name_that_is_nearly_a_command_is_answered_with_it():
    result = CliRunner().invoke(app, ["alert", "list"], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "Did you mean 'alerts'?" in result.output


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["--log-format", "xml", "doctor"], {}),
        (["doctor"], {"MONITOR_LOG_FORMAT": "xml"}),
    ],
)
def test_a_wrong_option_is_told_in_our_words_alone(arguments, settings):
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200", **settings})
    assert result.exit_code == 2
    assert "xml" in result.output + str(result.exception)
    assert "Value error" not in result.output


def completed(shell_line: str, folder) -> list[str]:
    """What bash offers for the last word of a line, with the script that `--show-completion` prints."""
    command = folder / "monitor"
    command.write_text(f"#!{sys.executable}\nfrom monitor.__main__ import main\nmain()\n")
    command.chmod(0o755)
    script = f"""
source <(monitor --show-completion bash)
COMP_WORDS=({shell_line}{' ""' if shell_line.endswith(" ") else ""})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
COMP_LINE="$1"; COMP_POINT=${{#1}}
function_of_monitor=$(complete -p monitor | sed 's/.*-F \\([^ ]*\\).*/\\1/')
"$function_of_monitor" monitor
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    ended = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", shell_line],
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr == ""
    return ended.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("monitor al", ["alerts"]),
        ("monitor alerts si", ["simulate", "silence", "silences"]),
        ("monitor alerts silence --c", ["--comment"]),
        ("monitor --conf", ["--config"]),
    ],
)
def test_bash_completes_commands_and_options(line, offered, tmp_path):
    assert sorted(completed(line, tmp_path)) == sorted(offered)


@pytest.fixture
def settings_file(tmp_path, monkeypatch):
    monkeypatch.setenv("MONITOR_CONFIG", "/nowhere.toml")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quillmere.toml").write_text('[kafka]\ntopics = "rag.answers"\n', encoding="utf-8")


@pytest.mark.usefixtures("settings_file")
def test_the_option_config_names_the_settings_file_for_one_command_and_the_processes_it_starts(tmp_path, monkeypatch):
    result = CliRunner().invoke(app, ["--config", "quillmere.toml", "settings", "--json"])
    assert json.loads(result.output)["kafka"]["topics"] == ["rag.answers"]
    seen = []
    monkeypatch.setattr("monitor.cli.operate.doctor.load_settings", lambda: seen.append(os.environ["MONITOR_CONFIG"]))
    CliRunner().invoke(app, ["--config", "quillmere.toml", "settings", "--json"])
    assert seen == [str(tmp_path / "quillmere.toml")]
    assert os.environ["MONITOR_CONFIG"] == "/nowhere.toml"  # for one command only


@pytest.mark.usefixtures("settings_file")
def test_without_the_option_the_environment_names_it():
    ended = CliRunner().invoke(app, ["settings"])
    assert "/nowhere.toml cannot be read" in str(ended.exception)
