"""`verify.py` as it is shipped, imported from its one text."""

from __future__ import annotations

import tempfile
from contextlib import redirect_stdout
from importlib.abc import InspectLoader
from importlib.util import module_from_spec, spec_from_loader
from io import StringIO
from pathlib import Path

from monitor.audit.standalone import verify_py


class _Text(InspectLoader):
    def get_source(self, fullname):
        return verify_py()


def _imported():
    loader = _Text()
    module = module_from_spec(spec_from_loader("verify", loader))
    loader.exec_module(module)
    return module


standalone = _imported()


def verified(content, key):
    """The exit code of `verify.py` on an export, and what it says."""
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()) as said:
        path = Path(folder, "export.zip")
        path.write_bytes(content)
        code = standalone.main([str(path), "--key", key])
    return code, said.getvalue()
