"""Links in the documentation, and the documents and files that code and documentation name, exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
READERS = ("start", "join", "on-call", "quality", "audit", "operate", "develop", "reference")
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(page for folder in ("docs", "benchmarks", "tests") for page in (ROOT / folder).rglob("*.md")),
    ]
)
SOURCES = ("monitor", "migrations", "docker", "deploy", "benchmarks", "tools", "tests")
TEXTS = {".py", ".toml", ".yaml", ".html", ".js", ".css", ".ini", ""}

LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)#\s]*)(?:#(?P<fragment>[^)\s]+))?\)")
HEADING = re.compile(r"^#+ +(?P<title>.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# A document or a script, as comments, messages and commands name them.
NAMED = re.compile(r"(?<![\w/.-])(?:docs/[\w/-]+\.md|(?:benchmarks|tools)/[\w/-]+\.py)")
# A file or folder of the repository: `monitor/alert/rules/file.py`, `benchmarks/consume/`.
FILE = re.compile(r"(?<![\w/.-])(?:monitor|benchmarks|tools|tests|migrations|docker|deploy)/[\w/.-]*\w(?:/|\.\w+)")
PLACEHOLDERS = ("NAME", "NNNN", "NOUN")
# A file with names in it, as the walks give them: `monitor/app/flow.py` (`Flow`, `_fetch`).
STEP = re.compile(r"`(?P<file>monitor/[\w/]+\.py)`\s+\((?P<names>`\w+`(?:, `\w+`)*)\)")
MADE_BY_USERS = (
    "docker/events/",
    "docker/secrets",
    "deploy/kubernetes/overlays/ours/",
    "docker/compose.override.yaml",
    "monitor/bin/",
    "monitor/weekly-report/",
)


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """The fragments that GitHub gives the page's headings."""
    titles = [match["title"] for match in HEADING.finditer(CODE.sub("", page.read_text(encoding="utf-8")))]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def broken_links(page: Path) -> Iterator[str]:
    for link in LINK.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
        target, fragment = link["target"], link["fragment"]
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        linked = (page.parent / target) if target else page
        if not linked.exists() or (fragment and linked.suffix == ".md" and fragment not in anchors(linked)):
            yield link[0]


def sources() -> Iterator[Path]:
    yield from (ROOT / "pyproject.toml", ROOT / "Makefile")
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in TEXTS and "__pycache__" not in path.parts:
                yield path


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_relative_link_leads_somewhere(page):
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=shown)
def test_every_file_that_a_page_names_exists(page):
    named = {match[0] for match in FILE.finditer(page.read_text(encoding="utf-8"))}
    gone = [
        name
        for name in sorted(named)
        if not any(part in name for part in PLACEHOLDERS)
        and not name.startswith(MADE_BY_USERS)
        and not (ROOT / name).exists()
    ]
    assert gone == []


def test_every_document_and_script_that_the_sources_name_exists():
    gone = [
        f"{shown(path)}: {name}"
        for path in sources()
        for name in sorted({match[0] for match in NAMED.finditer(path.read_text(encoding="utf-8", errors="replace"))})
        if not (ROOT / name).exists()
    ]
    assert gone == []


@pytest.mark.parametrize("reader", READERS)
def test_the_index_of_each_reader_links_every_page(reader):
    folder = ROOT / "docs" / reader
    linked = {match["target"] for match in LINK.finditer((folder / "README.md").read_text(encoding="utf-8"))}
    assert {page.name for page in folder.glob("*.md")} - {"README.md"} <= linked


def test_the_walks_name_what_their_files_hold():
    steps = list(STEP.finditer((ROOT / "docs/develop/architecture.md").read_text(encoding="utf-8")))
    gone = [
        f"{step['file']}: {name}"
        for step in steps
        for name in re.findall(r"\w+", step["names"])
        if not re.search(rf"^\s*(?:async )?(?:def|class) {name}\b", (ROOT / step["file"]).read_text(), re.MULTILINE)
    ]
    assert steps
    assert gone == []
