"""Checkpoints are time-stamped by scripted authorities, and an auditor checks that with `verify.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from monitor.app.audit.authority import Calendar
from monitor.app.audit.stamper import Stamper, check_stamps, shown_stamps
from monitor.app.audit.timestamps import TimestampAuthority
from monitor.app.wiring.audit import Auditing
from monitor.audit.stamp import StampKind
from monitor.audit.standalone import verify_py
from monitor.cli.app import app
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import Settings
from monitor.store.audit.proofs import Proofs
from monitor.store.audit.stamps import Stamps
from monitor.store.audit.verify import verify
from tests.factories.answers import an_assessment, at
from tests.rig.store.audit_trail import APP, Trail
from tests.rig.store.keys import KEY, QUEUE_KEY, give_key
from tests.servers.timestamps import ScriptedCalendar, an_authority, calendar_server, timestamp_server
from tests.servers.webhook import BROKEN, HANG_UP, Answer, http_server

HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return an_authority(tmp_path_factory.mktemp("tsa"))


@pytest.fixture
def server(authority):
    with timestamp_server(authority) as server:
        yield server


@pytest.fixture
def trail(engine, database):
    """One answer under the first checkpoint."""
    trail = Trail(engine, database)
    trail.write(an_assessment(id="a"))
    trail.turn()
    return trail


def a_stamper(trail, *authorities):
    return Stamper(stamps=Stamps(trail.engine), keys=[KEY], authorities=authorities, every=HOUR)


def grow(trail, id_):
    trail.write(an_assessment(id=id_))
    trail.turn()


def sizes(trail):
    return [(stamp.size, stamp.complete) for stamp, _ in Stamps(trail.engine).all()]


def audited(trail, tmp_path, *arguments, id_="a"):
    """What `verify.py` says of a proof, in an empty directory."""
    with Proofs(trail.engine).snapshot() as proved:
        proof = proved.prove(id_, APP, [KEY], disclose=False)
    (tmp_path / "proof.json").write_text(json.dumps(proof.json()))
    (tmp_path / "checkpoints").write_text("\n".join(trail.witness.notes))
    (tmp_path / "verify.py").write_text(verify_py())
    command = [sys.executable, "-I", "verify.py", "proof.json", "--key", KEY, *arguments]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def test_the_newest_checkpoint_is_stamped_once_an_hour(trail, server, authority):
    stamper = a_stamper(trail, TimestampAuthority(server.url, authority.ca))
    assert [stamp.size for stamp in stamper.run(at(1))] == [2]
    grow(trail, "b")
    assert stamper.run(at(30)) == []
    assert [stamp.size for stamp in stamper.run(at(61))] == [4]
    assert stamper.run(at(200)) == []  # nothing new to stamp
    grow(trail, "c")
    assert [stamp.size for stamp in stamper.run(at(10))] == [6]  # the clock was put back
    checked = check_stamps(Stamps(trail.engine).all(), [KEY], stamper.authorities)
    assert (checked.findings, checked.checked, checked.unchecked, checked.clocks) == ((), 3, 0, ())


@pytest.mark.parametrize(
    "trouble",
    [BROKEN, HANG_UP, Answer(body="<html>"), Answer(status=404), Answer(body=b"\x30\x05\x30\x03\x02\x01\x02")],
)
def test_an_authority_that_fails_is_asked_again_and_the_others_are_asked_all_the_same(trail, server, trouble, caplog):
    calendar = ScriptedCalendar()
    with calendar_server(calendar) as other:
        stamper = a_stamper(trail, TimestampAuthority(server.url), Calendar(other.url))
        server.script.append(trouble)
        assert [stamp.kind for stamp in stamper.run(at(1))] == [StampKind.RECEIPT]
        assert "gave no time stamp" in caplog.text
        grow(trail, "b")  # sealing goes on
        assert [stamp.kind for stamp in stamper.run(at(2))] == [StampKind.TIMESTAMP]


def test_an_answer_to_another_request_or_from_another_authority_is_not_kept(trail, server, authority, tmp_path):
    server.script.append(Answer(body=authority.stamp(b"something else")))
    assert a_stamper(trail, TimestampAuthority(server.url)).run(at(1)) == []
    assert a_stamper(trail, TimestampAuthority(server.url, an_authority(tmp_path).ca)).run(at(1)) == []
    assert sizes(trail) == []


def test_a_stamp_with_modifications_which_nobody_could_verify_is_not_kept(trail, authority, caplog):
    def modified(request):
        answer = authority.respond(request)
        return replace(answer, body=answer.body.replace(b"\x02\x01\x00", b"\x02\x01\x01", 1))

    with http_server(modified) as server:
        assert a_stamper(trail, TimestampAuthority(server.url)).run(at(1)) == []
    assert "granted with modifications" in caplog.text


def test_a_receipt_is_completed_once_its_block_is_there(trail, tmp_path):
    calendar = ScriptedCalendar()
    with calendar_server(calendar) as server:
        stamper = a_stamper(trail, Calendar(f"{server.url}/"))
        stamper.run(at(1))
        assert sizes(trail) == [(2, False)]
        assert "no Bitcoin block has it yet" in audited(trail, tmp_path)[1]
        calendar.mined = True
        stamper.run(at(2))
    assert sizes(trail) == [(2, True)]
    code, said = audited(trail, tmp_path)
    assert code == 0
    assert "is older than the Bitcoin block 800000, if its Merkle root is" in said


def test_a_receipt_that_cannot_be_completed_holds_up_no_other_stamp_and_is_given_up_in_the_end(trail, caplog):
    calendar = ScriptedCalendar()
    with calendar_server(calendar) as server:
        stamper = a_stamper(trail, Calendar(server.url))
        for id_, minute in (("b", 1), ("c", 62)):
            stamper.run(at(minute))
            grow(trail, id_)
        calendar.broken = True
        assert [stamp.size for stamp in stamper.run(at(123))] == [6]
        assert caplog.text.count("stays incomplete") == 3
        asked = len(server.requests)
        stamper.run(at(123) + timedelta(days=29))
        assert len(server.requests) == asked + 3
        stamper.run(at(124) + timedelta(days=30))
        assert len(server.requests) == asked + 3


def test_an_auditor_sees_when_an_answer_was_known(trail, server, authority, tmp_path):
    """With a proof file, a copy of a witness and the authority's certificate, in an empty directory."""
    a_stamper(trail, TimestampAuthority(server.url)).run(at(1))
    grow(trail, "b")
    code, said = audited(trail, tmp_path, "--witness", "checkpoints", "--tsa", str(authority.ca))
    assert code == 0, said
    assert (
        "occurred 2025-11-21 12:00:00Z, sealed 2025-11-21 12:01:00Z, in a checkpoint signed 2025-11-21 12:01:00Z, "
        in said
    )
    assert f"time-stamped {datetime.now(UTC):%Y-}" in said
    assert "2 of 2 checkpoints are the same at the witness checkpoints" in said
    code, said = audited(trail, tmp_path, "--stamps", "stamps")
    assert code == 0
    assert "by the log says it" not in said.partition("not proved")[0]
    assert "its signature is not checked" in said
    command = said.partition("and run: ")[2].splitlines()[0]
    host = server.url.removeprefix("http://").replace(":", "_")
    command = command.replace("SIZE", "2").replace("HOST", host).replace("CA.pem", str(authority.ca))
    checked = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Verification: OK" in checked.stdout, checked.stderr
    assert KEY in (tmp_path / "stamps" / "2.txt").read_text()
    other = tmp_path / "other"
    other.mkdir()
    code, said = audited(trail, tmp_path, "--tsa", str(an_authority(other).ca))
    assert code == 1
    assert "is not signed by an authority of" in said


