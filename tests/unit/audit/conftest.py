"""The verifier of exports."""

from __future__ import annotations

import pytest

from tests.factories.audit.rows import SIGNER
from tests.rig.audit.shipped import standalone


@pytest.fixture
def verify(tmp_path, capsys):
    def run(content, *arguments, key=SIGNER.verifier_key):
        path = tmp_path / "export.zip"
        path.write_bytes(content)
        code = standalone.main([str(path), "--key", key, *arguments])
        return code, capsys.readouterr().out

    return run
