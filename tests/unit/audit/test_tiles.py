from __future__ import annotations

from hashlib import sha256

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.audit.merkle import consistency_proof, frontier_of, inclusion_proof, root_of
from monitor.audit.tiles import TILE, TileTree, new_tiles

ALL = [sha256(number.to_bytes(4, "big")).digest() for number in range(TILE * TILE + 700)]
SIZES = st.one_of(st.integers(0, 1500), st.integers(TILE * TILE - 3, len(ALL)))


class Stored:
    """The stored leaves up to a size, and the tiles made of them."""

    def __init__(self):
        self.size = 0
        self.tiles = {}
        self.asked = 0

    def tree(self):
        return TileTree(lambda level, index: self.tiles.get((level, index)), self.leaves)

    def leaves(self, start, end):
        assert 0 <= start < end <= self.size
        self.asked += 1
        return b"".join(ALL[start:end])

    def grow(self, size):
        old, self.size = self.size, size
        made = list(new_tiles(old, size, self.tree()))
        self.tiles |= {(tile.level, tile.index): tile.hashes for tile in made}
        return made


def test_a_tile_holds_leaves_and_the_next_level_its_root():
    stored = Stored()
    assert stored.grow(255) == []
    assert [(tile.level, tile.index) for tile in stored.grow(513)] == [(0, 0), (0, 1)]
    assert stored.tiles[0, 1] == b"".join(ALL[256:512])
    stored.grow(TILE * TILE)
    assert len(stored.tiles) == TILE + 1
    assert stored.tiles[1, 0][32:64] == root_of(ALL[256:512])
    assert stored.grow(TILE * TILE) == []


@settings(max_examples=25)
@given(st.lists(SIZES, max_size=6).map(sorted))
def test_how_it_grew_does_not_matter(sizes):
    slowly, at_once = Stored(), Stored()
    for size in sizes:
        slowly.grow(size)
    at_once.grow(slowly.size)
    assert slowly.tiles == at_once.tiles
    expected = {(0, n) for n in range(slowly.size // TILE)} | {(1, n) for n in range(slowly.size // TILE**2)}
    assert set(slowly.tiles) == expected


@settings(max_examples=25)
@given(SIZES.filter(bool), st.data())
def test_tiles_give_the_root_and_every_proof(size, data):
    stored = Stored()
    stored.grow(size)
    tree, plain = stored.tree(), lambda level, index: root_of(ALL[index << level : (index + 1) << level])
    assert frontier_of(size, tree.node).root == root_of(ALL[:size])
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size))
    assert inclusion_proof(index, size, tree.node) == inclusion_proof(index, size, plain)
    assert consistency_proof(old, size, tree.node) == consistency_proof(old, size, plain)


def test_leaves_are_read_at_the_right_edge_only_and_once():
    stored = Stored()
    stored.grow(1000)
    tree, stored.asked = stored.tree(), 0
    for index in range(768):
        inclusion_proof(index, 1000, tree.node)
    assert stored.asked == (1000 % TILE).bit_count()
