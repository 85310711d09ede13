"""Renders a report as GitHub Markdown, without charts. Text from outside is escaped: it cannot link or mention."""

from __future__ import annotations

import re
from collections.abc import Iterator

from monitor.report.weekly.actions import actions, calm
from monitor.report.weekly.content import digest
from monitor.report.weekly.document import Link, sections
from monitor.report.weekly.elements import Card, Item, Section, Table
from monitor.report.weekly.summary import headline, period, title, warnings

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~&!$])")
# Text that becomes a link without any sign; the word joiner breaks its beginning up.
_LINKS = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp)(?=:)|\bwww(?=\.)")
_APART = "\u2060"  # word joiner


def markdown(content: Item, link: Link, base: str = "") -> str:
    """The whole report, the same for the same content and links; `base` is the address of the installation."""
    return "\n".join(_lines(content, link, base)) + "\n"


def escape(text: str) -> str:
    """`text`, which is on one line, escaped so that Markdown shows it letter by letter."""
    escaped = _SIGNS.sub(r"\\\1", text).replace("@", f"@{_APART}")
    return _LINKS.sub(lambda found: f"{found.group()}{_APART}", escaped)


def _lines(content: Item, link: Link, base: str) -> Iterator[str]:
    yield f"# {escape(title(content))}\n"
    yield f"{escape(period(content))}\n"
    yield from _actions(content, base)
    yield from (f"- {escape(line)}" for line in headline(content))
    yield ""
    for line in warnings(content):
        yield f"> **Note:** {escape(line)}\n"
    for section in sections(content, link):
        yield from _section(section, base)
    yield f"Content {digest(content)} (SHA-256): the same rows give the same report."


def _actions(content: Item, base: str) -> Iterator[str]:
    todo, quiet = actions(content), calm(content)
    if not todo and quiet is None:
        return
    yield "## This week\n"
    if quiet is not None:
        yield f"{escape(quiet)}\n"
        return
    for place, action in enumerate(todo, start=1):
        look = f"[{action.look}](<{base}{action.path}>)" if base else f"{action.look} on the dashboard: `{action.path}`"
        yield f"{place}. {escape(action.text)} {escape(action.sure)} {look}"
    yield ""


def _section(section: Section, base: str) -> Iterator[str]:
    yield f"## {escape(section.title)}\n"
    yield f"{escape(section.words)}\n"
    for note in section.notes:
        yield f"{escape(note)}\n"
    for table in section.tables:
        yield from _table(table, base)
    for card in section.cards:
        yield from _card(card)


def _table(table: Table, base: str) -> Iterator[str]:
    yield f"**{escape(table.caption)}**\n"
    yield _row(table.headings)
    yield _row(["---" if place < table.texts else "---:" for place in range(len(table.headings))])
    for place, (name, *cells) in enumerate(table.rows):
        link = table.link(place, base)
        linked = f"[{escape(name)}](<{link}>)" if link and not link.startswith("/") else escape(name)
        yield _row([linked, *map(escape, cells)])
    yield ""
    if table.more:
        yield f"{escape(table.more)}\n"


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _card(card: Card) -> Iterator[str]:
    yield f"### {escape(card.heading)}\n"
    for name, value in (("Question", card.question), ("Answer", card.answer), *card.facts):
        yield f"- {name}: {escape(value)}"
    if card.url:
        yield f"- [Open this answer](<{card.url}>)"
    yield ""
