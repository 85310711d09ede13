"""Reads a YAML file into a form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from monitor.core.errors import WrongSettings
from monitor.core.yaml.marked import InvalidYaml, MarkedYaml, parse_yaml, written

Form = TypeVar("Form", bound=BaseModel)
_UNKNOWN_KEY: Final = "extra_forbidden"
# Filled with what pydantic tells of the limit.
_WORDS: Final[Mapping[str, str]] = {
    _UNKNOWN_KEY: "unknown key",
    "missing": "is missing",
    "model_type": "must be a mapping of keys to values",
    "greater_than_equal": "must be {ge:g} or more",
    "float_type": "must be a number",
    "date_type": "must be a day such as 2026-11-01",
    "string_type": "must be a text",
    "list_type": "must be a list",
}


def read_text(path: Path, *, of: str) -> str:
    """The text of a file in UTF-8; messages say that it holds `of`.

    Raises:
        WrongSettings: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise WrongSettings(f"{path}: cannot read {of}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise WrongSettings(f"{path}: cannot read {of}: {error}") from None


def parse_form(text: str, form: type[Form], *, name: str) -> tuple[Form, MarkedYaml]:
    """The form, and the document that it was read from; messages call the file `name`.

    Raises:
        WrongSettings: the text is wrong; the message has one line for each error.
    """
    try:
        document = parse_yaml(text)
    except InvalidYaml as error:
        raise WrongSettings(f"{name}:{error.mark.line}:{error.mark.column}: {error.problem}") from None
    try:
        return form.model_validate(document.value), document
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        raise WrongSettings("\n".join(_problem(name, document, one) for one in problems)) from None


def _problem(name: str, document: MarkedYaml, error: Any) -> str:
    path = tuple(part for part in error["loc"] if not str(part).startswith("function-"))
    mark = document.mark(path, of_key=error["type"] == _UNKNOWN_KEY)
    words = _WORDS.get(error["type"])
    said = error["msg"].removeprefix("Value error, ") if words is None else words.format(**error.get("ctx", {}))
    return f"{name}:{mark.line}:{mark.column}: {written(path)}: {said}"
