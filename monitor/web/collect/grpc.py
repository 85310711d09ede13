"""OTLP over gRPC: the services of traces and logs.

Source of the codes: the specification of OTLP in opentelemetry-proto, "OTLP/gRPC Response". A refusal that may be tried
again carries a RetryInfo, without which exporters drop what they sent.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import NoReturn

import grpc
from typing_extensions import override

from monitor.core.errors import WrongSettings
from monitor.core.settings.collect import CollectSettings
from monitor.web.base.guard import LOOPBACK, secret_of
from monitor.web.collect.door import Door
from monitor.web.collect.otlp import NO_METRICS, Signal, code, reply, status
from monitor.web.collect.refusal import Refused
from monitor.web.connections import authority

_SERVICE = "/opentelemetry.proto.collector.{0}.v1.{1}Service/Export"
_METHODS = {
    _SERVICE.format("trace", "Trace"): Signal.TRACES,
    _SERVICE.format("logs", "Logs"): Signal.LOGS,
}
_METRICS = _SERVICE.format("metrics", "Metrics")
_STREAMS = 100  # requests of one connection at a time; its further ones wait at the sender
_CODES = {code.value[0]: code for code in grpc.StatusCode}
log = logging.getLogger(__name__)


class OtlpServices(grpc.GenericRpcHandler):
    """Hands requests to the door as bytes; the door reads them, as it does those of HTTP."""

    def __init__(self, door: Door, *, from_here: bool) -> None:
        self._door = door
        self._from_here = from_here  # whether only this machine reaches the server

    @override
    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        method = handler_call_details.method
        if method == _METRICS:
            return grpc.unary_unary_rpc_method_handler(_no_metrics)
        signal = _METHODS.get(method)
        if signal is None:
            return None
        return grpc.unary_unary_rpc_method_handler(self._export(signal))

    def _export(self, signal: Signal) -> Callable[[bytes, grpc.ServicerContext], bytes]:
        def export(body: bytes, context: grpc.ServicerContext) -> bytes:
            if not context.is_active():  # the sender has given up, and will send it again
                context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "the deadline has passed")
            try:
                with self._door.admission.place() as place:
                    sender = self._door.sender(_bearer(context), from_here=self._from_here)
                    place.grow(len(body))
                    receipt = self._door.telemetry(signal, body, "identity", sender, as_json=False)
            except Refused as refused:
                _abort(context, refused)
            except Exception:
                log.exception("OTLP/gRPC: this is a defect")
                _abort(context, Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "this is a defect; the log has the details"))
            return reply(signal, receipt, as_json=False)

        return export


def grpc_server(door: Door, settings: CollectSettings, executor: ThreadPoolExecutor) -> tuple[grpc.Server, int]:
    """A server that listens, not yet started, and its port.

    Raises:
        WrongSettings: the address or the certificate cannot be used.
    """
    server = grpc.server(
        executor,
        handlers=[OtlpServices(door, from_here=settings.host in LOOPBACK)],
        options=[
            ("grpc.max_receive_message_length", settings.max_body_bytes),  # also of what is decompressed
            ("grpc.max_concurrent_streams", _STREAMS),
            ("grpc.so_reuseport", 0),  # otherwise a second server takes half of the requests in silence
        ],
    )
    address = authority(settings.host, settings.grpc_port or 0)
    try:
        if settings.tls_certificate is None or settings.tls_key is None:
            return server, server.add_insecure_port(address)
        pair = (_read(settings.tls_key), _read(settings.tls_certificate))
        return server, server.add_secure_port(address, grpc.ssl_server_credentials([pair]))
    except RuntimeError:
        raise WrongSettings(f"MONITOR_COLLECT__HOST, …__GRPC_PORT: cannot listen at {address}") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WrongSettings(f"MONITOR_COLLECT__TLS_…: cannot read {path}: {error.strerror}") from None


def _bearer(context: grpc.ServicerContext) -> str | None:
    for name, value in context.invocation_metadata() or ():
        if name == "authorization" and isinstance(value, str):
            return secret_of(value)
    return None


def _no_metrics(_body: bytes, context: grpc.ServicerContext) -> NoReturn:
    context.abort(grpc.StatusCode.UNIMPLEMENTED, NO_METRICS)


def _abort(context: grpc.ServicerContext, refused: Refused) -> NoReturn:
    context.set_trailing_metadata((("grpc-status-details-bin", status(refused, as_json=False)),))
    context.abort(_CODES[code(refused)], refused.problem)
