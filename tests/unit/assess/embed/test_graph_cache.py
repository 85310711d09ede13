from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from monitor.assess.embed import graph_cache
from monitor.assess.embed.graph_cache import cached_graph
from monitor.core.errors import WrongSettings

CONTENT = b"weights"


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"{} does for a header".join([len(b"{}").to_bytes(8, "little"), b""]))
    return path


@pytest.fixture
def built(monkeypatch):
    """Counts the builds of a small graph."""
    calls = []

    def write_encoder(_, data, *, location):
        calls.append(location)
        data.write(CONTENT)
        return b"graph of " + location.encode()

    monkeypatch.setattr("monitor.assess.embed.minilm_graph.write_encoder", write_encoder)
    return calls


def names(folder):
    return sorted(path.suffix for path in folder.iterdir())


def test_builds_once(tmp_path, weights, built):
    folder = tmp_path / "state" / "encoder"
    path = cached_graph(folder, weights)
    assert cached_graph(folder, weights) == path
    assert len(built) == 1
    assert names(folder) == [".bin", ".onnx", ".sha256"]
    assert path.read_bytes() == b"graph of " + path.with_suffix(".bin").name.encode()


@pytest.mark.parametrize("suffix", [".onnx", ".bin", ".sha256"])
@pytest.mark.parametrize("harm", ["changed", "emptied", "not text", "gone"])
def test_builds_again_what_was_harmed(tmp_path, weights, built, suffix, harm):
    path = cached_graph(tmp_path / "c", weights).with_suffix(suffix)
    good = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes({"changed": b"x" + good[1:], "emptied": b"", "not text": b"\xff\xfe"}[harm])
    cached_graph(tmp_path / "c", weights)
    assert len(built) == 2
    assert path.read_bytes() == good


def test_processes_that_start_together_all_find_it_unharmed(tmp_path, weights, built):
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: cached_graph(tmp_path / "c", weights), range(8)))
    assert len(set(paths)) == 1
    count = len(built)
    cached_graph(tmp_path / "c", weights)
    assert len(built) == count
    assert names(tmp_path / "c") == [".bin", ".onnx", ".sha256"]


def test_another_version_has_files_of_its_own(tmp_path, weights, built, monkeypatch):
    old = cached_graph(tmp_path / "c", weights)
    monkeypatch.setattr(graph_cache, "GRAPH_VERSION", graph_cache.GRAPH_VERSION + 1)
    assert cached_graph(tmp_path / "c", weights) != old
    assert len(built) == 2


def test_a_build_that_fails_leaves_nothing(tmp_path, weights, monkeypatch):
    def write_encoder(_, data, *, location):
        data.write(b"half")
        raise RuntimeError(location)

    monkeypatch.setattr("monitor.assess.embed.minilm_graph.write_encoder", write_encoder)
    with pytest.raises(RuntimeError):
        cached_graph(tmp_path / "c", weights)
    assert names(tmp_path / "c") == []


def test_says_which_directory_cannot_be_written(tmp_path, weights, built):
    (tmp_path / "file").touch()
    with pytest.raises(WrongSettings, match="file"):
        cached_graph(tmp_path / "file" / "c", weights)
    assert not built
