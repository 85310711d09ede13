"""The verifier finds and names every change in an export."""

from __future__ import annotations

import json
import random
import zipfile
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from io import BytesIO

import pytest

from monitor.audit.canonical import canonical
from monitor.audit.commitment import field_key
from monitor.audit.export import Stored
from monitor.audit.key import Signer
from monitor.audit.merkle import inclusion_proof
from tests.factories.audit.export import ACTS, EXPORT, LOG, SIZES, an_export, the_records, unpacked
from tests.factories.audit.rows import SECRET, SIGNER, Log
from tests.rig.audit.shipped import standalone


def packed(files, *, honest=True):
    """The files as a ZIP; `honest`: with a manifest that fits them."""
    files = dict(files)
    if honest:
        manifest = json.loads(files["manifest.json"])
        manifest["files"] = {
            name: {"bytes": len(content), "sha256": sha256(content).hexdigest()}
            for name, content in files.items()
            if name != "manifest.json"
        }
        files["manifest.json"] = json.dumps(manifest).encode()
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def changed_lines(change):
    """The export with record lines changed by `change`."""
    files = unpacked()
    lines = [json.loads(line) for line in files["records.jsonl"].splitlines()]
    lines = change(lines) or lines
    return packed(files | {"records.jsonl": b"".join(canonical(line) + b"\n" for line in lines)})


@pytest.mark.parametrize("name", sorted(unpacked()))
def test_a_file_that_is_missing_is_named(verify, name):
    files = unpacked()
    del files[name]
    code, said = verify(packed(files, honest=False))
    assert code == 1
    assert name in said


@pytest.mark.parametrize("name", sorted(set(unpacked()) - {"manifest.json"}))
def test_a_file_that_was_changed_is_named(verify, name):
    files = unpacked()
    files[name] += b" "
    code, said = verify(packed(files, honest=False))
    assert code == 1
    assert f"fault: {name}: is not the file that the manifest names" in said


def test_a_file_too_many_is_named(verify):
    code, said = verify(packed(unpacked() | {"more/notes.txt": b""}, honest=False))
    assert (code, said) == (1, "fault: more/notes.txt: the manifest does not name it\n")


def _flip_body(lines):
    lines[4]["body"] = lines[4]["body"].replace('"turn":null', '"turn":1')


def _drop(lines):
    del lines[4]


def _swap(lines):
    lines[4], lines[5] = lines[5], lines[4]


def _twice(lines):
    lines.insert(4, lines[4])


def _proof(lines):
    lines[4]["proof"][0] = b64encode(bytes(32)).decode()


def _index(lines):
    lines[11]["index"] = 12


def _value(lines):
    lines[4]["disclosed"]["question"]["value"] = "Something else?"


def _key(lines):
    lines[4]["disclosed"]["question"]["key"] = bytes(32).hex()


def _exchanged(lines):
    opened = lines[4]["disclosed"]
    opened["question"], opened["answer"] = opened["answer"], opened["question"]


def _of_no_commitment(lines):
    lines[4]["disclosed"]["model"] = {"key": field_key(SECRET, "model").hex(), "value": "gpt-test"}


def _other_app(lines):
    body, proof = LOG.bodies[12].decode(), inclusion_proof(12, SIZES[-1], LOG.node)
    lines.append({"index": 12, "body": body, "proof": [b64encode(item).decode() for item in proof], "disclosed": None})


def _not_canonical(lines):
    lines[4]["body"] += " "


def _more(lines):
    lines[4]["note"] = "signed by the auditor"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_flip_body, "leaf 4 (interaction 'q-2') is not proved"),
        (_drop, "it counts"),
        (_swap, "comes after leaf 5"),
        (_twice, "comes after leaf 4"),
        (_proof, "leaf 4 (interaction 'q-2') is not proved"),
        (_index, "leaf 12 (assessment 'q-4') is not proved"),
        (_value, "leaf 4 (interaction 'q-2'): its question is not what the record committed to"),
        (_key, "its question is not what"),
        (_exchanged, "its answer is not what"),
        (_of_no_commitment, "its model is not what"),
        (_other_app, "belongs to the app 'other-bot'"),
        (_not_canonical, "is not in canonical form"),
        (_more, "does not have the parts of a record"),
    ],
)
def test_a_record_that_was_changed_is_named_though_the_manifest_was_made_to_fit(verify, change, said):
    code, faults = verify(changed_lines(change))
    assert code == 1
    assert said in faults


