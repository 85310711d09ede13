"""Puts `verify.py` together from the parts of `monitor/audit/verifier`: one file, which auditors read and run.

It begins with the docstring of the package and with what the parts import from Python. Each part follows as a section
headed by its docstring, after all those of which it uses something.

The parts import nothing but Python and each other. What they prove, they prove with code of their own, which repeats
`merkle.py`, `note.py`, `canonical.py` and `commitment.py` on purpose: a mistake in the program that makes exports must
not hide in the check of them. The program takes from the parts only what both must do alike: the names in an export,
its page, and the form of time stamps.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files

PACKAGE = "monitor.audit.verifier"
PARTS = (
    *("terms", "ed25519", "canonical_json", "merkle_tree", "notes", "tokens", "page"),
    *("archive", "times", "statements", "revisions", "log", "export", "proof", "command"),
)


@cache
def verify_py() -> str:
    """The text of `verify.py`; this release always gives the same.

    Raises:
        ValueError: two parts give the same name to different things.
    """
    parts = [_source(name) for name in PARTS]
    sections = "\n\n\n".join(map(_section, parts))
    text = f"{_source('__init__')}\n{_imports(parts)}\n\n{sections}\n"
    twice = [name for name, times in Counter(_names(text)).items() if times > 1]
    if twice:
        raise ValueError(f"two things in verify.py have the name {', '.join(twice)}")
    return text


def _source(name: str) -> str:
    return files(PACKAGE).joinpath(f"{name}.py").read_text(encoding="utf-8")


def _section(source: str) -> str:
    """A part without its imports, under its docstring as a comment."""
    tree = ast.parse(source)
    last = max(at.end_lineno or 0 for at in tree.body if isinstance(at, ast.Import | ast.ImportFrom))
    heading = (ast.get_docstring(tree) or "").replace("\n", "\n# ")
    content = "\n".join(source.split("\n")[last:])
    return f"# --- {heading}\n{content.rstrip()}"


def _imports(sources: Collection[str]) -> str:
    """What the parts import from Python, each once, in the order of this project."""
    modules: set[str] = set()
    names: defaultdict[str, set[str]] = defaultdict(set)
    for at in (at for source in sources for at in ast.parse(source).body):
        if isinstance(at, ast.Import):
            modules.update(item.name for item in at.names)
        elif isinstance(at, ast.ImportFrom) and at.module and not at.module.startswith(f"{PACKAGE}."):
            names[at.module].update(item.name for item in at.names)
    first = f"from __future__ import {', '.join(names.pop('__future__'))}\n"
    plain = [f"import {name}" for name in sorted(modules)]
    chosen = [f"from {module} import {', '.join(sorted(names[module], key=_rank))}" for module in sorted(names)]
    return "\n".join((first, *plain, *chosen))


def _rank(name: str) -> tuple[bool, bool, str]:
    """Constants come first, then classes, then functions."""
    return not name.isupper(), name[0].islower(), name


def _names(source: str) -> Iterator[str]:
    """What a program imports and defines, as often as it does."""
    for at in ast.parse(source).body:
        if isinstance(at, ast.Import | ast.ImportFrom):
            yield from (item.name for item in at.names)
        elif isinstance(at, ast.FunctionDef | ast.ClassDef):
            yield at.name
        elif isinstance(at, ast.Assign | ast.AnnAssign):
            targets = at.targets if isinstance(at, ast.Assign) else [at.target]
            yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
