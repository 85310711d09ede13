"""Signed notes (C2SP): checkpoints, the key that signed them, and those that a witness kept."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from contextlib import suppress
from datetime import datetime
from itertools import dropwhile
from pathlib import Path

from monitor.audit.verifier.ed25519 import KEY_BYTES, ed25519_verify
from monitor.audit.verifier.terms import MALFORMED, UTC, Fault, WrongKey


class Key:
    """A verifier key: `name+hash+base64`. Raises ValueError for any other text."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.name, id_, encoded = self.text.split("+", 2)
        content = b64decode(encoded, validate=True)
        self.id, self.public = bytes.fromhex(id_), content[1:]
        expected = hashlib.sha256(self.name.encode() + b"\n" + content).digest()[:4]
        if not self.name or content[:1] != b"\x01" or len(self.public) != KEY_BYTES or self.id != expected:
            raise ValueError("it is not an Ed25519 key, or its hash does not fit")


def opened(text: str, lines: str, key: Key) -> tuple[int, bytes]:
    """The size and root of a checkpoint whose text the key signed in one of `lines`."""
    signers = []
    for line in lines.split("\n"):
        dash, name, encoded = line.split(" ")
        signature = b64decode(encoded, validate=True)
        if dash != "\u2014" or b64encode(signature).decode() != encoded:
            raise Fault("has a malformed signature line")
        signers.append(f"{name}+{signature[:4].hex()}")
        if (name, signature[:4]) == (key.name, key.id):
            if not ed25519_verify(key.public, text.encode(), signature[4:]):
                raise Fault("has a wrong signature")
            origin, size, root, *_ = text.split("\n")
            if (
                not origin
                or str(int(size)) != size
                or int(size) < 0
                or len(b64decode(root, validate=True)) != KEY_BYTES
            ):
                raise Fault("is signed, but is not a checkpoint")
            return int(size), b64decode(root)
    by = f"is signed by {', '.join(signers)}, not by the given key {key.name}+{key.id.hex()}"
    raise WrongKey(f"{by}: the key is wrong, or the export is from another log")


def time_of(text: str, lines: str, key: Key) -> datetime | None:
    """When the key says in one of `lines` that it signed `text` (tlog-cosignature); None where it does not say."""
    id_ = hashlib.sha256(key.name.encode() + b"\n\x04" + key.public).digest()[:4]
    for line in lines.split("\n"):
        _, name, encoded = line.split(" ")
        content = b64decode(encoded, validate=True)
        if (name, content[:4]) == (key.name, id_):
            seconds = int.from_bytes(content[4:12], "big")
            message = f"cosignature/v1\ntime {seconds}\n{text}".encode()
            if not ed25519_verify(key.public, message, content[12:]):
                raise Fault("has a wrong signature under its time")
            return datetime.fromtimestamp(seconds, UTC)
    return None


def noted(text: str) -> list[tuple[str, str]]:
    """The text and the signature lines of each note in a file of notes, with an empty line after each."""
    parts = text.removesuffix("\n").split("\n\n")
    return [(parts[at] + "\n", "".join(parts[at + 1 : at + 2]).strip("\n")) for at in range(0, len(parts), 2)]


def witnessed(witness: str, key: Key) -> dict[int, set[bytes]]:
    """The roots that a witness knows, by size; notes of other keys, and cut ones, prove nothing and are left out."""
    size, colon, root = witness.partition(":")
    if colon and size.isdecimal() and not Path(witness).exists():
        return {int(size): {bytes.fromhex(root) if len(root) == 2 * KEY_BYTES else b64decode(root, validate=True)}}
    known: dict[int, set[bytes]] = {}
    text = ""
    for part in re.split(r"\n\s*\n", Path(witness).read_text(encoding="utf-8")):
        lines = part.strip("\n").split("\n")
        count = len(lines) - len(list(dropwhile(lambda line: line.startswith("\u2014 "), lines)))
        with suppress(Fault, *MALFORMED):
            found, head = opened(text, "\n".join(lines[:count]), key)
            known.setdefault(found, set()).add(head)
        text = "".join(f"{line}\n" for line in lines[count:])  # of the next note, which may follow at once
    return known
