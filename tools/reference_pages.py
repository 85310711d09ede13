"""Writes docs/reference/: every setting, command and operation of the API, as the code declares them.

    .venv/bin/python tools/reference_pages.py           # `make docs` does it before it builds the site

tests/unit/docs/test_reference_pages.py fails while a page is not what this script would write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import typer

from monitor.cli.app import app as command_line
from monitor.cli.lazy_group import imported
from monitor.core.settings.load import PREFIX, Settings
from monitor.web.base.api_page import Operation, Parameter, operations
from monitor.web.base.openapi import DashboardApp
from monitor.web.routes import api as api_router

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
GENERATED = "<!-- Written by tools/reference_pages.py; `make docs` writes it anew. -->"
# The page that says more about a group of settings.
SUBJECTS = {
    "alertmanager": "../on-call/receivers.md",
    "audit": "../audit/audit.md",
    "collect": "../operate/collect.md",
    "detector": "../quality/detector.md",
    "email": "../on-call/receivers.md",
    "embedding": "../operate/embedding.md",
    "export": "../operate/export.md",
    "ingest": "../start/events.md",
    "judge": "../quality/language-models.md",
    "kafka": "../operate/kafka.md",
    "llm": "../quality/language-models.md",
    "lookup": "../operate/lookup.md",
    "metrics": "../operate/metrics.md",
    "notify": "../on-call/receivers.md",
    "pagerduty": "../on-call/receivers.md",
    "pending": "../quality/language-models.md",
    "probe": "../quality/probes.md",
    "redaction": "../audit/privacy.md",
    "report": "../quality/report.md",
    "reranker": "../quality/reranker.md",
    "retention": "../audit/privacy.md",
    "sidecar": "../quality/language-models.md",
    "slack": "../on-call/slack.md",
    "teams": "../on-call/receivers.md",
    "web": "../operate/dashboard.md",
    "webhook": "../on-call/receivers.md",
}
INT32 = 2**31  # the limit of a protocol says nothing to a reader
ADDRESSES = {"^https?://": "URL", "^[^\\s@": "e-mail address"}  # what a pattern that begins so is for

SETTINGS = f"""{GENERATED}

# Settings reference

Every setting, for whoever configures `monitor`. [Settings](../start/settings.md) explains those that matter first,
and where settings come from. The names below are those of the environment. In `monitor.toml` a setting is the last
part of its name in lower case, below the heading of its group: `MONITOR_KAFKA__GROUP_ID` is `group_id` below `[kafka]`.

Lists are written with commas in the environment (`a,b`) and as arrays in the file; tables by name are written as
JSON in the environment. A setting can also be read from a file, which `MONITOR_…_FILE` names: do that with those marked
*secret*. `monitor settings` prints what is in force, with secrets masked.
"""

COMMANDS = f"""{GENERATED}

# Command reference

Every command with its arguments and options, for whoever types them or puts them in a script. `monitor COMMAND --help`
prints the same. Exit codes: 0 done, 1 a check failed, 2 wrong use or settings, 3 a service is out of reach.
"""

API = f"""{GENERATED}

# API reference

