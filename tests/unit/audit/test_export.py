"""What is written is proved by the verifier that is written with it, and whatever is changed is found."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import zipfile
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest

from monitor.audit import verifier as standalone
from monitor.audit.canonical import canonical
from monitor.audit.commitment import field_key
from monitor.audit.export import ConsistencyProof, ExportAbout, ExportedRecord, Stored, write_export
from monitor.audit.merkle import consistency_proof, inclusion_proof
from monitor.audit.note import NotProved, Signer
from monitor.audit.record import (
    ASSESSMENT_PERSONAL,
    INTERACTION_PERSONAL,
    act_record,
    assessment_record,
    disclosed,
    interaction_record,
)
from tests.factories.answers import NOON, at
from tests.factories.audit_rows import SECRET, SIGNER, Log, an_assessment_row, an_interaction_row

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
DEFINITION = {"name": "minilm", "threshold": 0.5, "weight": 1.0, "tiny": 1e-7}
PROFILE = {"name": "minilm", "embedding_model": "minilm/fp32", "definition": DEFINITION}
INTERACTIONS = [an_interaction_row(id=f"q-{n}", question=f"{n}? {HOSTILE}") for n in range(5)]
ASSESSMENTS = [an_assessment_row(id=f"q-{n}") for n in range(5)]
SOURCE = "rules: []"
RULES = {"source": SOURCE, "digest": sha256(SOURCE.encode()).hexdigest(), "rules": {}}
ACTS = [
    act_record(
        kind="profile", app="", subject="0123456789abcdef",
        body={"by": "monitor", "definition": sha256(canonical(DEFINITION)).hexdigest()},
    ),
    act_record(kind="rules", app="", subject="rules", body={"by": "monitor", **RULES}),
]  # fmt: skip
LOG = Log([
    *ACTS,
    *(interaction_record(row, SECRET) for row in INTERACTIONS),
    *(assessment_record(row, SECRET) for row in ASSESSMENTS),
    interaction_record(an_interaction_row(app="other-bot"), SECRET),
])  # fmt: skip
SIZES = (4, 7, len(LOG.leaves))
ABOUT = ExportAbout(
    app="support-bot", start=NOON, end=at(60), made_at=at(90), made_by="ann", verifier_key=SIGNER.verifier_key
)
ERASED = 3  # the leaf of an interaction of which the secret is gone


def the_records(log=LOG):
    size = len(log.leaves)
    opened = [None, None]
    opened += [disclosed(row, SECRET, INTERACTION_PERSONAL) for row in INTERACTIONS]
    opened += [disclosed(row, SECRET, ASSESSMENT_PERSONAL) for row in ASSESSMENTS]
    opened[ERASED] = None
    for index, of in enumerate(opened):
        proof = inclusion_proof(index, size, log.node)
        yield ExportedRecord(index=index, body=log.bodies[index].decode(), proof=proof, disclosed=of)


def an_export(**over):
    out, log = BytesIO(), over.pop("log", LOG)
    known = {
        "records": the_records(log),
        "checkpoints": [log.note(size) for size in SIZES],
        "consistency": [
            ConsistencyProof(old=old, new=new, proof=consistency_proof(old, new, log.node))
            for old, new in pairwise(SIZES)
        ],
        "profiles": {"0123456789abcdef": PROFILE},
        "rules": [RULES],
        "about": ABOUT,
    }
    write_export(out, **{**known, **over})
    return out.getvalue()


EXPORT = an_export()


@pytest.fixture
def verify(tmp_path, capsys):
    def run(content, *, key=SIGNER.verifier_key):
        path = tmp_path / "export.zip"
        path.write_bytes(content)
        code = standalone.main([str(path), "--key", key])
        return code, capsys.readouterr().out

    return run


def unpacked(content=EXPORT):
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files, *, honest=True):
    """The files as a ZIP; `honest`: with a manifest that names them as they are now."""
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
    """The export with its record lines as `change` leaves them."""
    files = unpacked()
    lines = [json.loads(line) for line in files["records.jsonl"].splitlines()]
    lines = change(lines) or lines
    return packed(files | {"records.jsonl": b"".join(canonical(line) + b"\n" for line in lines)})


def test_an_export_is_proved_and_says_what_it_holds(verify):
    code, said = verify(EXPORT)
    assert code == 0, said
    assert "12 records (5 assessment, 5 interaction, 1 profile, 1 rules) of support-bot" in said
    assert f"at {SIZES[-1]} leaves" in said
    assert "9 disclosed in full, 0 in part, 1 withheld or erased" in said
    assert "note:" not in said
    assert "3 checkpoints" in said
    assert "0 profiles and 0 sets of rules without a record" in said


def test_the_verifier_of_the_export_runs_alone_on_the_zip_and_the_folder(tmp_path):
    (tmp_path / "export.zip").write_bytes(EXPORT)
    folder = tmp_path / "folder"
    with zipfile.ZipFile(BytesIO(EXPORT)) as archive:
        archive.extractall(folder)
    for export in ("export.zip", "folder"):
        command = [sys.executable, "-I", "-S", str(folder / "verify.py"), export, "--key", SIGNER.verifier_key]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)  # noqa: S603
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("proved: 12 records")


def test_the_same_content_gives_the_same_bytes():
    assert an_export() == EXPORT
    assert unpacked()["verify.py"] == Path(standalone.__file__).read_bytes()
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


def test_profiles_and_rules_without_their_records_are_counted_as_not_proved(verify):
    others = [{"source": text, "digest": sha256(text.encode()).hexdigest()} for text in ("a", "b")]
    profiles = {"0123456789abcdef": PROFILE, "fedc": PROFILE}
    code, said = verify(an_export(profiles=profiles, rules=[RULES, *others]))
    assert code == 0
    assert "1 profiles and 2 sets of rules without a record" in said


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
        (_swap, "stands after leaf 5"),
        (_twice, "stands after leaf 4"),
        (_proof, "leaf 4 (interaction 'q-2') is not proved"),
        (_index, "leaf 12 (assessment 'q-4') is not proved"),
        (_value, "leaf 4 (interaction 'q-2'): its question is not what the record committed to"),
        (_key, "its question is not what"),
        (_exchanged, "its answer is not what"),
        (_of_no_commitment, "its model is not what"),
        (_other_app, "is of the app 'other-bot'"),
        (_not_canonical, "is not in canonical form"),
        (_more, "has other parts than a record has"),
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
    files["manifest.json"] = files["manifest.json"].replace(b"export/1", b"export/9")


def _deep(files):
    files["profiles.json"] = b"[" * 100_000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_resigned, f"you gave {SIGNER.name}+{SIGNER.id.hex()}: the wrong key, or not this log"),
        (_rewritten, "consistency.json from 4 to 7: the larger checkpoint did not grow out of the smaller"),
        (_reordered, "is not larger than the one before"),
        (_fewer, "is not proved"),
        (_none, "no checkpoint is proved"),
        (_no_growth, "0 proofs for 2 steps"),
        (_threshold, "the definition of 0123456789abcdef is not the one that the log has"),
        (_source, "rules.jsonl line 1: the rules are not those of its digest"),
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


def test_a_wrong_signature_under_the_right_name_is_found(verify):
    files = unpacked()
    files["checkpoints.txt"] = files["checkpoints.txt"].replace(b"audit\n4\n", b"audit\n5\n")
    code, faults = verify(packed(files))
    assert code == 1
    assert "checkpoints.txt checkpoint 1: has a wrong signature" in faults


def test_any_changed_byte_of_a_file_is_found_and_nothing_breaks(verify):
    draw = random.Random(8)  # noqa: S311
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
    draw = random.Random(9)  # noqa: S311
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
    assert "records.jsonl: stands in the export 2 times" in faults


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
        f"fault: the export: signed by {SIGNER.name}+{SIGNER.id.hex()}, you gave {other.name}+{other.id.hex()}: "
        "the wrong key, or not this log\n"
    )


def test_a_checkpoint_of_another_among_ours_is_one_fault_and_the_rest_is_checked(verify):
    files, other = unpacked(), Log(map(json.loads, LOG.bodies), Signer("other.example", bytes(32)))
    notes = [other.note(SIZES[0]), *(LOG.note(size) for size in SIZES[1:])]
    code, faults = verify(packed(files | {"checkpoints.txt": "\n".join(notes).encode()}))
    assert code == 1
    assert "checkpoints.txt checkpoint 1: signed by other.example" in faults
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
