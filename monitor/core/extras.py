"""Packages that only some installations need: each comes with an extra of `rag-monitor`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Literal, TypeAlias

from monitor.core.errors import WrongSettings

Extra: TypeAlias = Literal["grpc", "openai", "otel", "timestamps"]
_MODULES: Mapping[Extra, tuple[str, str]] = {  # what is imported, and what it is called in a package registry
    "grpc": ("grpc", "grpcio"),
    "openai": ("openai", "openai"),
    "otel": ("opentelemetry.exporter.otlp.proto.http", "opentelemetry-exporter-otlp-proto-http"),
    "timestamps": ("rfc3161_client", "rfc3161-client"),
}


def require(extra: Extra, what: str, *, otherwise: str = "") -> None:
    """Returns if the package of `extra`, which `what` needs, is installed; it is not imported.

    `otherwise` is how to do without it.

    Raises:
        WrongSettings: it is not.
    """
    module, package = _MODULES[extra]
    try:
        found = find_spec(module)
    except ModuleNotFoundError:  # a package that it lies in is missing too
        found = None
    if found is None:
        instead = f", or {otherwise}" if otherwise else ""
        raise WrongSettings(f"{what} needs the package {package}: pip install 'rag-monitor[{extra}]'{instead}")