The JSON API of `monitor serve`, for whoever writes a script against it. [The dashboard and the
API](../operate/dashboard.md#api) has examples, and says how to get a token. A running `monitor serve` gives the same
as an OpenAPI document at `/api/v1/openapi.json`. Errors have the form of RFC 9457.
"""


def pages() -> dict[str, str]:
    """The text of each page by its file's name."""
    return {"settings.md": settings_page(), "commands.md": commands_page(), "api.md": api_page()}


def settings_page() -> str:
    schema = Settings.model_json_schema()
    groups: list[str] = []
    plain: list[Sequence[str]] = []
    for name, field in schema["properties"].items():
        group = _resolved(field, schema)
        if "properties" in group:
            groups += _group(name, group, schema)
        else:
            plain.append(_setting(name, field, schema))
    return "\n".join([SETTINGS, "## Without a group", "", *_table(_HEADS, plain), *groups])


_HEADS = ("setting", "value", "what it does")


def _group(path: str, group: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """A group's heading, table and groups within it; `path` is its dotted name in the file."""
    yield from ("", f"{'#' * min(2 + path.count('.'), 4)} `[{path}]`", "", _sentence(group["description"]))
    if page := SUBJECTS.get(path):
        yield from ("", f"More: [{_title(page)}]({page}).")
    inner: list[str] = []
    rows: list[Sequence[str]] = []
    for name, field in group["properties"].items():
        within = _resolved(field, schema)
        if "properties" in within:
            inner += _group(f"{path}.{name}", within, schema)
        else:
            rows.append(_setting(f"{path}.{name}", field, schema))
    if rows:
        yield from ("", *_table(_HEADS, rows))
    yield from inner


def _setting(path: str, field: Mapping[str, Any], schema: Mapping[str, Any]) -> Sequence[str]:
    name = PREFIX + path.upper().replace(".", "__")
    value, default = _value(field, schema), _default(field)
    return f"`{name}`", f"{value}; default {default}" if default else value, field.get("description", "")


def _default(field: Mapping[str, Any]) -> str:
    """The default, or nothing where the description says what holds."""
    default = field.get("default")
    if default is None or default in ([], {}, ""):
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, list):
        return f"`{','.join(map(str, default))}`"
    if isinstance(default, float) and default.is_integer():
        return f"`{int(default)}`"
    if isinstance(default, int) and default >= 2**20 and default % 2**20 == 0:
        return f"`{default}` ({default // 2**20} MiB)"
    return f"`{default}`"


def _value(field: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What a setting may be, in words."""
    field = _resolved(field, schema)
    if choices := [choice for choice in field.get("anyOf", ()) if choice.get("type") != "null"]:
        return " or ".join(_value(choice, schema) for choice in choices)
    match field.get("type"):
        case _ if "enum" in field:
            return ", ".join(f"`{choice}`" for choice in field["enum"])
        case "array":
            return f"list of {_value(field['items'], schema)}"
        case "object":
            return _table_by_name(field.get("additionalProperties"), schema)
        case "integer" | "number":
            return _number(field)
        case _:
            return "`true`, `false`" if field.get("type") == "boolean" else _text(field)


def _table_by_name(values: object, schema: Mapping[str, Any]) -> str:
    inner = _resolved(values, schema) if isinstance(values, Mapping) else {}
    fields = ", ".join(f"`{name}`" for name in inner.get("properties", ()))
    return f"table by name: {fields}" if fields else "table by name"


def _text(field: Mapping[str, Any]) -> str:
    pattern = field.get("pattern", "")
    kinds = {"password": "text, *secret*", "path": "path"}
    shown = (words for start, words in ADDRESSES.items() if pattern.startswith(start))
    return kinds.get(field.get("format", "")) or next(shown, "text")


def _number(field: Mapping[str, Any]) -> str:
    words = "whole number" if field["type"] == "integer" else "number"
    bounds = (
        ("exclusiveMinimum", "above"),
        ("minimum", "at least"),
        ("exclusiveMaximum", "below"),
        ("maximum", "at most"),
    )
    said = [f"{how} {field[bound]:,.10g}" for bound, how in bounds if bound in field and field[bound] != INT32]
    return f"{words}, {' and '.join(said)}" if said else words


def commands_page() -> str:
    by_panel: dict[str, list[str]] = {}
    for name, command in _every_command().commands.items():
        by_panel.setdefault(command.rich_help_panel, []).extend(_command(f"monitor {name}", command))
    lines = [COMMANDS]
    for panel, described in by_panel.items():
        lines += [f"## {panel}", *described, ""]
    return "\n".join(lines).rstrip() + "\n"


@cache
def _every_command() -> Any:
    return imported(command_line)


def _command(name: str, command: Any) -> Iterator[str]:
    """A command, or a group with the commands in it."""
    inner = getattr(command, "commands", None)
    if inner is None or command.invoke_without_command:
        words = [word for parameter in command.params if (word := _usage(parameter))]
        yield from ("", f"### {name}", "", _prose(command.help), "", "```text", " ".join([name, *words]), "```")
        rows = [(_option(each), _accepts(each), _prose(getattr(each, "help", None))) for each in command.params]
        if rows:
            yield from ("", *_table(("option", "value", "what it does"), rows))
    for word, each in (inner or {}).items():
        yield from _command(f"{name} {word}", each)


def _usage(parameter: Any) -> str:
    """A parameter as the line of usage has it: an argument, or an option that must be given; nothing for the others."""
    if parameter.param_type_name == "argument":
        word = (parameter.metavar or parameter.name.upper()) + ("…" if parameter.nargs == -1 else "")
        return word if parameter.required else f"[{word}]"
    return f"{parameter.opts[0]} {_kind(parameter)}" if parameter.required else ""


def _option(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _accepts(parameter: Any) -> str:
    if _is_flag(parameter):
        return ""
    words = _kind(parameter)
    if parameter.required:
        words += ", required"
    if parameter.multiple or parameter.nargs == -1:
        words += ", several"
    default = parameter.default
    return words if default is None or callable(default) or default in ((), [], "") else f"{words}; `{default}`"


def _is_flag(parameter: Any) -> bool:
    return bool(getattr(parameter, "is_flag", False))


def _kind(parameter: Any) -> str:
    """The metavar that was given, else the type or the choices in words."""
    if parameter.metavar:
        return str(parameter.metavar)
    name = parameter.display_type(typer.Context(_every_command())).strip("<>")
    name = name.removeprefix("list[").removesuffix("]")
    if name.endswith(" range"):
        bounds = (
            f"from {parameter.min}" if parameter.min is not None else "",
            f"to {parameter.max}" if parameter.max else "",
        )
        return f"whole number {' '.join(filter(None, bounds))}"
    return {"str": "text", "Path": "path", "int": "whole number", "float": "number"}.get(name, name.replace("|", ", "))


def api_page() -> str:
    web = DashboardApp(title="monitor", version="1")
    web.include_router(api_router)
    by_tag: dict[str, list[Operation]] = {}
    for operation in operations(web.openapi()):
        by_tag.setdefault(operation.tag, []).append(operation)
    lines = [API]
    for tag, its in by_tag.items():
        lines += [f"## {tag}", *(line for operation in its for line in _operation(operation)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _operation(operation: Operation) -> Iterator[str]:
    yield from ("", f"### {operation.summary}", "", f"`{operation.method} {operation.path}`")
    if operation.description:
        yield from ("", _prose(operation.description))
    rows = [_parameter(each) for each in (*operation.parameters, *operation.fields)]
    if rows:
        yield from ("", *_table(("name", "where", "value", "what it does"), rows))


def _parameter(parameter: Parameter) -> Sequence[str]:
    accepts = f"{parameter.accepts}, required" if parameter.required else parameter.accepts
    return f"`{parameter.name}`", parameter.place, accepts, _prose(parameter.description)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |"


def _resolved(field: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a field's `$ref` leads to, or the field itself."""
    found: Mapping[str, Any] = schema["$defs"][field["$ref"].rpartition("/")[2]] if "$ref" in field else field
    return found


def _prose(text: str | None) -> str:
    """A help text as one paragraph a paragraph, with nothing in it that Markdown would read."""
    parts = re.split(r"\n\s*\n", (text or "").strip())
    return "\n\n".join(re.sub(r"(?<![`\w])([<*])", r"\\\1", " ".join(part.split())) for part in parts)


def _sentence(text: str) -> str:
    return _prose(re.sub(r"; docs/\S+\.md", "", text))


def _title(page: str) -> str:
    first = (FOLDER / page).read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("# ").partition(":")[0]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
