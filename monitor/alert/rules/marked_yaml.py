"""YAML whose values still know where they stand, so that an error can name line and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place in a file, both counted from 1."""

    line: int
    column: int


class InvalidYaml(Exception):
    """Text that is no YAML, or YAML that says the same thing twice."""

    def __init__(self, problem: str, mark: Mark) -> None:
        super().__init__(problem)
        self.problem = problem
        self.mark = mark


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedYaml:
    """One document: its value in plain Python types, and the nodes it was made from (None for an empty file)."""

    value: Any
    root: yaml.Node | None

    def mark(self, path: Sequence[int | str], *, of_key: bool = False) -> Mark:
        """Where the value at `path` stands, or its key; the nearest thing above it where it is missing."""
        node = self.root
        if node is None:
            return Mark(line=1, column=1)
        key = node
        for part in path:
            found = _child(node, part)
            if found is None:
                break
            key, node = found
        return _mark((key if of_key else node).start_mark)


def parse_yaml(text: str) -> MarkedYaml:
    """Reads one document of plain YAML (no Python tags).

    Raises:
        InvalidYaml: it does not parse, or a mapping holds a key twice (YAML libraries keep the last in silence).
    """
    start = Mark(line=1, column=1)
    try:
        loader = yaml.SafeLoader(text)
    except yaml.reader.ReaderError as error:  # a character that YAML does not allow
        before = text[: error.position]
        mark = Mark(line=before.count("\n") + 1, column=error.position - before.rfind("\n"))
        raise InvalidYaml(f"the character {error.character!r} is not allowed", mark) from None
    try:
        root = loader.get_single_node()
        if root is None:
            return MarkedYaml(value=None, root=None)
        _refuse_duplicates(root, seen=set())
        return MarkedYaml(value=loader.construct_document(root), root=root)
    except yaml.MarkedYAMLError as error:
        mark = _mark(error.problem_mark) if error.problem_mark else start
        raise InvalidYaml(error.problem or "this does not parse", mark) from None
    except (ValueError, RecursionError) as error:  # PyYAML lets these pass: a date of no calendar, nesting without end
        raise InvalidYaml(f"this does not parse: {error}", start) from None
    finally:
        loader.dispose()


def _refuse_duplicates(node: yaml.Node, seen: set[int]) -> None:
    if id(node) in seen:  # an alias leads to a node already looked at, maybe to one we are inside of
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item, seen)
    elif isinstance(node, yaml.MappingNode):
        first: dict[tuple[str, str], yaml.Node] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                earlier = first.setdefault((key.tag, key.value), key)
                if earlier is not key:
                    line = earlier.start_mark.line + 1
                    raise InvalidYaml(f"the key {key.value!r} stands in line {line} already", _mark(key.start_mark))
            _refuse_duplicates(value, seen)


def _child(node: yaml.Node, part: int | str) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((k, v) for k, v in node.value if k.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None


def _mark(mark: Any) -> Mark:
    return Mark(line=mark.line + 1, column=mark.column + 1)
