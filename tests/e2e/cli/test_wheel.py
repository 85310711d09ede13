"""The program as a wheel installs it: migrations, by `monitor migrate` and by alembic's own command."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile

import pytest

from tests.rig.installation import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with what the wheel holds."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


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
