"""Time stamps, receipts and witnesses as `verify.py` reads them; none is called good by itself."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from monitor.audit.export import ConsistencyProof
from monitor.audit.key import Signer
from monitor.audit.merkle import consistency_proof
from monitor.audit.note import Checkpoint, NotProved, signed, statement
from monitor.audit.proof import SubjectProof, times
from monitor.audit.stamp import Stamp, StampKind, a_receipt, completed, is_of, pending_of, read_token
from tests.factories.answers import NOON
from tests.factories.audit.export import EXPORT, LOG, SIZES, an_export, the_records, unpacked
from tests.factories.audit.rows import ORIGIN, SIGNER
from tests.rig.audit.shipped import standalone
from tests.unit.audit.test_export_tampering import packed

KEY = SIGNER.verifier_key
LAST = LOG.note(SIZES[-1])
STATEMENT = statement(LAST, KEY).encode()
OIDS = {"sha256": "608648016503040201", "sha512": "608648016503040203"}
BITCOIN = b"\0" + standalone.BITCOIN + b"\x03\x80\xea\x30"
PENDING = b"\0" + standalone.PENDING + b"\x02\x01x"


def tlv(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    length = bytes([len(content)]) if len(content) < 128 else b"\x82" + len(content).to_bytes(2)
    return bytes([tag]) + length + content


def a_token(content=STATEMENT, *, at="20251121130000.5Z", function="sha256", status=0):
    """A response in the form of RFC 3161 that nobody has signed."""
    imprint = tlv(
        48,
        tlv(48, tlv(6, bytes.fromhex(OIDS[function]))),
        tlv(4, getattr(standalone.hashlib, function)(content).digest()),
    )
    info = tlv(48, tlv(2, b"\1"), tlv(6, b"\x2a"), imprint, tlv(2, b"\7"), tlv(24, at.encode()))
    signed_data = tlv(48, tlv(2, b"\3"), tlv(49), tlv(48, tlv(6, b"\x2b"), tlv(0xA0, tlv(4, info))))
    return tlv(48, tlv(48, tlv(2, bytes([status]))), tlv(48, tlv(6, b"\x2a"), tlv(0xA0, signed_data)))


def a_stamp(token, kind=StampKind.TIMESTAMP, size=SIZES[-1]):
    return Stamp(
        size=size, witness="tsa.example", kind=kind, token=token, obtained_at=NOON, stamped_at=None, complete=True
    )


def test_an_export_of_the_release_before_gives_the_same_page():
    manifest = {**json.loads(unpacked()["manifest.json"]), "format": standalone.FIRST_FORMAT}
    first = [
        (its.index, json.loads(its.body), {name: of["value"] for name, of in (its.disclosed or {}).items()})
        for its in the_records()
    ]
    page = standalone.index_page(manifest, KEY, {"grounded": 5}, first)
    assert sha256(page.encode()).hexdigest() == "18433620f9cef8c578803b89fbcf7b351d2e4350b3a716e28d78a2c43c0f8583"


@pytest.mark.parametrize("function", OIDS)
def test_a_time_stamp_that_fits_is_listed_and_not_called_good(verify, function):
    code, said = verify(an_export(stamps=[a_stamp(a_token(function=function))]))
    assert code == 0
    proved, _, rest = said.partition("not proved:")
    assert "time stamp" not in proved
    assert "tsa.example: says 2025-11-21 13:00:00Z; its signature is not checked" in rest
    assert "openssl ts -verify -data stamps/SIZE.txt" in rest
    assert "when the records were sealed: the log says it, and no checked time stamp" in rest


def test_a_time_stamp_that_no_authority_has_signed_is_a_fault_once_one_is_given(verify, tmp_path):
    (tmp_path / "ca.pem").write_text("")
    code, said = verify(an_export(stamps=[a_stamp(a_token())]), "--tsa", str(tmp_path / "ca.pem"))
    assert code == 1
    assert "is not signed by an authority of" in said


@pytest.mark.parametrize(
    ("stamp", "said"),
    [
        (
            a_stamp(a_token(b"something else")),
            "the time stamp on the checkpoint of 13 leaves by tsa.example is of something else",
        ),
        (a_stamp(a_token(status=2)), "is a refusal of the authority"),
        (a_stamp(a_token()[:-1]), "cannot be read (ValueError: a value of the time stamp was cut off)"),
        (a_stamp(b"\x30\x80"), "cannot be read"),
        (a_stamp(b""), "cannot be read (IndexError"),
        (a_stamp(a_token(), size=12), "is of a checkpoint of 12 leaves, which is not here"),
        (a_stamp(a_receipt(b"else", BITCOIN), StampKind.RECEIPT), "the receipt for the checkpoint of 13 leaves by"),
        (
            a_stamp(b"no receipt", StampKind.RECEIPT),
            "cannot be read (ValueError: it is no receipt of OpenTimestamps of version 1",
        ),
    ],
)
def test_a_stamp_of_something_else_is_a_fault(verify, stamp, said):
    code, shown = verify(an_export(stamps=[stamp]))
    assert code == 1
    assert f"fault: stamps.jsonl line 1: {said}" in shown


def test_a_stamp_of_an_unknown_kind_is_a_fault(verify):
    files = unpacked(an_export(stamps=[a_stamp(a_token())]))
    files["stamps.jsonl"] = files["stamps.jsonl"].replace(b"rfc3161", b"rfc9999")
    code, said = verify(packed(files))
    assert code == 1
    assert "has the kind 'rfc9999', which this program does not know" in said


def test_a_receipt_is_followed_through_its_branches():
    branch = b"\xff\xf0\x01a\x08" + PENDING + b"\xf1\x01b\x08" + BITCOIN
    receipt = standalone.Receipt(a_receipt(b"x", branch))
    digest = sha256(b"x").digest()
    assert receipt.bitcoin == [(800_000, sha256(b"b" + digest).digest()[::-1].hex())]
    assert receipt.pending == [sha256(digest + b"a").digest()]


@pytest.mark.parametrize(
    "answer", [b"", b"\x99", b"\xf0\x05ab", BITCOIN + b"x", b"\x08" * 20_000, b"\xf0\xff\x7f" + bytes(16_383)]
)
def test_a_malformed_receipt_proves_nothing(answer):
    with pytest.raises(NotProved, match="malformed"):
        read_token(StampKind.RECEIPT, a_receipt(b"x", answer), b"x")


def test_only_the_promise_at_the_end_of_a_receipt_is_replaced():
    receipt = a_receipt(b"x", b"\x08" + PENDING)
    assert pending_of(receipt) == sha256(sha256(b"x").digest()).digest()
    done = completed(receipt, b"\x08" + BITCOIN)
    assert read_token(StampKind.RECEIPT, done, b"x") == (None, True)
    assert pending_of(done) is None
    with pytest.raises(NotProved):
        completed(done, b"\x08" + BITCOIN)


def test_every_cut_of_a_token_is_refused_and_nothing_breaks():
    token, receipt = a_token(b"x"), a_receipt(b"x", b"\xf0\x01a\x08" + BITCOIN)
    for kind, whole in ((StampKind.TIMESTAMP, token), (StampKind.RECEIPT, receipt)):
        for at in range(len(whole)):
            with pytest.raises(NotProved):
                read_token(kind, whole[:at], b"x")
    assert read_token(StampKind.TIMESTAMP, token, b"x")[0] == datetime(2025, 11, 21, 13, 0, 0, 500_000, tzinfo=UTC)


def test_each_record_gets_the_earliest_time_stamp_of_a_later_checkpoint():
    times = standalone.Times(standalone.Key(KEY), None)
    times.good = [(12, NOON, "b"), (4, NOON + timedelta(hours=1), "a"), (20, NOON + timedelta(hours=2), "c")]
    times.settle()
    for index in (3, 11, 19, 20):
        times.see(f"leaf {index}", index, {"sealed_at": "2025-11-21T11:00:00.000000Z"})
    stamped = [line.partition("time-stamped ")[2] for line in times.details]
    assert stamped == ["2025-11-21 12:00:00Z by b"] * 2 + ["2025-11-21 14:00:00Z by c", ""]


@pytest.fixture
def witness(tmp_path):
    def write(text):
        (tmp_path / "notes").write_text(text)
        return str(tmp_path / "notes")

    return write


def test_notes_of_a_witness_are_found_among_other_text(verify, witness):
    other = signed(Checkpoint(origin=ORIGIN, size=7, root=bytes(32)), Signer(ORIGIN, bytes(32)))
    text = f"{other}\n{LOG.note(4)}{LOG.note(7)}\n\nof somebody else\n\n{LAST}\n{LAST[:40]}"
    code, said = verify(EXPORT, "--witness", witness(text))
    assert code == 0, said
    assert "3 of 3 checkpoints are the same at the witness" in said
    code, said = verify(EXPORT, "--witness", witness(LOG.note(7)))
    assert code == 0
    assert "1 of 3 checkpoints are the same at the witness" in said
    assert "note: 5 records are behind the last checkpoint that the witness" in said


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        (signed(Checkpoint(origin=ORIGIN, size=7, root=bytes(32)), SIGNER), "another root of the first 7 leaves"),
        (LOG.note(5), "has none of these checkpoints, so nothing was compared"),
        ("", "has none of these checkpoints"),
    ],
)
def test_a_witness_that_contradicts_or_knows_nothing_is_a_fault(verify, witness, notes, said):
    code, shown = verify(EXPORT, "--witness", witness(notes))
    assert code == 1
    assert said in shown


def a_proof(**over):
    size = SIZES[-1]
    known = {
        "subject": "q-1",
        "key": KEY,
        "records": list(the_records())[3:5],
        "notes": [LOG.note(4), LAST],
        "steps": [ConsistencyProof(old=4, new=size, proof=consistency_proof(4, size, LOG.node))],
        "stamps": [a_stamp(a_token())],
    }
    return SubjectProof(**{**known, **over})


def test_a_proof_is_checked_like_an_export(verify):
    proof = a_proof().json()
    assert proof["proved"]
    code, said = verify(json.dumps(proof).encode())
    assert code == 0, said
    assert "proved: 2 leaves of the log" in said
    assert b64encode(a_proof().checkpoint.root).decode() in said
    as_in_the_api = {"checkpoint": proof["checkpoint"], "leaves": proof["records"]}
    assert verify(json.dumps(as_in_the_api).encode())[0] == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda proof: proof["records"].clear(), "has no record"),
        (lambda proof: proof.update(consistency=[]), "0 proofs for 1 steps"),
        (lambda proof: proof.update(checkpoints=[]), "no checkpoint is proved"),
        (lambda proof: proof.update(format="monitor-audit-proof/9"), "this program reads monitor-audit-proof/1"),
        (lambda proof: proof["records"][0].update(body="{}"), "cannot be read (KeyError"),
        (lambda proof: proof["records"][0].update(index=4), "is not proved"),
        (lambda proof: proof.pop("records"), "is neither an export nor a proof"),
    ],
)
def test_a_changed_proof_is_a_fault(verify, change, said):
    proof = a_proof().json()
    change(proof)
    code, shown = verify(json.dumps(proof).encode())
    assert code == 1
    assert said in shown


@pytest.mark.parametrize("body", ["", "[", "[" * 100_000, "7", '{"sealed_at": 7}', '{"sealed_at": "soon"}'])
def test_a_body_that_was_replaced_has_no_times_and_breaks_nothing(body):
    assert times(body) == {"occurred_at": None, "sealed_at": None}


def test_a_proof_without_a_key_has_the_last_checkpoint_alone():
    proof = a_proof(key=None, notes=[LAST], steps=[], stamps=[])
    assert proof.known_by(proof.records[0])["signed_at"] is None
    with pytest.raises(NotProved):
        proof.proves(replace(proof.records[0]))


@pytest.mark.parametrize("at", ["20251121130000.9e999Z", "99991231235959.9999999999Z", "20251121130000.-1Z"])
def test_no_time_of_a_token_ends_the_program(verify, at):
    code, said = verify(an_export(stamps=[a_stamp(a_token(at=at))]))
    assert code == 1
    assert "stamps.jsonl line 1: cannot be read" in said
    with pytest.raises(NotProved, match="malformed"):
        read_token(StampKind.TIMESTAMP, a_token(at=at), STATEMENT)


@pytest.mark.parametrize("answer", [b"\xf0" + b"\xff" * 40 + b"\x01x" + BITCOIN, b"\xf1" + b"\x80" * 1_000_000])
def test_a_number_without_end_is_refused_at_once(answer):
    with pytest.raises(NotProved, match="a number of the receipt is too long"):
        read_token(StampKind.RECEIPT, a_receipt(STATEMENT, answer), STATEMENT)


def test_a_block_whose_height_is_beyond_all_numbers_is_no_block():
    attested = b"\x08\0" + standalone.BITCOIN + b"\x0a" + b"\xff" * 9 + b"\x01"
    assert standalone.Receipt(a_receipt(STATEMENT, attested)).bitcoin == []


def test_a_time_stamp_whose_row_says_another_time_is_in_no_proof():
    at = datetime(2025, 11, 21, 13, 0, 0, 500_000, UTC)
    stamp = replace(a_stamp(a_token()), stamped_at=at)
    assert is_of(stamp, STATEMENT.decode())
    assert not is_of(replace(stamp, stamped_at=at - timedelta(days=365)), STATEMENT.decode())
