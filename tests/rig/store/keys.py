"""The audit key of the tests, and the key of the queue that belongs to it."""

from __future__ import annotations

from monitor.audit.note import Signer

SIGNER = Signer("monitor", bytes(range(32)))
KEY = SIGNER.verifier_key
QUEUE_KEY = SIGNER.queue_key