def test_a_witness_with_another_root_or_none_is_a_fault(trail, tmp_path):
    size, root = trail.witness.notes[0].split("\n")[1:3]
    assert "are the same at the witness" in audited(trail, tmp_path, "--witness", f"{size}:{root}")[1]
    for witness, words in ((f"{size}:{'00' * 32}", "has another root of the first 2 leaves"), ("9:AAAA", "has none")):
        code, said = audited(trail, tmp_path, "--witness", witness)
        assert code == 1
        assert words in said


def test_clocks_that_contradict_one_another_are_named(trail, server, authority, tmp_path):
    trail.write(an_assessment(id="late", occurred_at=datetime(2100, 1, 1, tzinfo=UTC)))
    trail.sealer.seal_and_sign(datetime(2090, 1, 1, tzinfo=UTC))
    stamper = a_stamper(trail, TimestampAuthority(server.url, authority.ca))
    stamper.run(datetime(2090, 1, 1, tzinfo=UTC))
    code, said = audited(trail, tmp_path, id_="late")
    assert code == 0
    assert "says that it was sealed at 2090-01-01 00:00:00Z, before it occurred: 2100-01-01 00:00:00Z" in said
    assert "before 2090-01-01 00:00:00Z, when it says that it was signed: one of the two clocks is wrong" in said
    (clocks,) = check_stamps(Stamps(trail.engine).all(), [KEY], stamper.authorities).clocks
    assert "before the checkpoint was signed" in clocks


