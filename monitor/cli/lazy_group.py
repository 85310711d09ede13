"""A group of commands that imports a command when it is run, and not in order to list it.

All commands together take most of a second to import, which each start of the program would pay.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group
from typing_extensions import override

from monitor.core.text.plain import without_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Listed(TyperCommand):
    """A command as the help and the completion of the group list it; `place` is `module:name` of what runs."""

    def __init__(self, name: str, place: str, summary: str, *, panel: str) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel)
        self.place = place

    def imported(self) -> Any:
        """The command itself: a function, or a `Typer` with commands of its own."""
        module, _, name = self.place.partition(":")
        found = getattr(import_module(module), name)
        if isinstance(found, typer.Typer):
            command: Any = get_group(found)
        else:
            alone = typer.Typer(add_completion=False)
            alone.command(self.name)(found)
            command = get_command(alone)
        command.rich_help_panel = self.rich_help_panel
        return command


class LazyGroup(TyperGroup):
    """A group that lists `Listed` commands, and runs what they stand for."""

    @override
    def make_context(self, *args: Any, **settings: Any) -> Any:
        with _our_words():
            return super().make_context(*args, **settings)

    @override
    def invoke(self, ctx: Any) -> Any:
        with _our_words():  # of the options of every command below
            return super().invoke(ctx)

    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.imported() if isinstance(command, Listed) else command, rest


@contextmanager
def _our_words() -> Iterator[None]:
    """Takes from a message about an option the words with which pydantic, by which Typer reads them, begins it."""
    try:
        yield
    except typer.BadParameter as error:
        error.message = without_prefix(error.message)
        raise


def imported(app: typer.Typer) -> Any:
    """The group of an application with every command imported, for what walks through all of them."""
    group: Any = get_command(app)
    for name, command in group.commands.items():
        if isinstance(command, Listed):
            group.commands[name] = command.imported()
    return group


def lazy_group(panels: Mapping[str, Iterable[tuple[str, str, str]]]) -> type[LazyGroup]:
    """The class of a group with these commands: (name, place, summary) of each, under the title of its panel."""

    class Commands(LazyGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            for panel, commands in panels.items():
                for name, place, summary in commands:
                    self.add_command(Listed(name, place, summary, panel=panel))

    return Commands
