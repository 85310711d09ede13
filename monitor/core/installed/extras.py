"""Packages that only some installations need: each comes with an extra of `rag-monitor`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Literal, TypeAlias

from monitor.core.errors import WrongSettings

Extra: TypeAlias = Literal["grpc", "oidc", "otel", "timestamps", "tokenizers"]
_MODULES: Mapping[Extra, tuple[str, str]] = {  # what is imported, and what it is called in a package registry
    "grpc": ("grpc", "grpcio"),
    "oidc": ("joserfc", "joserfc"),
    "otel": ("opentelemetry.exporter.otlp.proto.http", "opentelemetry-exporter-otlp-proto-http"),
    "timestamps": ("rfc3161_client", "rfc3161-client"),
    "tokenizers": ("tokenizers", "tokenizers"),
}


def installed(extra: Extra) -> bool:
    """Whether the package of `extra` is installed; it is not imported."""
    module, _ = _MODULES[extra]
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package that it lies in is missing too
        return False


def require(extra: Extra, what: str, *, otherwise: str = "") -> None:
    """Returns if the package of `extra`, which `what` needs, is installed.

    `otherwise` is how to do without it.

    Raises:
        WrongSettings: it is not.
    """
    if not installed(extra):
        _, package = _MODULES[extra]
        instead = f", or {otherwise}" if otherwise else ""
        raise WrongSettings(f"{what} needs the package {package}: pip install 'rag-monitor[{extra}]'{instead}")