def test_a_stamp_that_somebody_put_into_the_database_proves_nothing_and_hides_nothing(trail, server, authority, rows):
    ours = TimestampAuthority(server.url, authority.ca)
    forged = authority.stamp(b"something else").hex()
    rows(
        "INSERT INTO audit_stamp VALUES "
        f"(2, '{ours.name}', 'rfc3161', '\\x{forged}', '{at(1).isoformat()}', '{at(1).isoformat()}', true)"
    )
    (finding,) = check_stamps(Stamps(trail.engine).all(), [KEY], [ours]).findings
    assert "proves nothing: it is of something else" in finding.sentence
    rows("INSERT INTO audit_stamp SELECT 1, witness, kind, token, obtained_at, stamped_at, complete FROM audit_stamp")
    assert len(check_stamps(Stamps(trail.engine).all(), [KEY], [ours]).findings) == 2  # of no checkpoint
    rows("DELETE FROM audit_stamp WHERE size = 1")
    with Proofs(trail.engine).snapshot() as proved:
        assert proved.prove("a", APP, [KEY], disclose=False).stamps == []
    assert len(a_stamper(trail, ours).run(at(2))) == 1
    assert check_stamps(Stamps(trail.engine).all(), [KEY], [ours]).findings == ()


def test_a_stored_stamp_of_another_kind_neither_counts_nor_keeps_the_authority_from_being_asked(
    trail, server, authority, rows
):
    ours, forger = TimestampAuthority(server.url, authority.ca), ScriptedCalendar()
    with calendar_server(forger) as elsewhere:
        a_stamper(trail, Calendar(elsewhere.url)).run(at(1))
    rows(f"UPDATE audit_stamp SET witness = '{ours.name}'")
    checked = check_stamps(Stamps(trail.engine).all(), [KEY], [ours])
    assert ([one.sentence.partition("proves nothing")[2] for one in checked.findings], checked.checked) == (
        [f": {ours.name} gives none of the kind opentimestamps"],
        0,
    )
    assert [stamp.kind for stamp in a_stamper(trail, ours).run(at(2))] == [StampKind.TIMESTAMP]
    checked = check_stamps(Stamps(trail.engine).all(), [KEY], [ours])
    assert (checked.findings, checked.checked) == ((), 1)


def test_a_time_stamp_is_shown_as_checked_only_where_its_own_authority_is_trusted(trail, server, authority):
    ours, untrusted = TimestampAuthority(server.url, authority.ca), TimestampAuthority(server.url)
    elsewhere = TimestampAuthority("https://tsa.example", authority.ca)
    a_stamper(trail, untrusted).run(at(1))
    newest = Stamps(trail.engine).newest()
    for authorities, checked in (([ours], True), ([untrusted], False), ([elsewhere], False), ([], False)):
        (its,) = shown_stamps(newest, [KEY], authorities)
        assert (its.fault, its.checked) == (None, checked)


