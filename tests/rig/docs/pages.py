"""The fenced blocks of the documentation, and the commands in those of a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.rig.installation import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = frozenset({"sh", "console"})
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)
_ASSIGNMENT = re.compile(r"(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>.*)", re.DOTALL)
_SEPARATORS = frozenset({";", "&", "&&", "|", "||"})
_REDIRECTIONS = frozenset({">", ">>", "<", "2>"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block, without its indentation; `line` is the first of its text in the page."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A simple command: its words, what it sets for itself alone, where its output goes, and its line in the page."""

    words: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    output: str | None = None
    line: int = field(default=0, compare=False)

    @property
    def exported(self) -> dict[str, str]:
        """What it sets for the commands after it."""
        given = self.words[1:] if self.words[:1] == ("export",) else ()
        parts = (match for word in given if (match := _ASSIGNMENT.fullmatch(word)))
        return {match["name"]: match["value"] for match in parts} if self.words else self.environment

    @property
    def of_monitor(self) -> tuple[str, ...] | None:
        """The words after `monitor`, where it runs that: here, or in a container by Docker or Kubernetes."""
        words = self.words
        if words[:2] == ("docker", "compose") and (verb := next((w for w in words if w in {"exec", "run"}), None)):
            rest = list(words[words.index(verb) + 1 :])
            while rest and rest[0].startswith("-"):
                rest.pop(0)
            words = tuple(rest[1:] if verb == "exec" or rest[:1] != ["monitor"] else rest)
        if words[:1] == ("kubectl",) and "--" in words:
            words = words[words.index("--") + 1 :]
        return words[1:] if words and words[0] in {"monitor", ".venv/bin/monitor", "/opt/monitor/bin/monitor"} else None


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        yield Block(
            page=str(page.relative_to(ROOT)),
            line=text.count("\n", 0, match.start("text")) + 1,
            language=match["language"],
            text=re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE),
        )


def shell_blocks(page: Path) -> Iterator[Block]:
    """Those of a shell: said to be, or without a language and with a command of ours at the beginning of a line."""
    for block in blocks(page):
        if block.language in SHELL or (
            not block.language and re.search(r"^(monitor |MONITOR_)", block.text, re.MULTILINE)
        ):
            yield block


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block in their order. Of a `console` block only lines after a `$` are commands."""
    lines = list(enumerate(block.text.splitlines(), block.line))
    if block.language == "console":
        lines = [(number, line.removeprefix("$ ")) for number, line in lines if line.startswith("$ ")]
    begun, first = "", block.line
    for number, line in lines:
        begun, first = (f"{begun}\n{line}", first) if begun else (line, number)
        if line.endswith("\\"):
            begun = begun[:-1]
            continue
        try:
            words = _words(begun)
        except ValueError:  # a quotation goes on in the next line
            continue
        begun = ""
        yield from _parts(words, first)
    assert not begun, f"{block.place}: a quotation is not closed"


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split = True
    return list(lexer)


def _parts(words: Sequence[str], line: int) -> Iterator[Command]:
    part: list[str] = []
    for word in (*words, ";"):
        if word not in _SEPARATORS:
            part.append(word)
        elif part:
            yield _command(part, line)
            part = []


def _command(words: list[str], line: int) -> Command:
    environment: dict[str, str] = {}
    output = None
    while words and (match := _ASSIGNMENT.fullmatch(words[0])):
        environment[match["name"]] = match["value"]
        words = words[1:]
    for position, word in enumerate(words):
        if word in _REDIRECTIONS:
            output = words[position + 1]
            words = words[:position]
            break
    return Command(words=tuple(words), environment=environment, output=output, line=line)
