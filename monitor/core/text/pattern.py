"""Compiles regular expressions from settings for pydantic's engine, which never backtracks."""

from __future__ import annotations

from pydantic_core import SchemaError, SchemaValidator, core_schema

LONGEST_PATTERN = 500


def compile_pattern(expression: str) -> tuple[SchemaValidator, SchemaValidator]:
    """Two validators: the first accepts a text with a match anywhere, the second a text that matches as a whole.

    The syntax is RE2's, without look-around and back references.

    Raises:
        ValueError: the expression is invalid, too long or anchored, or matches an empty text.
    """
    if len(expression) > LONGEST_PATTERN:
        raise ValueError(f"has more than {LONGEST_PATTERN} characters")
    if expression.startswith("^") or (expression.endswith("$") and not expression.endswith("\\$")):
        raise ValueError("has ^ or $: a pattern matches whole words anyway")
    try:  # without anchors first: `a)|(b` would escape from the group
        anywhere, whole = _validator(expression), _validator(f"^(?s:{expression})$")
    except SchemaError as error:
        raise ValueError(f"is no regular expression: {str(error).rpartition('rror: ')[2]}") from None
    if whole.isinstance_python(""):
        raise ValueError("matches an empty text")
    return anywhere, whole


def _validator(expression: str) -> SchemaValidator:
    return SchemaValidator(core_schema.str_schema(pattern=expression, regex_engine="rust-regex"))
