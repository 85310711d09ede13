"""The runbook of an alert on its page, so that whoever is woken needs no other site and no setting."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup

from monitor.core.errors import WrongSettings
from monitor.core.installed.manual import text_of

_DOCS = "docs/"


@lru_cache(maxsize=32)
def runbook_html(runbook: str | None) -> Markup | None:
    """The section of the documentation that `runbook` names, without its heading; None if it names no such section.

    Links lead to pages that may not be served anywhere, so only their words are shown.
    """
    if runbook is None or not runbook.startswith(_DOCS) or "#" not in runbook:
        return None
    try:
        _, _, text = text_of(runbook).partition("\n")
    except WrongSettings:
        return None
    parser = MarkdownIt("commonmark", {"html": False})
    tokens = parser.parse(text)
    for token in tokens:
        token.children = [each for each in token.children or () if each.type not in {"link_open", "link_close"}]
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704  our own documentation, without HTML
