"""The encoder's ONNX graph on disk: built on the first start, verified on every start."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias, cast

from monitor.assess.embed.weights import WEIGHTS_SHA256, Safetensors, file_sha256
from monitor.core.errors import WrongSettings

GRAPH_VERSION = 3  # part of the files' names: raise it with every change of minilm_graph.py or minilm_int8.py

Build: TypeAlias = Literal["fp32", "int8"]  # in float32, or with the large products in 8-bit integers


def cached_graph(cache_dir: Path, weights: Path, build: Build = "fp32") -> Path:
    """Path of the ONNX file in `cache_dir`, built from `weights` (checked by the caller) if it is not there unharmed.

    Beside it lie the weights (`.bin`, which onnxruntime maps into memory) and the hashes of both (`.sha256`, as
    `sha256sum -c` reads them). What is written depends on the weights alone and every file is put in its place by a
    rename, so processes that start together may all build: who comes last replaces each file by its like.

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
        raise WrongSettings(f"{cache_dir}: the encoder cannot be kept there ({error}); set another state_dir") from None
    return graph


def _unharmed(sums: Path, files: Sequence[Path]) -> bool:
    """Whether `sums` names exactly these files with the hashes that they have."""
    try:
        return sums.read_text(encoding="utf-8") == _sums(files)
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def _sums(files: Sequence[Path]) -> str:
    return "".join(f"{file_sha256(path)}  {path.name}\n" for path in files)


def _build(weights: Path, build: Build, graph: Path, data: Path, sums: Path) -> None:
    # onnx takes 40 MB and a third of a second, which only the first start needs to pay.
    if build == "int8":
        from monitor.assess.embed.minilm_int8 import write_encoder  # noqa: PLC0415
    else:
        from monitor.assess.embed.minilm_graph import write_encoder  # noqa: PLC0415

    with _replacement(data) as data_file:
        model = write_encoder(Safetensors(weights), data_file, location=data.name)
    with _replacement(graph) as graph_file:
        graph_file.write(model)
    with _replacement(sums) as sums_file:
        sums_file.write(_sums((graph, data)).encode())


@contextmanager
def _replacement(path: Path) -> Iterator[BinaryIO]:
    """A new file beside `path`, renamed onto it when the block ends without an error, removed otherwise."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", delete=False) as file:
        new = Path(file.name)
        try:
            yield cast("BinaryIO", file)
            file.flush()
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
