"""An export is proved by the verifier that it contains."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from base64 import b64encode
from hashlib import sha256
from io import BytesIO
from itertools import islice
from pathlib import Path

import pytest

from monitor.audit.export import ExportedRecord, stream_export, write_export
from monitor.audit.key import Signer
from monitor.audit.merkle import inclusion_proof
from monitor.audit.note import NotProved
from monitor.audit.record import act_record
from monitor.audit.recovery import Head, Recovery, WitnessState
from monitor.audit.standalone import verify_py
from tests.factories.audit.export import (
    ABOUT,
    ACTS,
    EXPORT,
    HOSTILE,
    LOG,
    PROFILE,
    RULES,
    SIZES,
    an_export,
    the_records,
    unpacked,
)
from tests.factories.audit.rows import SIGNER, Log


def test_an_export_is_proved_and_says_what_it_holds(verify):
    code, said = verify(EXPORT)
    assert code == 0, said
    assert "12 records (5 assessment, 5 interaction, 1 profile, 1 rules) of support-bot" in said
    assert f"at {SIZES[-1]} leaves" in said
    assert "9 disclosed in full, 0 in part, 1 withheld or erased" in said
    assert "note:" not in said
    assert "3 checkpoints" in said
    assert "0 profiles and 0 rule sets without a record" in said


def test_an_export_of_the_release_before_is_proved_with_its_page(verify):
    """Written by that release, with an erased interaction and a row that is not what was sealed."""
    code, said = verify((Path(__file__).parent / "export_of_earlier_release.zip").read_bytes())
    assert code == 0, said
    assert "12 records (5 assessment, 5 interaction, 1 profile, 1 rules) of support-bot" in said
    assert "index.html shows these records, and nothing else" in said
    assert "note: leaf 2 (interaction 'q-0'): the database does not hold what was sealed" in said


def test_a_recovery_from_a_backup_is_said(verify):
    lost = Head(9, b64encode(bytes(32)).decode())
    recovery = Recovery(
        by="ann",
        at="2025-11-21T12:00:00+00:00",
        reason="the disk failed",
        restored=Head.of(2, LOG.node(1, 0)),
        signed=2,
        witnesses=(WitnessState(name="file", newest=lost, at=None, lost=1),),
        lost=(lost,),
    )
    record = act_record(kind="recovery", app="", subject="trail", body=recovery.body(SIGNER))
    log = Log([*ACTS, record])
    proof = inclusion_proof(2, 3, log.node)
    records = [ExportedRecord(index=2, body=log.bodies[2].decode(), proof=proof, disclosed=None)]
    code, said = verify(an_export(log=log, records=records, checkpoints=[log.note(3)], consistency=[], profiles={}))
    assert code == 0, said
    assert "note: leaf 2 is a recovery from a backup by ann at 2025-11-21T12:00:00+00:00 (the disk failed)" in said
    assert "leaves 2 to 8 of an earlier history were lost, with 1 signed checkpoints" in said


def test_the_verifier_of_the_export_runs_alone_on_the_zip_and_the_folder(tmp_path):
    (tmp_path / "export.zip").write_bytes(EXPORT)
    folder = tmp_path / "folder"
    with zipfile.ZipFile(BytesIO(EXPORT)) as archive:
        archive.extractall(folder)
    for export in ("export.zip", "folder"):
        command = [sys.executable, "-I", "-S", str(folder / "verify.py"), export, "--key", SIGNER.verifier_key]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("proved: 12 records")


def test_the_same_content_gives_the_same_bytes():
    assert an_export() == EXPORT
    assert unpacked()["verify.py"] == verify_py().encode()
    assert unpacked()["key.txt"].decode() == f"{SIGNER.verifier_key}\n"


def test_records_are_written_as_they_come():
    out, taken = BytesIO(), []

    def records():
        for record in the_records():
            taken.append(out.tell())
            yield record

    write_export(
        out, records=records(), checkpoints=[LOG.note(SIZES[-1])], consistency=[], profiles={}, rules=[], about=ABOUT
    )
    assert taken[0] > 0  # the ZIP was begun before the first was asked for
    assert len(taken) == 12


def test_a_stream_is_sent_while_the_records_come_and_is_proved_whole(verify):
    count = 1_200
    log = Log([act_record(kind="look", app="support-bot", subject=f"s-{n}", body={"by": "ann"}) for n in range(count)])
    asked_for = []

    def records():
        for n in range(count):
            asked_for.append(n)
            proof = inclusion_proof(n, count, log.node)
            yield ExportedRecord(index=n, body=log.bodies[n].decode(), proof=proof, disclosed=None)

    chunks = stream_export(
        records=records(), checkpoints=[log.note(count)], consistency=[], profiles={}, rules=[], about=ABOUT
    )
    first = next(chunks)
    assert len(asked_for) < count
    sent = [first, *chunks]
    assert max(map(len, sent)) < 2**18
    code, said = verify(b"".join(sent))
    assert code == 0, said
    assert f"{count} records ({count} look)" in said


def test_a_stream_that_ends_early_is_no_zip():
    sent = []

    def records():
        yield from islice(the_records(), 3)
        raise OSError("gone")

    chunks = stream_export(
        records=records(), checkpoints=[LOG.note(SIZES[-1])], consistency=[], profiles={}, rules=[], about=ABOUT
    )
    with pytest.raises(OSError, match="gone"):
        sent.extend(chunks)
    assert not zipfile.is_zipfile(BytesIO(b"".join(sent)))


def test_chatbot_text_is_no_markup_on_the_page():
    page = unpacked()["index.html"].decode()
    assert HOSTILE not in page
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "(erased or withheld)" in page
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_page_counts_verdicts_and_shows_the_first_records_only():
    many = Log([act_record(kind="look", app="a", subject=f"s-{n}", body={"by": "ann"}) for n in range(520)])
    records = (
        ExportedRecord(index=n, body=many.bodies[n].decode(), proof=inclusion_proof(n, 520, many.node), disclosed=None)
        for n in range(520)
    )
    page = unpacked(an_export(log=many, records=records, checkpoints=[many.note(520)], consistency=[]))["index.html"]
    assert b"The first 500 of 520" in page
    assert b"s-499" in page
    assert b"s-500" not in page
    assert b"<td>grounded</td><td>5</td>" in unpacked()["index.html"]


def test_records_out_of_order_are_refused():
    with pytest.raises(ValueError, match="leaf 10 comes after leaf 11"):
        an_export(records=list(the_records())[::-1])


def test_an_export_needs_a_checkpoint_that_its_key_signed():
    with pytest.raises(ValueError, match="needs a checkpoint"):
        an_export(checkpoints=[])
    with pytest.raises(NotProved):
        an_export(log=Log([ACTS[0]] * 12, Signer("other.example", bytes(32))))


def test_an_export_without_records_is_proved(verify):
    code, said = verify(an_export(records=[], profiles={}))
    assert code == 0
    assert "0 records (none)" in said
    assert "note: this export holds no record, so it says nothing of any answer" in said


def test_half_a_zip_is_called_one(verify):
    content = an_export()
    code, said = verify(content[: len(content) // 2])
    assert code == 1
    assert "it begins as a ZIP does, and is not whole" in said


def test_profiles_and_rules_without_their_records_are_counted_as_not_proved(verify):
    others = [{"source": text, "digest": sha256(text.encode()).hexdigest()} for text in ("a", "b")]
    profiles = {"0123456789abcdef": PROFILE, "fedc": PROFILE}
    code, said = verify(an_export(profiles=profiles, rules=[RULES, *others]))
    assert code == 0
    assert "1 profiles and 2 rule sets without a record" in said
