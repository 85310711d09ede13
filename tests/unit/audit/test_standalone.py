"""`verify.py` is the parts of `monitor/audit/verifier` in one file, and nothing else."""

from __future__ import annotations

import ast
import json
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from monitor.audit import standalone
from monitor.audit.standalone import PACKAGE, PARTS, verify_py
from monitor.audit.verifier.command import main
from tests.factories.audit.export import EXPORT
from tests.factories.audit.rows import SIGNER
from tests.rig.audit import shipped

IMPORTS = ast.Import | ast.ImportFrom


def parsed(part):
    return ast.parse(files(PACKAGE).joinpath(f"{part}.py").read_text())


def content(tree):
    """What a program holds beside its docstring and its imports."""
    return [ast.dump(at) for at in tree.body[1:] if not isinstance(at, IMPORTS)]


def imported(tree):
    return {
        (at.module or "") if isinstance(at, ast.ImportFrom) else at.names[0].name
        for at in ast.walk(tree)
        if isinstance(at, IMPORTS)
    }


def test_it_holds_every_part_whole_and_in_order_and_nothing_else():
    found = {path.name.removesuffix(".py") for path in files(PACKAGE).iterdir() if path.name.endswith(".py")}
    assert found == {"__init__", *PARTS}
    assert content(ast.parse(verify_py())) == [said for part in PARTS for said in content(parsed(part))]


def test_a_part_imports_python_and_earlier_parts_only():
    for at, part in enumerate(PARTS):
        own = {f"{PACKAGE}.{earlier}" for earlier in PARTS[:at]}
        assert {
            name for name in imported(parsed(part)) - own if name.partition(".")[0] not in sys.stdlib_module_names
        } == set()


def test_it_reads_from_top_to_bottom():
    """One docstring, one block of imports, and a heading for each part."""
    text = verify_py()
    tree = ast.parse(text)
    assert ast.get_docstring(tree) == ast.get_docstring(parsed("__init__"))
    count = sum(isinstance(at, IMPORTS) for at in ast.walk(tree))
    assert all(isinstance(at, IMPORTS) for at in tree.body[1 : count + 1])
    headings = [line.removeprefix("# --- ") for line in text.split("\n") if line.startswith("# --- ")]
    assert headings == [ast.get_docstring(parsed(part)).split("\n")[0] for part in PARTS]
    assert text.endswith("sys.exit(main())\n")


@pytest.mark.parametrize(
    "parts",
    [
        ("loads = 1", "loads: int = 2"),
        ("def loads(): ...", "a, loads = 1, 2"),
        ("from json import loads", "class loads: ..."),
    ],
)
def test_a_name_for_two_things_is_refused(monkeypatch, parts):
    future = "from __future__ import annotations\n"
    sources = {"__init__": "", **{at: f"{future}{part}\n" for at, part in enumerate(parts)}}
    monkeypatch.setattr(standalone, "PARTS", (0, 1))
    monkeypatch.setattr(standalone, "_source", sources.get)
    with pytest.raises(ValueError, match=r"two things in verify\.py have the name loads"):
        standalone.verify_py.__wrapped__()


def test_the_modules_say_what_the_one_file_says(tmp_path, capsys):
    exports = {
        "good.zip": EXPORT,
        "earlier.zip": (Path(__file__).parent / "export_of_earlier_release.zip").read_bytes(),
        "proof.json": json.dumps({"records": [], "checkpoint": ""}).encode(),
        "none.json": b"no export",
    }
    for name, content in exports.items():
        (tmp_path / name).write_bytes(content)
        said = []
        for program in (main, shipped.standalone.main):
            code = program([str(tmp_path / name), "--key", SIGNER.verifier_key])
            said.append((code, capsys.readouterr().out))
        assert said[0] == said[1]
        assert said[0][0] == (0 if name.endswith(".zip") else 1)
