"""The arithmetic of the verifier; its findings are in test_export.py and test_export_tampering.py."""

from __future__ import annotations

import ast
import struct
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from monitor.audit import merkle
from monitor.audit.canonical import canonical
from monitor.audit.standalone import verify_py
from tests.rig.audit.shipped import standalone
from tests.unit.audit.test_canonical import NUMBERS, VALUES

# RFC 8032, section 7.1, tests 1 to 3: public key, message, signature.
RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
            "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
]
HASHES = [merkle.leaf_hash(bytes([number])) for number in range(70)]


@pytest.mark.parametrize(("public", "message", "signature"), [[bytes.fromhex(part) for part in of] for of in RFC_8032])
def test_it_knows_the_signatures_of_rfc_8032(public, message, signature):
    assert standalone.ed25519_verify(public, message, signature)
    assert not standalone.ed25519_verify(public, message + b"x", signature)
    s = int.from_bytes(signature[32:], "little") + standalone.ORDER  # the same to arithmetic, but not the RFC's form
    assert not standalone.ed25519_verify(public, message, signature[:32] + s.to_bytes(32, "little"))


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=100), st.integers(0, 511))
def test_it_agrees_with_another_implementation(seed, message, bit):
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public, signature = key.public_key().public_bytes_raw(), key.sign(message)
    flipped = (int.from_bytes(signature, "little") ^ 1 << bit).to_bytes(64, "little")
    assert standalone.ed25519_verify(public, message, signature)
    assert not standalone.ed25519_verify(public, message, flipped)
    assert not standalone.ed25519_verify(public[::-1], message, signature)


@pytest.mark.parametrize(
    "public", [b"", b"\xff" * 32, (2).to_bytes(32, "little"), (1 << 255 | 1).to_bytes(32, "little")]
)
def test_what_is_no_point_is_no_key(public):
    assert not standalone.ed25519_verify(public, b"", bytes(64))


@pytest.mark.parametrize(("bits", "written"), NUMBERS.items())
def test_it_writes_numbers_as_rfc_8785_has_them(bits, written):
    assert standalone.number(*struct.unpack(">d", bytes.fromhex(bits))) == written


@given(VALUES)
def test_it_reads_and_writes_json_as_the_log_does(value):
    text = canonical(value).decode()
    assert standalone.canonical(standalone.read_json(text)) == text


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', "NaN", "[Infinity]", "{", "", '{"a":1}x'])
def test_what_is_not_json_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011  its kinds are json's
        standalone.read_json(text)


def test_a_number_beyond_a_double_is_refused():
    with pytest.raises(ValueError, match="too large for a double"):
        standalone.canonical(standalone.read_json("[1e999]"))


@given(st.integers(1, len(HASHES)), st.integers(0, len(HASHES)), st.integers(0, 100))
def test_it_accepts_and_refuses_the_same_proofs_as_the_log(size, other, spoilt):
    def node(level, index):
        return merkle.root_of(HASHES[index << level : (index + 1) << level])

    root, index, old = merkle.root_of(HASHES[:size]), other % size, min(other, size - 1)
    inclusion = merkle.inclusion_proof(index, size, node)
    assert standalone.included(index, size, HASHES[index], root, inclusion)
    consistency = merkle.consistency_proof(old, size, node)
    old_root = merkle.root_of(HASHES[:old])
    assert standalone.grew(old, size, (old_root, root), consistency)
    for proof in (inclusion, consistency):
        if proof:
            proof[spoilt % len(proof)] = bytes(32)
        else:
            proof.append(bytes(32))
    assert not standalone.included(index, size, HASHES[index], root, inclusion)
    assert not standalone.grew(old, size, (old_root, root), consistency)


def test_an_older_python_is_told_so_first(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 8, 20))
    with pytest.raises(SystemExit, match=r"verify\.py needs Python 3\.9 or later"):
        exec(compile(verify_py(), "verify.py", "exec"), {"__name__": "verify"})  # noqa: S102  our own


def test_it_needs_the_standard_library_of_python_3_9_only():
    source = verify_py()
    tree = ast.parse(source, feature_version=(3, 9))
    imported = {
        (item.name if isinstance(at, ast.Import) else at.module).partition(".")[0]
        for at in ast.walk(tree)
        if isinstance(at, ast.Import | ast.ImportFrom)
        for item in at.names
    }
    assert imported <= sys.stdlib_module_names
    assert "monitor" not in imported
