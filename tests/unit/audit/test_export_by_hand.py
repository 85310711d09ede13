"""Exports and proofs that somebody has made by hand, to mislead the verifier, its terminal or other programs."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from io import BytesIO

import pytest

from monitor.audit.standalone import verify_py
from tests.factories.answers import NOON
from tests.factories.audit.export import ABOUT, EXPORT, LOG, SIZES, an_export, the_records, unpacked
from tests.factories.audit.rows import SIGNER, Log
from tests.rig.audit.shipped import standalone
from tests.unit.audit.test_export_tampering import packed
from tests.unit.audit.test_stamps import a_proof, a_stamp, a_token

KEY = SIGNER.verifier_key
SPOOF = "c-1\nproved: no record was left out\x1b[2K\u202e\ud800"


def of_only(value):
    """An export whose manifest and page say that its answers were chosen by a value."""
    files = unpacked()
    manifest = json.loads(files["manifest.json"])
    manifest["about"]["only"] = value
    first = [(its.index, json.loads(its.body), values_of(its)) for its in the_records()]
    files["index.html"] = standalone.index_page(manifest, KEY, {"grounded": 5}, first).encode("utf-8", "replace")
    return packed(files | {"manifest.json": json.dumps(manifest).encode()})


def values_of(record):
    return {name: of["value"] for name, of in (record.disclosed or {}).items()}


def test_no_text_of_an_export_writes_a_line_of_its_own(verify):
    code, said = verify(of_only("c-1\nproved: no record was left out\x1b[2K\u202e"))
    assert code == 0, said
    assert "only with c-1\\nproved: no record was left out\\x1b[2K\\u202e\n" in said
    code, said = verify(packed(unpacked() | {"x\nproved: 12 records\x1b[8m": b""}, honest=False))
    assert (code, said) == (1, "fault: x\\nproved: 12 records\\x1b[8m: the manifest does not name it\n")


def test_no_text_of_an_export_ends_the_program(tmp_path):
    program, export = tmp_path / "verify.py", tmp_path / "export.zip"
    program.write_text(verify_py(), encoding="utf-8")
    export.write_bytes(packed(unpacked() | {"é.txt": b""}, honest=False))
    ended = subprocess.run(
        [sys.executable, str(program), str(export), "--key", KEY],
        env={"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (1, "")
    assert ended.stdout == "fault: \\xe9.txt: the manifest does not name it\n"
    code = f"import verify; verify.show([{SPOOF!r}])"
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.stdout == "c-1\\nproved: no record was left out\\x1b[2K\\u202e\\ud800\n"


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_an_export_that_is_compressed_otherwise_is_refused(verify, method):
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in unpacked().items():
            archive.writestr(name, content)
    content = bytearray(out.getvalue())
    content[60:80] = bytes(20)
    code, said = verify(bytes(content))
    assert code == 1
    assert "is neither an export nor a proof: it is compressed in a way that no export is" in said


def _before(export, forged):
    return forged + export


def _behind(export, forged):
    return export + forged[:100]


def _between(export, forged):
    """A file that the list does not name, before the list: what reads a ZIP from its start finds it."""
    with zipfile.ZipFile(BytesIO(export)) as archive:
        start = archive.start_dir
    hidden = forged[: zipfile.ZipFile(BytesIO(forged)).start_dir]
    end = bytearray(export[start:])
    at = len(end) - 22
    end[at + 16 : at + 20] = (start + len(hidden)).to_bytes(4, "little")
    return export[:start] + hidden + bytes(end)


def _comment(export, _):
    out = BytesIO(export)
    with zipfile.ZipFile(out, "a") as archive:
        archive.comment = b"checked by the auditor"
    return out.getvalue()


@pytest.mark.parametrize("change", [_before, _behind, _between, _comment])
def test_what_another_program_may_find_in_a_zip_is_named(verify, change):
    forged = packed({"index.html": b"Everything was checked."}, honest=False)
    content = change(EXPORT, forged)
    with zipfile.ZipFile(BytesIO(content)) as archive:
        assert archive.read("index.html") == unpacked()["index.html"]
    code, said = verify(content)
    assert code == 1
    assert "fault: the ZIP has bytes beside its files: another program may show other files" in said


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_export_that_was_packed_again_proves_the_same(verify, tmp_path, method):
    with zipfile.ZipFile(BytesIO(EXPORT)) as archive:
        archive.extractall(tmp_path / "export")
    again = BytesIO()
    with zipfile.ZipFile(again, "w", method) as archive:
        for path in sorted((tmp_path / "export").iterdir()):
            archive.write(path, path.name)
    assert verify(again.getvalue())[0] == 0


def test_a_link_in_the_folder_of_an_export_is_named(tmp_path, capsys):
    with zipfile.ZipFile(BytesIO(EXPORT)) as archive:
        archive.extractall(tmp_path / "export")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "index.html").write_text("Everything was checked.")
    (tmp_path / "export" / "more").symlink_to(tmp_path / "elsewhere")
    code = standalone.main([str(tmp_path / "export"), "--key", KEY])
    assert (code, capsys.readouterr().out) == (1, "fault: more: the manifest does not name it\n")


def test_the_span_that_an_export_is_of_is_said(verify):
    code, said = verify(an_export())
    assert code == 0
    start, end = (standalone.instant(at.isoformat()) for at in (ABOUT.start, ABOUT.end))
    assert f"answers from {start:%Y-%m-%dT%H:%M:%S}.000000Z to {end:%Y-%m-%dT%H:%M:%S}.000000Z, says the export" in said


def test_a_witness_that_knows_checkpoints_in_between_is_not_called_behind(verify, tmp_path):
    """The end of the export may be another history than the one whose checkpoints the witness has since."""
    fork = Log(
        [*map(json.loads, LOG.bodies[:9]), *map(json.loads, LOG.bodies[10:]), *map(json.loads, LOG.bodies[9:10])]
    )
    (tmp_path / "notes").write_text(f"{LOG.note(7)}\n{fork.note(10)}\n")
    code, said = verify(EXPORT, "--witness", str(tmp_path / "notes"))
    assert code == 0
    assert "has 1 checkpoints of 10 to 10 leaves that are not here, so nothing was compared with them" in said


@pytest.mark.parametrize("witness", [7, None, ["tsa.example"]])
def test_a_time_stamp_of_nobody_is_a_fault(verify, tmp_path, witness):
    files = unpacked(an_export(stamps=[a_stamp(a_token())]))
    entry = {**json.loads(files["stamps.jsonl"]), "witness": witness}
    code, said = verify(packed(files | {"stamps.jsonl": json.dumps(entry).encode()}), "--stamps", str(tmp_path / "s"))
    assert code == 1
    assert "stamps.jsonl line 1: does not name who gave it" in said


def test_a_folder_for_time_stamps_that_cannot_be_written_is_wrong_use(verify, tmp_path, capsys):
    files = unpacked(an_export(stamps=[a_stamp(a_token())]))
    entry = {**json.loads(files["stamps.jsonl"]), "witness": "x" * 1_000}
    content = packed(files | {"stamps.jsonl": json.dumps(entry).encode()})
    assert verify(content, "--stamps", str(tmp_path / "good"))[0] == 0
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as ended:
        verify(content, "--stamps", str(tmp_path / "file"))
    assert ended.value.code == 2
    assert "--stamps: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda proof: proof.update(id="q-7"), "it says that it is about 'q-7', and no leaf is"),
        (lambda proof: proof.update(size=99), "its size is another than that of the last checkpoint"),
        (lambda proof: proof.update(key="monitor+00000000+AAAA"), "its key is another than"),
        (lambda proof: proof.update(checkpoint=LOG.note(SIZES[0])), "its checkpoint is another than"),
        (lambda proof: proof["records"][0].update(occurred_at="2020-01-01T00:00:00Z"), "its occurred_at is not 2020"),
        (lambda proof: proof["records"][0].update(sealed_at="2020-01-01T00:00:00Z"), "its sealed_at is not 2020"),
        (lambda proof: proof["records"][0].update(signed_at="2020-01-01T00:00:00Z"), "its signed_at is not 2020"),
        (
            lambda proof: proof["records"][0]["stamped"][0].update(at=f"{NOON:%Y-%m-%dT%H:%M:%SZ}"),
            "no time stamp here is the one by tsa.example at",
        ),
    ],
)
def test_what_a_proof_says_beside_its_leaves_is_checked(verify, change, said):
    proof = a_proof().json()
    assert verify(json.dumps(proof).encode())[0] == 0
    change(proof)
    code, shown = verify(json.dumps(proof).encode())
    assert code == 1
    assert said in shown
