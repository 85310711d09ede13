"""Reads YAML 1.1 so that every value knows its line and column, and refuses hostile documents.

The parser is the safe one of ruamel.yaml. Three of its habits are corrected here:

- It resolves plain scalars in its own way: as YAML 1.2 (`yes` and `1:30` are strings) or, when asked for YAML 1.1,
  with `y` and `1e3` as more than strings. Rules files were written for PyYAML and must keep their meaning, so
  `_Yaml11` holds PyYAML's patterns, and a `%YAML` directive changes nothing.
- It overlooks a repeated key in a mapping that has a merge key (`<<`).
- It lets aliases multiply without limit.

One difference to PyYAML remains: U+0085, U+2028 and U+2029 do not end a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.resolver import VersionedResolver, implicit_resolvers
from typing_extensions import override

MAX_DEPTH = 100
TOO_DEEP = f"the nesting is deeper than {MAX_DEPTH} levels"
MAX_REPEATED = 100_000  # values that aliases may add to the ones written down
# ruamel.yaml lets these pass when a value does not suit its tag, as in `2020-99-99` or `!!bool maybe`.
_OVERLOOKED = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place in a file; line and column count from 1."""

    line: int
    column: int


class InvalidYaml(Exception):
    """The text is not YAML, repeats a key, or is hostile."""

    def __init__(self, problem: str, mark: Mark) -> None:
        super().__init__(problem)
        self.problem = problem
        self.mark = mark


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedYaml:
    """A document: its value in plain Python types, and the nodes behind the value (None for an empty file)."""

    value: Any
    root: Node | None

    def mark(self, path: Sequence[int | str], *, of_key: bool = False) -> Mark:
        """Where the value at `path`, or its key, begins; for a missing value, where the nearest parent begins."""
        node = self.root
        if node is None:
            return Mark(line=1, column=1)
        key = node
        for part in path:
            found = _child(node, part)
            if found is None:
                break
            key, node = found
        if of_key:
            return _mark(key.start_mark)
        if _is_empty(node) and node.start_mark.line > key.end_mark.line:  # ruamel places it at the next token
            return Mark(line=key.end_mark.line + 1, column=key.end_mark.column + 2)
        return _mark(node.start_mark)


# What makes a plain scalar more than a string in PyYAML, and the characters that such a scalar may begin with.
_PATTERNS = (
    (
        "bool",
        "yYnNtTfFoO",
        re.compile("^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"),
    ),
    (
        "float",
        "-+0123456789.",
        re.compile(
            r"""^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?
            |\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?
            |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*
            |[-+]?\.(?:inf|Inf|INF)
            |\.(?:nan|NaN|NAN))$""",
            re.VERBOSE,
        ),
    ),
    (
        "int",
        "-+0123456789",
        re.compile(
            r"""^(?:[-+]?0b[01_]+
            |[-+]?0[0-7_]+
            |[-+]?(?:0|[1-9][0-9_]*)
            |[-+]?0x[0-9a-fA-F_]+
            |[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$""",
            re.VERBOSE,
        ),
    ),
)


class _Yaml11(VersionedResolver):
    """Decides what type a plain scalar has, exactly as PyYAML does."""

    @property
    @override
    def processing_version(self) -> tuple[int, int]:
        return (1, 1)

    @property
    @override
    def versioned_resolver(self) -> dict[str, list[tuple[str, Any]]]:
        return _RESOLVERS


def _resolvers() -> dict[str, list[tuple[str, Any]]]:
    ours = [(f"tag:yaml.org,2002:{name}", pattern, list(begins)) for name, begins, pattern in _PATTERNS]
    tags = {tag for tag, _, _ in ours}
    theirs = [
        (tag, pattern, begins)
        for versions, tag, pattern, begins in implicit_resolvers
        if (1, 1) in versions and tag not in tags
    ]
    found: dict[str, list[tuple[str, Any]]] = {}
    for tag, pattern, begins in ours + theirs:
        for character in begins:
            found.setdefault(character, []).append((tag, pattern))
    return found


