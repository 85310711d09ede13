"""How people name an interaction: APP/ID, or its id alone where that is enough."""

from __future__ import annotations

import shlex


def spellings(name: str) -> list[tuple[str, str]]:
    """Each app and id that `APP/ID` may mean, since both may contain slashes; empty without a slash between texts."""
    slashes = [place for place, letter in enumerate(name) if letter == "/" and 0 < place < len(name) - 1]
    return [(name[:place], name[place + 1 :]) for place in slashes]


def meanings(name: str, app: str | None) -> list[tuple[str | None, str]]:
    """Each app and id that a name may mean, the whole name as an id first; app None: of whichever app.

    With `app` the name is the id.
    """
    return [(app, name), *(spellings(name) if app is None else ())]


def explain_command(app: str, id_: str) -> str:
    """The shell command that explains an interaction."""
    dashes = "-- " if id_.startswith("-") else ""  # not to be taken for an option
    return f"monitor explain --app {shlex.quote(app)} {dashes}{shlex.quote(id_)}"
