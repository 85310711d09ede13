"""Reads a YAML file into a form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from monitor.core.errors import WrongSettings
from monitor.core.yaml.marked import InvalidYaml, MarkedYaml, parse_yaml
from monitor.core.yaml.problems import UNKNOWN_KEY, problems_of, written

Form = TypeVar("Form", bound=BaseModel)


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
        problems = problems_of(error, form)
    lines = (
        f"{located(name, document, path, of_key=problem.startswith(UNKNOWN_KEY))}: {problem}"
        for path, problem in problems
    )
    raise WrongSettings("\n".join(lines))


def located(name: str, document: MarkedYaml, path: Sequence[int | str], *, of_key: bool = False) -> str:
    """Where the value at `path`, or its key, stands: file, line, column and path."""
    mark = document.mark(path, of_key=of_key)
    return f"{name}:{mark.line}:{mark.column}: {written(path, document.value)}"
