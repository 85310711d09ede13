"""A list of stored answers for a terminal, with the names that commands take."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from monitor.assess.explain import COLOURS
from monitor.core.text.plain import readable
from monitor.store.interaction.filters import ListedInteraction

_VERDICT = len("self-generated")


def newest_lines(row: ListedInteraction) -> Iterator[Text]:
    """Yields when, the verdict and the name of an answer, which is never cut; then its question."""
    verdict = row.verdict.replace("_", "-").ljust(_VERDICT)
    name = readable(f"{row.app}/{row.id}")
    yield Text.assemble(f"{row.occurred_at:%Y-%m-%d %H:%M}  ", (verdict, COLOURS[row.verdict]), "  ", (name, "bold"))
    yield Text("  " + " ".join(readable(row.question).split()), style="dim", no_wrap=True, overflow="ellipsis")
