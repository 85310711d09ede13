"""The program as a wheel installs it: what is in the wheel, its types, its pages, and its migrations."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from tests.rig.installation import ROOT

# A path of the machine that built it.
OF_A_MACHINE = re.compile(f"{re.escape(str(ROOT))}|/home/[a-z]+/|/root/|/tmp/(?:pytest|build)-".encode())
CLIENT = """
from monitor.client import Reporter

reporter = Reporter("http://127.0.0.1:4318", app="support-bot")
answer_id: str = reporter.record(question="a", retrieved_documents=["b"], answer="c")
reporter.record(question=1, retrieved_documents=["b"], answer="c")
"""


def build(target, folder, *, root=ROOT):
    """Builds `target`, wheel or sdist, of the source tree at `root`, and returns it."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (built,) = (path for path in folder.iterdir() if path.name.startswith("rag_monitor-") and path.is_file())
    return built


def contents(wheel):
    """The check sum of each file by its name, without the file that lists these."""
    with zipfile.ZipFile(wheel) as packed:
        return {file.filename: file.CRC for file in packed.infolist() if not file.filename.endswith("/RECORD")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def site(wheel):
    """A folder with what the wheel holds."""
    shutil.unpack_archive(wheel, wheel.parent / "site", "zip")
    return wheel.parent / "site"


@pytest.fixture
def installed(site, tmp_path):
    """Runs a module of the installed program, away from the source tree."""

    def run(*arguments, url):
        environment = {**os.environ, "PYTHONPATH": str(site), "MONITOR_DATABASE_URL": url}
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_source_distribution_builds_the_same_wheel(wheel, tmp_path):
    (tmp_path / "sdist").mkdir()
    shutil.unpack_archive(build("sdist", tmp_path / "sdist"), tmp_path, filter="data")
    (source,) = (path for path in tmp_path.iterdir() if path.name.startswith("rag_monitor-"))
    (tmp_path / "built").mkdir()
    assert contents(build("wheel", tmp_path / "built", root=source)) == contents(wheel)


def test_the_wheel_has_the_package_with_licence_and_notice_and_nothing_else(site):
    (about,) = site.glob("*.dist-info")
    assert {path.name for path in site.iterdir()} == {"monitor", about.name}
    assert {path.name for path in (about / "licenses").iterdir()} == {"LICENSE", "NOTICE"}
    metadata = (about / "METADATA").read_text(encoding="utf-8")
    for line in ("License-Expression: Apache-2.0", "Requires-Python: >=3.11", "Typing :: Typed"):
        assert line in metadata
    files = [path for path in (site / "monitor").rglob("*") if path.is_file()]
    strange = {"tests", "benchmarks", "__pycache__", ".git"}
    assert not [path for path in files if strange & set(path.relative_to(site).parts)]
    assert not [path for path in files if OF_A_MACHINE.search(path.read_bytes())]


def test_the_pages_that_commands_name_are_in_the_wheel(site, installed):
    shown = installed("monitor", "docs", "operate/kafka", url="postgresql://127.0.0.1:1/nothing")
    assert shown.stdout == (ROOT / "docs/operate/kafka.md").read_text(encoding="utf-8")
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert pages == {path.relative_to(site / "monitor/_docs") for path in (site / "monitor/_docs").rglob("*.md")}


def test_a_type_checker_sees_the_types_of_the_client(site, tmp_path):
    """In an environment that has nothing but what the wheel holds; without `py.typed` no type would be known."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    packages.rmdir()
    packages.symlink_to(site)
    (tmp_path / "chatbot.py").write_text(CLIENT, encoding="utf-8")
    python = tmp_path / "venv" / "bin" / "python"
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "chatbot.py"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "MYPYPATH"}},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.findall(r"^chatbot.py:(\d+): error: .*\[([a-z-]+)\]$", checked.stdout, re.MULTILINE) == [
        ("6", "arg-type")
    ]


def test_alembic_finds_the_migrations_of_the_wheel(site, installed, new_database):
    ini, url = str(site / "monitor" / "_migrations" / "alembic.ini"), new_database()
    upgraded = installed("alembic", "-c", ini, "upgrade", "head", url=url)
    assert upgraded.returncode == 0, upgraded.stderr
    current = installed("alembic", "-c", ini, "current", url=url)
    assert "(head)" in current.stdout, current.stderr


def test_the_program_migrates_by_what_is_in_the_wheel(site, installed, new_database):
    url = new_database()
    migrated = installed("monitor", "migrate", url=url)
    assert migrated.returncode == 0, migrated.stderr
    newest = max(path.name[:4] for path in (site / "monitor" / "_migrations" / "migrations" / "versions").glob("0*.py"))
    assert f"revision {newest}" in migrated.stderr
