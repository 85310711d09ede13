"""The audit key of the tests, and the key of the queue that belongs to it."""

from __future__ import annotations

from pathlib import Path

from monitor.audit.key import Signer

SIGNER = Signer("monitor", bytes(range(32)))
KEY = SIGNER.verifier_key
QUEUE_KEY = SIGNER.queue_key


def give_key(state_dir: Path) -> None:
    """Puts the key where an installation looks for it that is to seal what tests have stored."""
    key = state_dir / "audit" / "key"
    key.parent.mkdir(parents=True, exist_ok=True)
    key.touch(mode=0o600)
    key.write_text(SIGNER.private_key)
