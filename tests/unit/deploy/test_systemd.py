"""deploy/systemd: the units as systemd reads them, and what they tell the program."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest

from monitor.cli.terminal import LAST_RESORT
from monitor.core.settings.web import WebSettings
from tests.rig.commands import ROOT
from tests.rig.deploy.process import settings_under, wrong_use
from tests.rig.services import missing

FOLDER = ROOT / "deploy/systemd"
UNITS = sorted(path.name for path in FOLDER.glob("*.service"))
PROGRAM = "/opt/monitor/bin/monitor"
GUIDE = (ROOT / "docs/operate/systemd.md").read_text(encoding="utf-8")
CONSUMER = (FOLDER / "monitor-consumer@.service").read_text(encoding="utf-8")
DROP_INS = re.findall(r"^```(?:ini|systemd)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
INSTANCE = "9465"
CREDENTIALS, STATE = "/run/credentials/unit", "/var/lib"


def service(name):
    """The settings of a unit's service, each with all its values, and its specifiers as systemd replaces them."""
    return read((FOLDER / name).read_text(encoding="utf-8"))


def read(text):
    for specifier, value in {"%d": CREDENTIALS, "%S": STATE, "%i": INSTANCE}.items():
        text = text.replace(specifier, value)
    section = text.partition("[Service]\n")[2].partition("\n[")[0]
    found: dict[str, list[str]] = {}
    for line in section.splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """Copies of the units that start a program which exists here."""
    if shutil.which("systemd-analyze") is None:
        missing("systemd-analyze is needed: apt-get install systemd")
    folder = tmp_path_factory.mktemp("systemd")
    for name in UNITS:
        text = (FOLDER / name).read_text(encoding="utf-8").replace(PROGRAM, "/bin/true")
        (folder / name.replace("@", f"@{INSTANCE}")).write_text(text, encoding="utf-8")
    (folder / "monitor.service.d").mkdir()
    for number, drop_in in enumerate(DROP_INS):
        text = drop_in.replace(PROGRAM, "/bin/true")
        (folder / f"monitor.service.d/{number}.conf").write_text(text, encoding="utf-8")
    return folder


def test_systemd_understands_every_line(units):
    paths = sorted(map(str, units.glob("*.service")))
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *paths], check=False, capture_output=True, text=True
    )
    ours = [line for line in ended.stderr.splitlines() if str(units) in line]
    assert (ended.returncode, ours) == (0, [])


def test_systemd_finds_them_hardened(units):
    for path in units.glob("*.service"):
        analyze = ["systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager", path]
        ended = subprocess.run(analyze, check=False, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout  # more than 2.0 of 10 is exposed


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_runs_a_command_that_exists_under_settings_that_exist(name, tmp_path):
    its = service(name)
    (command,) = its["ExecStart"]
    program, *words = command.split()
    assert program == PROGRAM
    assert wrong_use(words) is None
    environment = dict(word.split("=", 1) for value in its["Environment"] for word in value.split())
    settings = settings_under(environment, tmp_path)
    assert str(settings.state_dir) == f"{STATE}/{its['StateDirectory'][0]}"
    given = {f"{CREDENTIALS}/{value.partition(':')[0]}" for value in its["LoadCredential"]}
    assert given == {value for name, value in environment.items() if name.endswith("_FILE")}
    assert int(its["TimeoutStopSec"][0]) > LAST_RESORT
    assert "WatchdogSec" not in its  # the program does not notify systemd


def test_the_drop_ins_of_the_guide_run_a_command_that_exists_under_settings_that_exist(tmp_path):
    secret, files = map(read, DROP_INS)
    name, _, path = secret["Environment"][0].partition("=")
    assert path == f"{CREDENTIALS}/{secret['LoadCredential'][0].partition(':')[0]}"
    assert settings_under({name: path}, tmp_path).slack.bot_token is not None
    reset, command = files["ExecStart"]
    assert reset == ""
    assert wrong_use(command.removeprefix(PROGRAM).split()) is None


def port_of(name):
    """The port that a unit's process listens at; `NAME@.service` leaves it to the instance."""
    environment = [word for value in service(name)["Environment"] for word in value.split()]
    found = [word.partition("=")[2] for word in environment if word.startswith("MONITOR_METRICS__PORT=")]
    return int(found[0]) if found else WebSettings().port


def test_processes_on_one_host_listen_at_ports_of_their_own():
    ports = [port_of(name) for name in UNITS]
    assert len(set(ports)) == len(UNITS) == 3


def test_the_instances_of_the_guide_are_free_ports():
    told = re.findall(r"enable --now ((?:monitor-consumer@\d+ ?)+)$", GUIDE + CONSUMER, re.MULTILINE)
    assert len(told) == 3  # to scale, to move from earlier names, and the unit's own first line
    fixed = {port_of(name) for name in UNITS if "@" not in name}
    for line in told:
        ports = [int(port) for port in re.findall(r"@(\d+)", line)]
        assert len(set(ports)) == len(ports)
        assert all(1024 <= port < 2**16 for port in ports)  # below, only root may listen
        assert fixed.isdisjoint(ports)


def test_the_guide_makes_the_key_where_nobody_else_can_have_made_one():
    made = re.search(r"^MONITOR_STATE_DIR=(\S+) \S+ audit seal$", GUIDE, re.MULTILINE)[1]
    assert made == '"$first"'
    assert "\nfirst=$(mktemp -d)\n" in GUIDE


def test_commands_by_hand_have_the_settings_of_the_services(tmp_path):
    text = (FOLDER / "rag-monitor").read_text(encoding="utf-8")
    words = shlex.split(text.replace("\\\n", " ").partition("env ")[2])
    by_hand = dict(word.split("=", 1) for word in words if "=" in word)
    assert words[-2:] == [PROGRAM, "$@"]
    for name in UNITS:
        its = dict(word.split("=", 1) for value in service(name)["Environment"] for word in value.split())
        sources = dict(value.split(":", 1) for value in service(name)["LoadCredential"])
        same = {key: sources.get(value.removeprefix(f"{CREDENTIALS}/"), value) for key, value in its.items()}
        assert by_hand.items() <= same.items()
    assert settings_under(by_hand, tmp_path).database_url is not None