def _resigned(files):
    forger = Signer(SIGNER.name, bytes(32))
    files["checkpoints.txt"] = "\n".join(Log(map(json.loads, LOG.bodies), forger).note(s) for s in SIZES).encode()


def _rewritten(files):
    other = Log([ACTS[1], *map(json.loads, LOG.bodies[1:])])
    notes = [other.note(SIZES[0]), *(LOG.note(size) for size in SIZES[1:])]
    files["checkpoints.txt"] = "\n".join(notes).encode()


def _reordered(files):
    files["checkpoints.txt"] = "\n".join(LOG.note(size) for size in reversed(SIZES)).encode()


def _fewer(files):
    files["checkpoints.txt"] = "\n".join(LOG.note(size) for size in SIZES[:-1]).encode()


def _none(files):
    files["checkpoints.txt"] = b""


def _no_growth(files):
    files["consistency.json"] = b"[]"


def _threshold(files):
    files["profiles.json"] = files["profiles.json"].replace(b"0.5", b"0.25")


def _source(files):
    files["rules.jsonl"] = files["rules.jsonl"].replace(b"rules: []", b"rules: {}")


def _count(files):
    files["manifest.json"] = files["manifest.json"].replace(b'"records": 12', b'"records": 13')


def _format(files):
    files["manifest.json"] = files["manifest.json"].replace(b"export/2", b"export/9")


def _deep(files):
    files["profiles.json"] = b"[" * 100_000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            _resigned,
            f"the given key {SIGNER.name}+{SIGNER.id.hex()}: the key is wrong, or the export is from another log",
        ),
        (_rewritten, "consistency.json from 4 to 7: the larger checkpoint did not grow out of the smaller"),
        (_reordered, "is not larger than the checkpoint before it"),
        (_fewer, "is not proved"),
        (_none, "no checkpoint is proved"),
        (_no_growth, "0 proofs for 2 steps"),
        (_threshold, "the definition of 0123456789abcdef is not the one in the log"),
        (_source, "rules.jsonl line 1: the rules do not have their digest"),
        (_count, "manifest.json: it counts"),
        (_format, "has the format monitor-audit-export/9"),
        (_deep, "cannot be read (RecursionError"),
    ],
)
def test_what_else_was_changed_is_named_though_the_manifest_was_made_to_fit(verify, change, said):
    files = unpacked()
    change(files)
    code, faults = verify(packed(files))
    assert code == 1
    assert said in faults


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page.replace("Deleted snapshots are kept for 30 days.", "They are never deleted."),
        lambda page: page.replace("<td>grounded</td><td>5</td>", "<td>grounded</td><td>50</td>"),
        lambda page: page.replace("</main>", "<p>Everything was checked by an auditor.</p></main>"),
        lambda page: page.replace(SIGNER.verifier_key, Signer("monitor", bytes(32)).verifier_key),
        lambda page: page + " ",
    ],
    ids=["an answer", "a count", "a sentence", "the key", "a space"],
)
def test_a_forged_page_is_said_not_to_be_proved(verify, change):
    files = unpacked()
    page = files["index.html"].decode()
    assert change(page) != page
    code, said = verify(packed(files | {"index.html": change(page).encode()}))
    assert code == 1
    assert "not proved: index.html is not the page that the proved records give" in said


def test_a_forged_key_beside_the_export_is_said_not_to_be_proved(verify):
    code, said = verify(packed(unpacked() | {"key.txt": f"{Signer('monitor', bytes(32)).verifier_key}\n".encode()}))
    assert (code, said) == (1, "fault: the export: not proved: key.txt holds another key than the given one\n")


def test_a_wrong_signature_under_the_right_name_is_found(verify):
    files = unpacked()
    files["checkpoints.txt"] = files["checkpoints.txt"].replace(b"audit\n4\n", b"audit\n5\n")
    code, faults = verify(packed(files))
    assert code == 1
    assert "checkpoints.txt checkpoint 1: has a wrong signature" in faults


