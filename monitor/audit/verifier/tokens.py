"""Time stamps (RFC 3161) and receipts (OpenTimestamps), as far as Python alone can read them."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from monitor.audit.verifier.terms import UTC, Fault

HASHES = {  # by the object identifier, in DER
    bytes.fromhex("608648016503040201"): "sha256",
    bytes.fromhex("608648016503040202"): "sha384",
    bytes.fromhex("608648016503040203"): "sha512",
}
SEQUENCE, INTEGER, OCTETS, OBJECT, TIME, EXPLICIT = 0x30, 0x02, 0x04, 0x06, 0x18, 0xA0
LONG_FORM = 0x80  # of a length in DER


def der(content: bytes) -> list[tuple[int, bytes]]:
    """The values that follow one another in DER, each with its tag."""
    found, at = [], 0
    while at < len(content):
        tag, length, at = content[at], content[at + 1], at + 2
        if length >= LONG_FORM:
            count = length - LONG_FORM
            length, at = int.from_bytes(content[at : at + count], "big"), at + count
        if at + length > len(content):
            raise ValueError("a value of the time stamp was cut off")
        found.append((tag, content[at : at + length]))
        at += length
    return found


def within(content: bytes, *path: tuple[int, int]) -> bytes:
    """The value that a path leads to: at each step the place, from 0 on, and the tag that has to be there."""
    for place, tag in path:
        found, content = der(content)[place]
        if found != tag:
            raise ValueError("the time stamp does not have the form of RFC 3161")
    return content


def stamped(response: bytes) -> tuple[str, bytes, datetime]:
    """What a time stamp says: the hash function, the hash, and the time. Its signature is not checked."""
    status = within(response, (0, SEQUENCE), (0, SEQUENCE), (0, INTEGER))
    if int.from_bytes(status, "big") > 1:
        raise Fault("is a refusal of the authority")
    signed = ((0, SEQUENCE), (1, SEQUENCE), (1, EXPLICIT), (0, SEQUENCE))
    info = within(response, *signed, (2, SEQUENCE), (1, EXPLICIT), (0, OCTETS), (0, SEQUENCE))
    function = HASHES[within(info, (2, SEQUENCE), (0, SEQUENCE), (0, OBJECT))]
    text = within(info, (4, TIME)).decode()
    whole, _, fraction = text.removesuffix("Z").partition(".")
    at = datetime.strptime(whole, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return function, within(info, (2, SEQUENCE), (1, OCTETS)), at + timedelta(seconds=float(f"0.{fraction or 0}"))


def signed_by_authority(statement: bytes, response: bytes, at: datetime, authority: Path) -> str | None:
    """What `openssl` says against the signature of a time stamp; None where it is good.

    Certificates count as they were at the time of the stamp: most of them have expired a few years later.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, token = Path(folder, "data"), Path(folder, "token")
        data.write_bytes(statement)
        token.write_bytes(response)
        command = [*openssl(data, token, authority), "-attime", str(int(at.timestamp()))]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    good = ended.returncode == 0 and "Verification: OK" in ended.stdout
    return None if good else " ".join((ended.stderr or ended.stdout).split())[-300:]


def openssl(data: object, token: object, authority: object) -> list[str]:
    """The command that checks a time stamp."""
    return ["openssl", "ts", "-verify", "-data", str(data), "-in", str(token), "-CAfile", str(authority)]


MAGIC = b"\x00OpenTimestamps\x00\x00Proof\x00\xbf\x89\xe2\xe8\x84\xe8\x92\x94\x01\x08"  # version 1, of a SHA-256
PENDING, BITCOIN = bytes.fromhex("83dfe30d2ef90c8e"), bytes.fromhex("0588960d73d71901")
APPEND, PREPEND, ATTESTED, FORK = 0xF0, 0xF1, 0x00, 0xFF
UNARY = {0x02: "sha1", 0x03: "ripemd160", 0x08: "sha256"}
CONTINUED = 0x80  # in each byte of a number but the last
HASH_BYTES, LONGEST_STEP, MOST_STEPS = 32, 4_096, 10_000
LONGEST_NUMBER = 63  # bits


class Receipt:
    """The attestations that a receipt leads to from the SHA-256 of what was stamped.

    `bitcoin` holds the height of each block with the Merkle root that it must have, as explorers show it; `pending`
    holds what a calendar has yet to carry into a block.
    """

    def __init__(self, content: bytes) -> None:
        self._content, self._at, self._left = content, len(MAGIC), MOST_STEPS
        if content[: self._at] != MAGIC:
            raise ValueError("it is no receipt of OpenTimestamps of version 1")
        self.digest = self._take(HASH_BYTES)
        self.bitcoin: list[tuple[int, str]] = []
        self.pending: list[bytes] = []
        self._follow(self.digest)
        if self._at != len(content):
            raise ValueError("the receipt does not end where it should")

    def _follow(self, message: bytes) -> None:
        """Takes the steps from `message` on, and those of every branch."""
        branches = [message]
        while branches:
            message, tag = branches.pop(), self._take(1)[0]
            while tag != ATTESTED:
                self._left -= 1
                if self._left < 0:
                    raise ValueError("the receipt has too many steps")
                if tag == FORK:
                    branches.append(message)
                else:
                    message = self._step(tag, message)
                tag = self._take(1)[0]
            self._attest(self._take(len(BITCOIN)), self._take(self._number()), message)

    def _step(self, tag: int, message: bytes) -> bytes:
        if tag in UNARY:
            return hashlib.new(UNARY[tag], message).digest()
        if tag not in (APPEND, PREPEND):
            raise ValueError(f"the receipt has a step of an unknown kind, {tag:#x}")
        other = self._take(self._number())
        message = message + other if tag == APPEND else other + message
        if len(message) > LONGEST_STEP:
            raise ValueError("a step of the receipt is too long")
        return message

    def _attest(self, kind: bytes, payload: bytes, message: bytes) -> None:
        if kind == PENDING:
            self.pending.append(message)
        elif kind == BITCOIN and len(message) == HASH_BYTES and 7 * len(payload) <= LONGEST_NUMBER:
            height = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(payload))
            self.bitcoin.append((height, message[::-1].hex()))

    def _number(self) -> int:
        value = shift = 0
        while shift < LONGEST_NUMBER:
            byte = self._take(1)[0]
            value, shift = value | (byte & 0x7F) << shift, shift + 7
            if byte < CONTINUED:
                return value
        raise ValueError("a number of the receipt is too long")

    def _take(self, count: int) -> bytes:
        taken = self._content[self._at : self._at + count]
        if len(taken) != count:
            raise ValueError("the receipt was cut off")
        self._at += count
        return taken
