"""Builds the descriptors of OTLP that `monitor/ingest/traces/otlp_messages.py` reads, from the published packages.

    python -m tools.build_otlp [--write]

They are those of `opentelemetry-proto` and `googleapis-common-protos` in requirements-dev.lock, without the signals
that are not read, and without what protobuf brings itself. Without --write the file that ships is compared with a
newly built one.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from base64 import b64encode
from pathlib import Path

from google.protobuf.descriptor import FileDescriptor
from google.rpc import code_pb2, error_details_pb2, status_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

SHIPPED = Path(__file__).parents[1] / "monitor" / "ingest" / "traces" / "otlp.descriptors"
BUILT_IN = "google/protobuf/"
WANTED = (logs_service_pb2, trace_service_pb2, code_pb2, error_details_pb2, status_pb2)


def descriptors() -> bytes:
    """A line for each file, after those that it imports: its `google.protobuf.FileDescriptorProto` in base64."""
    found: dict[str, FileDescriptor] = {}

    def add(file: FileDescriptor) -> None:
        for imported in file.dependencies:
            add(imported)
        found.setdefault(file.name, file)

    for module in WANTED:
        add(module.DESCRIPTOR)
    return b"".join(
        b64encode(file.serialized_pb) + b"\n" for file in found.values() if not file.name.startswith(BUILT_IN)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the file that ships")
    built = descriptors()
    if parser.parse_args().write:
        SHIPPED.write_bytes(built)
    same = SHIPPED.read_bytes() == built
    print(f"{SHIPPED.name}: {'as it ships' if same else 'DIFFERS'}, {len(built):,} bytes")
    print(f"  sha256 {hashlib.sha256(built).hexdigest()}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