_RESOLVERS = _resolvers()


def parse_yaml(text: str) -> MarkedYaml:
    """Reads one document without running or importing anything that it names.

    Raises:
        InvalidYaml: the text does not parse, a mapping repeats a key, the nesting exceeds `MAX_DEPTH`, or aliases
            repeat more than `MAX_REPEATED` values.
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.Resolver = _Yaml11
    yaml.max_depth = MAX_DEPTH
    yaml.composer.warn_double_anchors = False  # an anchor may be set anew, as in every YAML
    try:
        root = yaml.compose(text)
        if root is None:
            return MarkedYaml(value=None, root=None)
        _Inspection().inspect(root)
        return MarkedYaml(value=yaml.constructor.construct_document(root), root=root)
    except ReaderError as error:
        before = text[: error.position]
        mark = Mark(line=before.count("\n") + 1, column=error.position - before.rfind("\n"))
        raise InvalidYaml(f"the character {error.character!r} is not allowed", mark) from None
    except MaxDepthExceededError as error:
        raise InvalidYaml(TOO_DEEP, _mark(error.problem_mark)) from None
    except MarkedYAMLError as error:
        mark = _mark(error.problem_mark) if error.problem_mark else Mark(line=1, column=1)
        raise InvalidYaml(error.problem or "this does not parse", mark) from None
    except _OVERLOOKED as error:
        raise InvalidYaml(f"this does not parse: {error!r}", Mark(line=1, column=1)) from None


class _Inspection:
    """Refuses repeated keys, and aliases that lead to more values or a deeper nesting than is sane.

    Also halves of characters, which escapes can write, and which can be neither stored nor shown.
    """

    def __init__(self) -> None:
        self._seen: dict[Node, tuple[int, int]] = {}  # how many values the node stands for, and how deeply nested
        self._repeated = 0

    def inspect(self, node: Node) -> tuple[int, int]:
        if node in self._seen:  # an alias, perhaps to a node that is not finished yet
            size, depth = self._seen[node]
            self._repeated += size
            if self._repeated > MAX_REPEATED:
                raise InvalidYaml(f"aliases repeat more than {MAX_REPEATED:,} values", _mark(node.start_mark))
            return size, depth
        self._seen[node] = (1, 1)
        _refuse_halves(node)
        if isinstance(node, MappingNode):
            _refuse_repeated_keys(node)
            children = [self.inspect(value) for _, value in node.value]
        elif isinstance(node, SequenceNode):
            children = [self.inspect(item) for item in node.value]
        else:
            children = []
        depth = 1 + max((depth for _, depth in children), default=0)
        if depth > MAX_DEPTH:
            raise InvalidYaml(TOO_DEEP, _mark(node.start_mark))
        self._seen[node] = (1 + sum(size for size, _ in children), depth)
        return self._seen[node]


def _refuse_halves(node: Node) -> None:
    if isinstance(node, ScalarNode) and any("\ud800" <= character <= "\udfff" for character in node.value):
        raise InvalidYaml("contains half of a surrogate pair: write the character itself", _mark(node.start_mark))


def _refuse_repeated_keys(node: MappingNode) -> None:
    first: dict[tuple[str | None, str], Node] = {}
    for key, _ in node.value:
        if not isinstance(key, ScalarNode):
            raise InvalidYaml("a key must be a single value", _mark(key.start_mark))
        _refuse_halves(key)
        earlier = first.setdefault((key.tag, key.value), key)
        if earlier is not key:
            line = earlier.start_mark.line + 1
            raise InvalidYaml(f"the key {key.value!r} is already in line {line}", _mark(key.start_mark))


def _child(node: Node, part: int | str) -> tuple[Node, Node] | None:
    if isinstance(node, MappingNode):
        return next(((key, value) for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value == "" and node.style is None


def _mark(mark: Any) -> Mark:
    return Mark(line=mark.line + 1, column=mark.column + 1)
