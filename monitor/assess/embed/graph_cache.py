"""Keeps the encoder's ONNX graph on disk: builds it on the first start and verifies it on every start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from monitor.assess.embed.weights import WEIGHTS_SHA256, Safetensors, file_sha256
from monitor.core.errors import WrongSettings
from monitor.core.files import replacing

GRAPH_VERSION = 3  # part of the file names: raise it with every change of minilm_graph.py or minilm_int8.py

Build: TypeAlias = Literal["fp32", "int8"]  # everything in float32, or the large products in 8-bit integers


def cached_graph(cache_dir: Path, weights: Path, build: Build = "fp32") -> Path:
    """The path of the ONNX file in `cache_dir`, built from `weights` (verified by the caller) if missing or damaged.

    Next to it are the weights (`.bin`, which onnxruntime maps into memory) and the hashes of both (`.sha256`, in the
    format of `sha256sum -c`). The content depends only on the weights, and a rename puts every file in its place, so
    processes that start together may all build: the last one replaces each file with an identical one.

    Raises:
        WrongSettings: the directory cannot be written.
    """
    stem = f"all-MiniLM-L6-v2-{WEIGHTS_SHA256[:12]}-g{GRAPH_VERSION}-{build}"
    graph, data, sums = (cache_dir / f"{stem}{suffix}" for suffix in (".onnx", ".bin", ".sha256"))
    try:
        if not _unharmed(sums, (graph, data)):
            cache_dir.mkdir(parents=True, exist_ok=True)
            _build(weights, build, graph, data, sums)
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


def _build(weights: Path, build: Build, graph: Path, data: Path, sums: Path) -> None:
    # Imported here because onnx takes 40 MB and a third of a second, which only the first start needs to pay.
    if build == "int8":
        from monitor.assess.embed.minilm_int8 import write_encoder  # noqa: PLC0415
    else:
        from monitor.assess.embed.minilm_graph import write_encoder  # noqa: PLC0415

    with replacing(data) as data_file:
        model = write_encoder(Safetensors(weights), data_file, location=data.name)
    with replacing(graph) as graph_file:
        graph_file.write(model)
    with replacing(sums) as sums_file:
        sums_file.write(_sums((graph, data)).encode())