def test_an_auditor_without_the_client_of_authorities_verifies_the_rest_and_is_told(
    trail, server, authority, database, tmp_path, monkeypatch
):
    a_stamper(trail, TimestampAuthority(server.url, authority.ca)).run(at(1))
    give_key(tmp_path / "state")
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_AUDIT__TIMESTAMP_URL", server.url)
    monkeypatch.setenv("MONITOR_AUDIT__TIMESTAMP_CA", str(authority.ca))
    verified = CliRunner().invoke(app, ["audit", "verify", "--processes", "1"])
    assert "fit their checkpoints and are signed by the configured authority: 1\n" in verified.output
    assert verified.output.endswith("nothing was changed within the trail\n")

    monkeypatch.setitem(sys.modules, "rfc3161_client", None)
    verified = CliRunner().invoke(app, ["audit", "verify", "--processes", "1"])
    assert verified.exit_code == 0
    assert "though nothing here checks that they are genuine: 1\n" in verified.output
    missing = "checking them against MONITOR_AUDIT__TIMESTAMP_CA needs the package rfc3161-client: pip install "
    assert missing in verified.output
    assert verified.output.endswith(
        "nothing was changed within the trail, apart from its time stamps, whose signatures are not checked\n"
    )
    told = json.loads(CliRunner().invoke(app, ["audit", "verify", "--processes", "1", "--json"]).output)["stamps"]
    assert (told["checked"], told["unchecked"], told["unchecked_because"][: len(missing)]) == (0, 1, missing)
    assert "signature not checked" in CliRunner().invoke(app, ["audit", "status"]).output
    asked = CliRunner().invoke(app, ["audit", "stamp"])
    assert "MONITOR_AUDIT__TIMESTAMP_URL needs the package rfc3161-client" in str(asked.exception)


def test_the_time_of_a_stored_checkpoint_is_the_signed_one(trail, rows):
    assert verify(trail.engine, [KEY], QUEUE_KEY).findings == ()
    rows("UPDATE audit_checkpoint SET made_at = made_at + interval '1 minute'")
    rows("UPDATE audit_leaf SET sealed_at = sealed_at + interval '1 minute' WHERE index = 1")
    said = [finding.sentence for finding in verify(trail.engine, [KEY], QUEUE_KEY).findings]
    assert "the checkpoint of 2 leaves: its time is not the one that was signed" in said


def test_wrong_settings_are_named_at_once(tmp_path):
    (tmp_path / "none.pem").write_text("no certificate")
    for path in (tmp_path / "none.pem", tmp_path / "missing.pem"):
        with pytest.raises(WrongSettings, match="MONITOR_AUDIT__TIMESTAMP_CA"):
            TimestampAuthority("https://tsa.example", path)
    with pytest.raises(WrongSettings, match="MONITOR_AUDIT__TIMESTAMP_URL"):
        TimestampAuthority("tsa.example")


def test_two_authorities_with_one_host_are_refused(trail):
    audit = {"timestamp_url": "https://its.example/tsa", "calendar_url": "https://its.example/calendar"}
    with pytest.raises(WrongSettings, match=r"both name its\.example"):
        Auditing(Settings(audit=audit), lambda: trail.engine).authorities()


def test_only_a_trail_with_checkpoints_elsewhere_is_called_intact(trail, database, tmp_path, monkeypatch):
    give_key(tmp_path / "state")
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    file = tmp_path / "checkpoints"
    monkeypatch.setenv("MONITOR_AUDIT__WITNESS_FILE", str(file))
    unwitnessed = "nothing kept outside the database vouches for the trail, and one replaced as a whole would pass\n"
    for notes, said, result in (
        (None, f"no witness: {unwitnessed}", "nothing was changed within the trail\n"),
        ([], f"no checkpoint in {file} yet: {unwitnessed}", "nothing was changed within the trail\n"),
        (trail.witness.notes[:1], f"checked against 1 checkpoint in {file}\n", "the trail is intact\n"),
    ):
        if notes is not None:
            file.write_text("".join(notes))
        verified = CliRunner().invoke(app, ["audit", "verify", "--processes", "1"])
        assert verified.exit_code == 0
        assert said in verified.output
        assert verified.output.endswith(result)
