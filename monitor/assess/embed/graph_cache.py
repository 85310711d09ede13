"""Keeps the encoder's graph in float32 on disk: builds it on the first start and verifies it on every start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from monitor.assess.embed.weights import WEIGHTS_SHA256, Safetensors, file_sha256
from monitor.core.errors import WrongSettings
from monitor.core.files import replacing

GRAPH_VERSION = 3  # part of the file names: raise it with every change of minilm_graph.py


def cached_graph(cache_dir: Path, weights: Path) -> Path:
    """The path of the ONNX file in `cache_dir`, built from `weights` (verified by the caller) if missing or damaged.

    Next to it are the weights (`.bin`, which onnxruntime maps into memory) and the hashes of both (`.sha256`, in the
    format of `sha256sum -c`). The content depends only on the weights, and a rename puts every file in its place, so
    processes that start together may all build: the last one replaces each file with an identical one.

    Raises:
        WrongSettings: the directory cannot be written, or the package onnx is not installed.
    """
    stem = f"all-MiniLM-L6-v2-{WEIGHTS_SHA256[:12]}-g{GRAPH_VERSION}-fp32"
    graph, data, sums = (cache_dir / f"{stem}{suffix}" for suffix in (".onnx", ".bin", ".sha256"))
    try:
        if not _unharmed(sums, (graph, data)):
            cache_dir.mkdir(parents=True, exist_ok=True)
            _build(weights, graph, data, sums)
    except OSError as error:
        raise WrongSettings(f"{cache_dir}: cannot store the encoder ({error}); set another state_dir") from None
    return graph


def _unharmed(sums: Path, files: Sequence[Path]) -> bool:
    """Whether `sums` names exactly these files, with their actual hashes."""
    try:
        return sums.read_text(encoding="utf-8") == _sums(files)
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def _sums(files: Sequence[Path]) -> str:
    return "".join(f"{file_sha256(path)}  {path.name}\n" for path in files)


def _build(weights: Path, graph: Path, data: Path, sums: Path) -> None:
    try:
        # Imported here because onnx takes 40 MB and a third of a second, which only the first start needs to pay.
        from monitor.assess.embed.minilm_graph import write_encoder  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "onnx":
            raise
        raise WrongSettings(
            "the build fp32 needs the package onnx: pip install 'rag-monitor[fp32]', "
            "or use the build that ships: MONITOR_EMBEDDING__BUILD=int8"
        ) from None

    with replacing(data) as data_file:
        model = write_encoder(Safetensors(weights), data_file, location=data.name)
    with replacing(graph) as graph_file:
        graph_file.write(model)
    with replacing(sums) as sums_file:
        sums_file.write(_sums((graph, data)).encode())
