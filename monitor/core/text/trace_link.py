"""The address of a trace in the team's own tool, from a template of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

EVERY_APP = "*"
_UP = {".", ".."}  # a browser takes these, encoded or not, as steps to another page


def trace_link(
    templates: Mapping[str, str], *, app: str, id_: str, trace_id: str | None, span_id: str | None = None
) -> str | None:
    """The address, with every value escaped; None without a template, a trace, or a value that the template needs."""
    template = templates.get(app, templates.get(EVERY_APP))
    if template is None or not trace_id:
        return None
    for name, value in {"trace_id": trace_id, "span_id": span_id, "app": app, "id": id_}.items():
        if f"{{{name}}}" not in template:
            continue
        if not value or value in _UP:
            return None
        template = template.replace(f"{{{name}}}", quote(value.encode(errors="replace"), safe=""))
    return template
