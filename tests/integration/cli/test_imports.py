"""What commands import: that decides how soon they answer, and no time has to be measured for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from monitor.__main__ import main
from tests.rig.commands import ROOT

MODULES = "import json, sys; json.dump(sorted({name.split('.')[0] for name in sys.modules}), sys.stderr)"


def imported(*arguments: str, environment: dict[str, str] | None = None) -> set[str]:
    """The packages that a command has imported when it ends."""
    code = f"""
import sys
sys.argv = ["monitor", *{list(arguments)!r}]
from monitor.__main__ import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
{MODULES}
"""
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stderr.splitlines()[-1]))


def test_help_and_version_import_no_more_than_the_command_line():
    heavy = {"alembic", "altair", "fastapi", "numpy", "onnxruntime", "psycopg", "pydantic", "sqlalchemy", "tokenizers"}
    assert not imported("--help") & heavy
    assert not imported("--version") & (heavy | {"rich"})


def test_a_command_that_only_reads_imports_neither_models_nor_migrations_nor_receivers(database):
    heavy = {"alembic", "altair", "fastapi", "grpc", "kafka", "onnxruntime", "openai", "slack_sdk", "tokenizers"}
    assert not imported("alerts", "list", environment={"MONITOR_DATABASE_URL": database}) & heavy


def test_numpy_computes_on_one_thread():
    """Its others would spin while they wait."""
    code = """
import os, sys
sys.argv = ["monitor", "--version"]
from monitor.__main__ import main
try:
    main()
except SystemExit:
    import numpy
    print(len(os.listdir("/proc/self/task")))
"""
    ran = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT)}, capture_output=True, check=True)
    assert ran.stdout.split()[-1] == b"1"


def test_threads_that_the_user_has_set_stay(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    monkeypatch.setattr("monitor.cli.app.app", lambda: None)
    main()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "4"
