"""The documentation builds as a site without a warning, loads nothing from elsewhere, and describes its pictures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from tests.rig.installation import ROOT

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
PICTURE_BYTES, ALL_PICTURES_BYTES = 150_000, 1_000_000


class Page(HTMLParser):
    """What a page loads, and its pictures without a description."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.undescribed: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        its = dict(attrs)
        if its.get("rel") == "canonical":
            return
        if address := its.get(LOADED.get(tag, ""), ""):
            self.loaded.append(address)
        if tag == "img" and not (its.get("alt") or "").strip():
            self.undescribed.append(its.get("src", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "site"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", ROOT / "tools" / "mkdocs.yml", "-d", folder],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = built.stdout + built.stderr
    assert built.returncode == 0, said
    assert "WARNING" not in said
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {str(path.relative_to(site)): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_is_in_the_site(pages):
    docs = ROOT / "docs"
    expected = {re.sub(r"README\.md$", "index.md", str(path.relative_to(docs))) for path in docs.rglob("*.md")}
    assert {name.replace(".md", ".html") for name in expected} <= set(pages)


def test_nothing_is_loaded_from_elsewhere(pages, site):
    strangers = {
        f"{name}: {address}"
        for name, page in pages.items()
        for address in page.loaded
        if re.match(r"(https?:)?//", address)
    }
    styles = {
        f"{sheet.name}: {address}"
        for sheet in site.rglob("*.css")
        for address in re.findall(r"url\(\s*[\"']?((?:https?:)?//[^\"')]+)", sheet.read_text(encoding="utf-8"))
    }
    assert strangers | styles == set()


def test_every_picture_is_described_and_small(pages):
    assert {f"{name}: {src}" for name, page in pages.items() for src in page.undescribed} == set()
    sizes = {path: path.stat().st_size for path in (ROOT / "docs" / "images").glob("*.*")}
    assert {path.name for path, size in sizes.items() if size > PICTURE_BYTES} == set()
    assert sum(sizes.values()) < ALL_PICTURES_BYTES


def test_a_page_is_refused_that_is_not_in_the_navigation_and_so_is_a_broken_anchor(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "README.md").write_text("# Home\n\n[There](README.md#nowhere)\n", encoding="utf-8")
    (docs / "lost.md").write_text("# Lost\n", encoding="utf-8")
    text = (ROOT / "tools" / "mkdocs.yml").read_text(encoding="utf-8")
    config = tmp_path / "tools" / "mkdocs.yml"
    config.parent.mkdir()
    config.write_text(text.partition("\nnav:\n")[0] + "\nnav:\n  - README.md\n", encoding="utf-8")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", config, "-d", tmp_path / "site"],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = built.stdout + built.stderr
    assert built.returncode == 1
    assert "lost.md" in said
    assert "'README.md#nowhere', but there is no such anchor" in said