def test_any_changed_byte_of_a_file_is_found_and_nothing_breaks(verify):
    draw = random.Random(8)
    files = unpacked()
    proved = sorted(set(files) - {"manifest.json"})
    for _ in range(60):
        name = draw.choice(proved)
        content = bytearray(files[name])
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        code, faults = verify(packed(files | {name: bytes(content)}, honest=False))
        assert code == 1
        assert f"fault: {name}" in faults


def test_a_broken_zip_is_a_fault_and_never_a_traceback(verify):
    draw = random.Random(9)
    for _ in range(60):
        content = bytearray(EXPORT)
        for _ in range(draw.randrange(1, 20)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        code, said = verify(bytes(content))
        assert (code == 0) == said.startswith("proved")  # a time or an attribute of the ZIP proves nothing
        assert code in {0, 1}
    assert verify(EXPORT[: len(EXPORT) // 2])[0] == 1
    assert verify(b"")[0] == 1


def test_the_same_name_twice_is_found(verify):
    out = BytesIO(EXPORT)
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("records.jsonl", b"")
    code, faults = verify(out.getvalue())
    assert code == 1
    assert "records.jsonl: is in the export 2 times" in faults


@pytest.mark.parametrize("key", ["", "a+b", Signer("a", bytes(32)).private_key, SIGNER.verifier_key[:-2]])
def test_a_wrong_key_is_wrong_use(verify, key, capsys):
    with pytest.raises(SystemExit) as ended:
        verify(EXPORT, key=key)
    assert ended.value.code == 2
    assert "name+hash+base64" in capsys.readouterr().err


def test_another_key_proves_nothing_and_that_is_all_that_is_said(verify):
    other = Signer("other.example", bytes(32))
    code, faults = verify(EXPORT, key=other.verifier_key)
    assert code == 1
    assert faults == (
        f"fault: the export: is signed by {SIGNER.name}+{SIGNER.id.hex()}, "
        f"not by the given key {other.name}+{other.id.hex()}: "
        "the key is wrong, or the export is from another log\n"
    )


def test_a_checkpoint_of_another_among_ours_is_one_fault_and_the_rest_is_checked(verify):
    files, other = unpacked(), Log(map(json.loads, LOG.bodies), Signer("other.example", bytes(32)))
    notes = [other.note(SIZES[0]), *(LOG.note(size) for size in SIZES[1:])]
    code, faults = verify(packed(files | {"checkpoints.txt": "\n".join(notes).encode()}))
    assert code == 1
    assert "checkpoints.txt checkpoint 1: is signed by other.example" in faults
    assert "consistency.json: 2 proofs for 1 steps" in faults


def test_a_record_whose_row_is_not_what_was_sealed_is_proved_and_named(verify):
    how = "answer: the stored value is not the sealed one"

    def records():
        for record in the_records():
            if record.index == 2:
                opened = {name: its for name, its in record.disclosed.items() if name != "answer"}
                yield replace(record, disclosed=opened, stored=Stored.DIFFERS, differs=(how,))
            else:
                yield record

    content = an_export(records=records())
    code, said = verify(content)
    assert code == 0
    assert "8 disclosed in full, 1 in part, 1 withheld or erased" in said
    assert "note: leaf 2 (interaction 'q-0'): not disclosed: answer\n" in said
    assert f"note: leaf 2 (interaction 'q-0'): the database does not hold what was sealed: {how}\n" in said
    files = unpacked(content)
    assert json.loads(files["manifest.json"])["differs"] == [
        {"index": 2, "kind": "interaction", "app": "support-bot", "id": "q-0", "how": [how]}
    ]
    page = files["index.html"].decode()
    assert "<caption>Not stored as sealed</caption>" in page
    assert how in page
    assert "(not shown: the stored row is not what was sealed)" in page


def test_an_export_that_is_not_there_is_wrong_use(tmp_path):
    with pytest.raises(SystemExit) as ended:
        standalone.main([str(tmp_path / "none.zip"), "--key", SIGNER.verifier_key])
    assert ended.value.code == 2
