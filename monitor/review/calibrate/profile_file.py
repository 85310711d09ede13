"""Writes a profile as a TOML file that people can read and edit."""

from __future__ import annotations

import json
from collections.abc import Mapping

from monitor.assess.classify.profile import Profile


def profile_toml(profile: Profile) -> str:
    """The text of the file; `load_profile` reads the same profile from it."""
    content = profile.model_dump(mode="json", exclude_none=True)
    tables = {key: content.pop(key) for key in ("metrics", "groundedness", "calibration") if key in content}
    lines = [f"# Made by `monitor calibrate`; its hash is {profile.hash}.", *_values(content)]
    for name, table in tables.items():
        inner = {key: value for key, value in table.items() if isinstance(value, dict)}
        lines += ["", f"[{name}]", *_values({key: value for key, value in table.items() if key not in inner})]
        if name == "metrics":
            lines += [f"{key} = {_inline(value)}" for key, value in inner.items()]
            continue
        for key, value in inner.items():
            lines += ["", f"[{name}.{key}]", *_values(value)]
    return "\n".join(lines) + "\n"


def _values(table: Mapping[str, object]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value: object) -> str:
    """TOML writes numbers, booleans, strings and lists as JSON does."""
    return (
        _inline(value) if isinstance(value, dict) else json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    )


def _inline(table: Mapping[str, object]) -> str:
    return f"{{ {', '.join(_values(table))} }}"
