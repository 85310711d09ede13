"""RFC 6962: the reference tree of Certificate Transparency, and every tree of up to 300 leaves."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.audit.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_proof,
    frontier_of,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

BODIES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
LEAVES = [leaf_hash(bytes.fromhex(body)) for body in BODIES]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
INCLUSION = {
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
}
CONSISTENCY = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
LARGEST = 300
MANY = [leaf_hash(str(number).encode()) for number in range(LARGEST)]
SIZES = st.integers(1, LARGEST)
OTHER = sha256(b"other").digest()


def nodes(leaves):
    return lambda level, index: root_of(leaves[index << level : (index + 1) << level])


def by_definition(leaves):
    """MTH of RFC 6962, word by word."""
    if len(leaves) < 2:
        return leaves[0] if leaves else EMPTY_ROOT
    left = max(2**power for power in range(10) if 2**power < len(leaves))
    return node_hash(by_definition(leaves[:left]), by_definition(leaves[left:]))


def as_hex(proof):
    return [item.hex() for item in proof]


def test_the_reference_tree_has_its_roots():
    frontier = Frontier()
    assert [root_of(LEAVES[:size]).hex() for size in range(9)] == ROOTS
    assert frontier.root.hex() == ROOTS[0]
    for size, leaf in enumerate(LEAVES, start=1):
        frontier.append(leaf)
        assert (frontier.size, frontier.root.hex()) == (size, ROOTS[size])


@pytest.mark.parametrize(("of", "proof"), INCLUSION.items())
def test_the_reference_tree_has_its_inclusion_proofs(of, proof):
    assert as_hex(inclusion_proof(*of, nodes(LEAVES))) == proof


@pytest.mark.parametrize(("of", "proof"), CONSISTENCY.items())
def test_the_reference_tree_has_its_consistency_proofs(of, proof):
    assert as_hex(consistency_proof(*of, nodes(LEAVES))) == proof


@given(SIZES)
def test_a_frontier_gives_the_root_and_is_found_again(size):
    frontier = Frontier()
    frontier.extend(MANY[:size])
    again = frontier_of(size, nodes(MANY))
    assert by_definition(MANY[:size]) == frontier.root == again.root == root_of(MANY[:size])
    assert again.hashes == frontier.hashes
    assert Frontier(size, frontier.hashes).root == frontier.root


def test_a_frontier_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="3 leaves has 2"):
        Frontier(3, [OTHER])


@settings(max_examples=30)
@given(SIZES)
def test_every_leaf_of_a_tree_is_proved_and_no_other(size):
    root, node = root_of(MANY[:size]), nodes(MANY)
    for index in range(size):
        proof = inclusion_proof(index, size, node)
        assert verify_inclusion(index, size, MANY[index], root, proof)
        assert not verify_inclusion(index, size, OTHER, root, proof)
        assert not verify_inclusion((index + 1) % (size + 1), size, MANY[index], root, proof)


@given(SIZES, st.data())
def test_a_wrong_inclusion_proof_is_refused(size, data):
    index = data.draw(st.integers(0, size - 1))
    root, proof = root_of(MANY[:size]), inclusion_proof(index, size, nodes(MANY))
    for wrong in spoilt(proof):
        assert not verify_inclusion(index, size, MANY[index], root, wrong)
    assert not verify_inclusion(index, size, MANY[index], OTHER, proof)
    assert not verify_inclusion(-1, size, MANY[index], root, proof)
    assert not verify_inclusion(size, size, MANY[index], root, proof)


@given(st.integers(0, LARGEST), st.integers(0, LARGEST))
def test_a_tree_that_grew_is_proved(one, other):
    old, new = sorted((one, other))
    proof = consistency_proof(old, new, nodes(MANY))
    assert verify_consistency(old, new, root_of(MANY[:old]), root_of(MANY[:new]), proof)


@given(SIZES, SIZES)
def test_a_wrong_consistency_proof_is_refused(one, other):
    old, new = sorted((one, other))
    old_root, new_root = root_of(MANY[:old]), root_of(MANY[:new])
    proof = consistency_proof(old, new, nodes(MANY))
    for wrong in spoilt(proof):
        assert not verify_consistency(old, new, old_root, new_root, wrong)
    assert not verify_consistency(old, new, OTHER, new_root, proof)
    assert not verify_consistency(old, new, old_root, OTHER, proof)
    if old < new:
        assert not verify_consistency(new, old, new_root, old_root, proof)
        assert not verify_consistency(old, new, old_root, new_root, [])


def test_nothing_is_consistent_with_everything_but_only_as_the_empty_tree():
    assert verify_consistency(0, 5, EMPTY_ROOT, root_of(MANY[:5]), [])
    assert not verify_consistency(0, 5, OTHER, root_of(MANY[:5]), [])
    assert verify_consistency(0, 0, EMPTY_ROOT, EMPTY_ROOT, [])
    assert not verify_consistency(-1, 0, EMPTY_ROOT, EMPTY_ROOT, [])


def test_what_is_not_in_a_tree_has_no_proof():
    with pytest.raises(ValueError, match="no leaf 5"):
        inclusion_proof(5, 5, nodes(MANY))
    with pytest.raises(ValueError, match="never had 6"):
        consistency_proof(6, 5, nodes(MANY))


def spoilt(proof):
    """The proof with one more item, one less, one flipped, or two exchanged."""
    yield [*proof, OTHER]
    for at in range(len(proof)):
        yield proof[:at] + proof[at + 1 :]
        yield [*proof[:at], bytes([proof[at][0] ^ 1]) + proof[at][1:], *proof[at + 1 :]]
    for at in range(len(proof) - 1):
        yield [*proof[:at], proof[at + 1], proof[at], *proof[at + 2 :]]
