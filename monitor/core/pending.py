"""What is still to be done for stored interactions."""

from __future__ import annotations

from enum import StrEnum


class Work(StrEnum):
    """Work that is pending for a stored interaction."""

    ASSESS = "assess"  # it has no assessment: a service was out of reach
    SIDECAR = "sidecar"  # extractive support stands in for the sidecar's
    JUDGE = "judge"  # it is in the sample for the judge
    SEND_OTLP = "send_otlp"  # these four: its verdict is to be sent out, for the first time or again
    SEND_PHOENIX = "send_phoenix"
    SEND_LANGFUSE = "send_langfuse"
    SEND_KAFKA = "send_kafka"


SENDING = (Work.SEND_OTLP, Work.SEND_PHOENIX, Work.SEND_LANGFUSE, Work.SEND_KAFKA)
