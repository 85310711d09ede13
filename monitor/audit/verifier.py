"""Checks an audit export or a proof of `monitor` with nothing but Python (3.9 or later) and the public key of the log.

    python verify.py EXPORT.zip --key 'name+hash+base64' [--witness FILE] [--tsa CA.pem]

EXPORT is the ZIP, the folder to which it was unpacked, or a proof: the file that `monitor audit prove` writes. Do not
take the key from there, nor, where it matters, this program: whoever forges an export can put any key into it. The
witnesses of the log have the key as well.

The program checks that the key signed every checkpoint; that each checkpoint's tree grew out of the one before; that
every record is an unchanged leaf of the last tree; that every disclosed field is what its record committed to; that
profiles and rules are those of the log; that the files are those of the manifest; and that the page for people shows
the proved records and nothing else, by making it anew. Where the export holds statements of completeness, it checks
that those of a partition are consecutive, and that every offset at which an answer of the span was stored has its
record. It cannot show that what never reached the topic was recorded, or what happened in partitions without a
statement.

With --witness it compares the checkpoints with those that a witness kept. It reads time stamps (RFC 3161), and finds
whether they are of these checkpoints. The signature of the authority needs `openssl`, which --tsa runs with the
authority's certificate; without it no time stamp is called good. --stamps writes them to a folder, with what was
stamped, for other tools. A receipt of OpenTimestamps is followed to its Bitcoin block; the block is for you to look up.

It names every fault. Exit code: 0 everything is proved, 1 something is not, 2 wrong use.

Sources: RFC 8032 (Ed25519), RFC 8785 (canonical JSON), RFC 9162 (Merkle tree), RFC 3161 (time stamps), C2SP
signed-note, tlog-checkpoint and tlog-cosignature, python-opentimestamps (the form of a receipt).
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from html import escape
from io import BytesIO
from itertools import dropwhile
from pathlib import Path
from typing import IO, Any

FORMAT, FIRST_FORMAT = "monitor-audit-export/2", "monitor-audit-export/1"
PROOF_FORMAT = "monitor-audit-proof/1"
MANIFEST, RECORDS, CHECKPOINTS = "manifest.json", "records.jsonl", "checkpoints.txt"
CONSISTENCY, PROFILES, RULES = "consistency.json", "profiles.json", "rules.jsonl"
PAGE, KEY, STAMPS = "index.html", "key.txt", "stamps.jsonl"
TIMESTAMP, RECEIPT = "rfc3161", "opentimestamps"  # the kinds of time stamps
POSITIONS = "positions"  # the kind of a statement of completeness
LARGEST_INTEGER = 2**53
DIGITS_BEFORE, ZEROS_BEHIND = 21, 6  # around the point, up to which ECMAScript writes no exponent
BLOCK = 1 << 20  # bytes
LARGEST_ROOT = b"\xff" * 33
UTC = timezone(timedelta(0))
LAST = datetime.max.replace(tzinfo=UTC)
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
UNREADABLE = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)  # RuntimeError: encrypted

Point = tuple[int, int, int, int]
Shown = tuple[int, Any, Any]  # the index of a record, its leaf, and its disclosed values by field


class Fault(Exception):
    """Something does not prove what it should."""


class WrongKey(Fault):
    """Another key signed the checkpoint."""


# --- Ed25519 (RFC 8032, section 5.1). Only verification: nothing is secret, so nothing needs constant time.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
NEUTRAL: Point = (0, 1, 1, 0)  # X, Y, Z, T of a point: x = X / Z, y = Y / Z, x * y = T / Z
SCALAR_BITS, KEY_BYTES, SIGNATURE_BYTES = 253, 32, 64


def add(p: Point, q: Point) -> Point:
    """The sum of two points of the curve."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def point(encoded: bytes) -> Point | None:
    """The point that 32 bytes encode; None where they encode none."""
    content = int.from_bytes(encoded, "little")
    y, odd = content & ((1 << 255) - 1), content >> 255
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    # a square root of u / v or of -u / v, if there is one
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x + u) % P == 0:
        x = x * ROOT_OF_MINUS_ONE % P
    if (v * x * x - u) % P or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = P - x
    return x, y, 1, x * y % P


BASE = point((4 * pow(5, P - 2, P) % P).to_bytes(KEY_BYTES, "little"))


def ed25519_verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` is the signature of `message` by the key `public`."""
    if len(public) != KEY_BYTES or len(signature) != SIGNATURE_BYTES or BASE is None:
        return False
    key, r = point(public), point(signature[:KEY_BYTES])
    s = int.from_bytes(signature[KEY_BYTES:], "little")
    if key is None or r is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:KEY_BYTES] + public + message).digest(), "little") % ORDER
    minus = (P - key[0], key[1], key[2], P - key[3])
    table = (NEUTRAL, BASE, minus, add(BASE, minus))
    found = NEUTRAL  # becomes s * BASE - k * key; one pass computes both products
    for bit in reversed(range(SCALAR_BITS)):
        found = add(add(found, found), table[(s >> bit & 1) | (k >> bit & 1) << 1])
    return (found[0] * r[2] - r[0] * found[2]) % P == 0 and (found[1] * r[2] - r[1] * found[2]) % P == 0


# --- JSON, and its canonical form (RFC 8785)


def read_json(text: str) -> Any:
    """The value of a JSON text, with numbers as doubles; refuses repeated keys and anything that is not JSON."""

    def integer(digits: str) -> float:
        return float(digits) if abs(float(digits)) > LARGEST_INTEGER else int(digits)

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            raise ValueError("a key is repeated")
        return made

    def refused(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_int=integer, parse_constant=refused, object_pairs_hook=unique)


def canonical(value: Any) -> str:
    """`value` in the form of RFC 8785."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(float(value))
    return json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """A double as ECMAScript writes it: its shortest digits, with an exponent from 1e21 on and below 1e-6."""
    if value - value != 0:
        raise ValueError("a number is too large for a double")
    if value <= 0:
        return f"-{number(-value)}" if value else "0"
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    padded = (whole + fraction).lstrip("0")
    digits = padded.rstrip("0")
    before = len(padded) - len(fraction) + int(exponent or 0)  # the number of digits before the point
    if len(digits) <= before <= DIGITS_BEFORE:
        return digits + "0" * (before - len(digits))
    if 0 < before <= DIGITS_BEFORE:
        return f"{digits[:before]}.{digits[before:]}"
    if -ZEROS_BEHIND < before <= 0:
        return f"0.{'0' * -before}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{before - 1:+d}"


# --- the Merkle tree (RFC 9162, sections 2.1.3.2 and 2.1.4.2)


def node(left: bytes, right: bytes) -> bytes:
    """The hash of two child nodes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def included(index: int, size: int, leaf: bytes, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` leads from the leaf at `index` to the root of `size` leaves."""
    if not 0 <= index < size:
        return False
    at, last, found = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node(sibling, found)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            found = node(found, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and found == root


def grew(old: int, new: int, roots: tuple[bytes, bytes], proof: Sequence[bytes]) -> bool:
    """Whether `proof` shows that a tree of `old` leaves with the first root grew into `new` leaves with the second."""
    if old == 0:
        return not proof and roots[0] == hashlib.sha256(b"").digest()
    path = [roots[0], *proof] if old & (old - 1) == 0 else list(proof)
    if not 0 < old < new or not path:
        return False
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            before, after = node(sibling, before), node(sibling, after)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            after = node(after, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and (before, after) == roots


# --- signed notes (C2SP)


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


# --- time stamps (RFC 3161), as far as Python alone can read them

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


# --- receipts of OpenTimestamps

MAGIC = b"\x00OpenTimestamps\x00\x00Proof\x00\xbf\x89\xe2\xe8\x84\xe8\x92\x94\x01\x08"  # version 1, of a SHA-256
PENDING, BITCOIN = bytes.fromhex("83dfe30d2ef90c8e"), bytes.fromhex("0588960d73d71901")
APPEND, PREPEND, ATTESTED, FORK = 0xF0, 0xF1, 0x00, 0xFF
UNARY = {0x02: "sha1", 0x03: "ripemd160", 0x08: "sha256"}
HASH_BYTES, LONGEST_STEP, MOST_STEPS = 32, 4_096, 10_000


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
        elif kind == BITCOIN and len(message) == HASH_BYTES:
            height = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(payload))
            self.bitcoin.append((height, message[::-1].hex()))

    def _number(self) -> int:
        value = shift = 0
        while True:
            byte = self._take(1)[0]
            value, shift = value | (byte & 0x7F) << shift, shift + 7
            if byte < LONG_FORM:
                return value

    def _take(self, count: int) -> bytes:
        taken = self._content[self._at : self._at + count]
        if len(taken) != count:
            raise ValueError("the receipt was cut off")
        self._at += count
        return taken


# --- the page, which holds nothing but what the manifest and the records say

SHOWN = 500  # records in the table of the page
LONGEST = 600  # characters of a text in the table
STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 }
caption { text-align: left; padding: .3rem 0 }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8886 }
td { overflow-wrap: anywhere }
pre, code { font-family: ui-monospace, monospace; font-size: 13px; overflow-wrap: anywhere; white-space: pre-wrap }
.wide { overflow-x: auto }
@media print { body { margin: 0; max-width: none } }
"""

HOW = """\
<h2>How to check this export</h2>
<p>You need Python 3.9 or later, and the public key, which must come from {key_from} and not from here:</p>
<pre>python verify.py EXPORT.zip --key 'name+hash+base64'</pre>
<p>Each record is a leaf of the log's Merkle tree, whose root the checkpoint signs. A leaf holds personal fields as
commitments; where they are disclosed, the key beside the value opens them. After an erasure nothing opens them any
more, and the leaf is still proved. {left_out} This page is for reading; what is
proved is <code>records.jsonl</code>.</p>
<h2>Records</h2>"""
LEFT_OUT = "No export can show that no record was left out."
STATED = """\
Statements of completeness say what became of every offset of a partition: <code>verify.py</code> names each offset at
which an answer of the span was stored and that is not in the export. They say nothing of what never reached the topic,
or of partitions and files without a statement."""


def index_page(manifest: Any, key: str, verdicts: Mapping[str, int], first: Sequence[Shown]) -> str:
    """The page of an export in HTML: one file that loads nothing, with all text of records escaped.

    `verdicts` counts the assessments of all records; `first` are the records of its table.
    """
    about, counts, checkpoint = manifest["about"], manifest["counts"], manifest["checkpoint"]
    differs = manifest["differs"]
    asked = {
        "App": about["app"] or "every app",
        "Span": f"{about['from']} to {about['to']}",
        **({"Only": about["only"]} if "only" in about else {}),
        "Made": f"{about['made_at']} by {about['made_by']}",
        "Log": about["origin"],
        "Checkpoint": f"{checkpoint['size']} leaves, root {checkpoint['root']}",
        "Public key": key,
        "Records": counts["records"],
        "Disclosed in full": counts["disclosed"],
        "Disclosed in part": counts["partly"],
        "Erased or withheld": counts["withheld"],
        "Not stored as sealed": len(differs),
    }
    first_format = manifest["format"] == FIRST_FORMAT
    key_from = "the operator of the log" if first_format else "a witness of the log or its operator"
    differing = [(its["index"], its["kind"], its["app"], its["id"], "; ".join(its["how"])) for its in differs]
    not_as_sealed = {its["index"] for its in differs}
    times = ("When",) if first_format else ("Occurred", "Sealed")
    columns = ("Leaf", "Kind", "App", "Id", *times, "What", "Question", "Answer")
    names = ("occurred_at",) if first_format else ("occurred_at", "sealed_at")
    rows = [cells(*shown, differs=shown[0] in not_as_sealed, times=names) for shown in first]
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>Audit export</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Audit export</h1>",
            table("About this export", ("What", "Value"), asked.items()),
            *([table("Not stored as sealed", ("Leaf", "Kind", "App", "Id", "How"), differing)] if differing else ()),
            table("Records by kind", ("Kind", "Records"), sorted(counts["kinds"].items())),
            table("Assessments by verdict", ("Verdict", "Assessments"), sorted(verdicts.items())),
            HOW.format(key_from=key_from, left_out=STATED if POSITIONS in counts["kinds"] else LEFT_OUT),
            table(f"The first {len(first)} of {counts['records']}", columns, rows),
            "</main>\n</body>\n</html>\n",
        )
    )


def cells(index: int, leaf: Any, values: Any, *, differs: bool, times: Sequence[str]) -> tuple[object, ...]:
    """The row of a record: its leaf with these times, and the disclosed values by field."""
    why = "(not shown: the stored row is not what was sealed)" if differs else "(erased or withheld)"
    committed = leaf.get("committed")
    withheld = why if isinstance(committed, dict) and "question" in committed else ""
    texts = (shortened(values[name]) if name in values else withheld for name in ("question", "answer"))
    when = (leaf.get(name) or "" for name in times)
    return (index, leaf["kind"], leaf["app"], leaf["id"], *when, what(leaf), *texts)


def what(leaf: Any) -> str:
    """What a leaf says, in short."""
    if "verdict" in leaf:
        return " ".join((shortened(leaf["verdict"]), shortened(leaf.get("reasons") or "")))
    if "metric" in leaf:
        return f"{shortened(leaf['metric'])} {shortened(leaf.get('score'))}"
    return shortened(leaf["body"]) if "body" in leaf else ""


def shortened(value: Any) -> str:
    """The value as text, cut to its longest."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def table(caption: str, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in HTML, with everything escaped."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="wide" role="region" aria-label="{escape(caption)}" tabindex="0">\n'
        f"<table><caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


# --- the export


class Files:
    """The files of an export, in a ZIP or a folder."""

    def __init__(self, path: Path) -> None:
        self._folder = path if path.is_dir() else None
        self._zip = None if self._folder else zipfile.ZipFile(path)
        if self._zip:
            self.names = [info.filename for info in self._zip.infolist()]
        else:
            self.names = [found.relative_to(path).as_posix() for found in path.rglob("*") if not found.is_dir()]

    def open(self, name: str) -> IO[bytes]:
        """Opens one of `names`."""
        return self._zip.open(name) if self._zip else (self._folder or Path()).joinpath(name).open("rb")

    def text(self, name: str) -> str:
        """The whole text of a short file."""
        with self.open(name) as file:
            return file.read().decode()


class Times:
    """When the checkpoints were signed and stamped, and how long after they occurred the records were sealed."""

    def __init__(self, key: Key, authority: Path | None) -> None:
        self.key, self.authority = key, authority
        self.signed: dict[int, datetime] = {}  # by the size of a checkpoint
        self.sizes: list[int] = []  # of these checkpoints, in order
        self.statements: dict[int, bytes] = {}  # what is stamped of a checkpoint
        self.stamps: list[tuple[int, str, str, bytes]] = []  # size, kind, witness, token
        self.good: list[tuple[int, datetime, str]] = []  # stamps whose signature is checked: size, time, witness
        self.first: list[tuple[datetime, str]] = []  # for each of `good` the earliest of those that are not smaller
        self.unchecked: list[str] = []
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []  # what clocks contradict
        self.longest: timedelta | None = None  # from when a record occurred to a good stamp
        self.details: list[str] = []  # of the records
        self.before: tuple[str, datetime] | None = None

    def sign(self, size: int, note: str, at: datetime | None) -> None:
        """Takes a checkpoint whose signature is good, and the time that it says."""
        self.statements[size] = f"{note}\n{self.key.text}\n".encode()
        if at is not None:
            self.signed[size] = at
            self.sizes.append(size)

    def stamp(self, entry: Any) -> None:
        """Checks a time stamp of a checkpoint as far as that is possible here."""
        size, kind, witness = entry["size"], entry["kind"], entry["witness"]
        token, statement = b64decode(entry["token"], validate=True), self.statements.get(size)
        if statement is None:
            raise Fault(f"is of a checkpoint of {size} leaves, which is not here")
        of = f"the checkpoint of {size} leaves by {witness}"
        if kind == RECEIPT:
            receipt = Receipt(token)
            if receipt.digest != hashlib.sha256(statement).digest():
                raise Fault(f"the receipt for {of} is of something else")
            for height, root in receipt.bitcoin:
                self.unchecked.append(f"{of}: is older than the Bitcoin block {height}, if its Merkle root is {root}")
            if not receipt.bitcoin:
                self.unchecked.append(f"{of}: no Bitcoin block has it yet")
        elif kind == TIMESTAMP:
            self._timestamp(of, size, witness, token, statement)
        else:
            raise Fault(f"has the kind {kind!r}, which this program does not know")
        self.stamps.append((size, kind, witness, token))

    def _timestamp(self, of: str, size: int, witness: str, token: bytes, statement: bytes) -> None:
        function, digest, at = stamped(token)
        if digest != hashlib.new(function, statement).digest():
            raise Fault(f"the time stamp on {of} is of something else")
        if self.authority is None:
            self.unchecked.append(f"{of}: says {shown(at)}; its signature is not checked")
        elif problem := signed_by_authority(statement, token, at, self.authority):
            raise Fault(f"the time stamp on {of} is not signed by an authority of {self.authority}: {problem}")
        else:
            self.good.append((size, at, witness))
        signed = self.signed.get(size)
        if signed is not None and at < signed:
            self.wrong.append(
                f"{of} is stamped at {shown(at)}, before {shown(signed)}, when it says that it was signed: one of the "
                f"two clocks is wrong by {signed - at}"
            )

    def settle(self) -> None:
        """Finds the earliest stamp for every record, once all stamps are known."""
        self.good.sort()
        for _, at, witness in reversed(self.good):
            self.first.append(min([(at, witness), *self.first[-1:]]))
        self.first.reverse()

    def see(self, of: str, index: int, record: Any) -> None:
        """Takes the times of a record."""
        sealed = when(record.get("sealed_at"))
        occurred = when(record.get("occurred_at"))
        if sealed is None:
            return
        if self.before is not None and sealed < self.before[1]:
            self.wrong.append(f"{of} says that it was sealed before {self.before[0]}, which comes first")
        self.before = (of, sealed)
        if occurred is not None and sealed < occurred:
            self.wrong.append(f"{of} says that it was sealed at {shown(sealed)}, before it occurred: {shown(occurred)}")
        signed = self.signed.get(next(iter(self.sizes[bisect_right(self.sizes, index) :]), 0))
        exact = self.signed.get(index + 1)
        if exact is not None and exact != sealed.replace(microsecond=0):
            raise Fault(f"{of} says that it was sealed at {shown(sealed)}, its checkpoint at {shown(exact)}")
        stamp = next(iter(self.first[bisect_right(self.good, (index, LAST, "")) :]), None)
        self.seen["stamped" if stamp else "not stamped"] += 1
        if stamp and occurred is not None:
            self.longest = max(self.longest or timedelta(0), stamp[0] - occurred)
        if len(self.details) < SHOWN:
            parts = [f"occurred {shown(occurred)}"] if occurred else []
            parts.append(f"sealed {shown(sealed)}")
            parts += [f"in a checkpoint signed {shown(signed)}"] if signed else []
            parts += [f"time-stamped {shown(stamp[0])} by {stamp[1]}"] if stamp else []
            self.details.append(f"{of}: {', '.join(parts)}")

    def proved(self) -> Iterator[str]:
        """What good time stamps prove."""
        if self.good:
            longest = f", each at most {self.longest} after it occurred" if self.longest is not None else ""
            yield f"{self.seen['stamped']} records existed when an authority stamped a checkpoint{longest}"

    def open(self) -> Iterator[str]:
        """What is not proved about times."""
        if not self.good:
            yield "when the records were sealed: the log says it, and no checked time stamp"
        elif self.seen["not stamped"]:
            yield f"when {self.seen['not stamped']} records were sealed: no checked time stamp is of a later checkpoint"
        yield from self.unchecked[:SHOWN]
        if any(kind == TIMESTAMP for _, kind, _, _ in self.stamps) and self.authority is None:
            command = " ".join(openssl("stamps/SIZE.txt", "stamps/SIZE.txt.HOST.tsr", "CA.pem"))
            yield "to check time stamps, give the certificate of the authority: --tsa CA.pem (runs openssl)"
            yield f"or write them out with --stamps stamps, and run: {command}"
        if any(kind == RECEIPT for _, kind, _, _ in self.stamps):
            yield "to check receipts, look the block up, or: --stamps stamps, and: ots verify stamps/SIZE.txt.HOST.ots"

    def clocks(self) -> Iterator[str]:
        """What clocks contradict; the log cannot know which of them is right."""
        yield from (f"clocks: {line}" for line in self.wrong[:SHOWN])
        if len(self.wrong) > SHOWN:
            yield f"clocks: {len(self.wrong) - SHOWN} more like these"

    def write(self, folder: Path) -> None:
        """Writes each time stamp to the folder, and what was stamped."""
        folder.mkdir(parents=True, exist_ok=True)
        for size, kind, witness, token in self.stamps:
            host = re.sub(r"[^A-Za-z0-9.-]", "_", witness)
            folder.joinpath(f"{size}.txt").write_bytes(self.statements[size])
            ending = "tsr" if kind == TIMESTAMP else "ots"
            folder.joinpath(f"{size}.txt.{host}.{ending}").write_bytes(token)


def when(text: Any) -> datetime | None:
    """The time of a text that ends in Z, as the leaves have it; None for anything else."""
    try:
        return datetime.fromisoformat(f"{str(text).removesuffix('Z')}+00:00")
    except ValueError:
        return None


def shown(at: datetime) -> str:
    """A time for people, in UTC and whole seconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


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


class Verifier:
    """Checks one export. `faults` says what is wrong, `notes` what stays open, `seen` what was counted.

    `authority` is the file of the certificates of time stamp authorities, None where none is trusted.
    """

    def __init__(self, files: Files, key: Key, authority: Path | None = None) -> None:
        self.files, self.key, self.times = files, key, Times(key, authority)
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.kinds: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.heads: list[tuple[int, bytes]] = []
        self.manifest: dict[str, Any] = {}
        self.definitions: dict[str, set[str]] = {}  # of profiles, from the log
        self.rules: set[str] = set()  # the digests of rule sets, from the log
        self.verdicts: Counter[str] = Counter()
        self.first: list[Shown] = []  # the records that the page shows
        self.recoveries: list[str] = []
        self.witnessed: list[str] = []  # what a comparison with witnesses has shown
        self.behind: Counter[int] = Counter()  # the records behind each checkpoint and before the next, by its size
        self.statements: dict[tuple[Any, ...], list[Any]] = {}  # by group, topic, partition and id of the topic
        self.replays: list[Any] = []
        self.positions: dict[tuple[Any, Any], set[int]] = {}  # of the messages of interactions, by topic and partition
        self.last = -1

    def run(self) -> None:
        """Checks everything; what cannot be read is a fault too. Stops early without a checkpoint."""
        for check in (self._read_manifest, self._check_files, self._check_checkpoints):
            with self.about("the export"):
                check()
        if not self.heads:
            return
        with self.about("the export"):
            self._check_growth()
        self._check_stamps()
        with self.about(RECORDS), self.files.open(RECORDS) as lines:
            for at, line in enumerate(lines, start=1):
                with self.about(f"{RECORDS} line {at}"):
                    self._check_record(line)
        for check in (
            self._check_profiles,
            self._check_rules,
            self._check_counts,
            self._check_page,
            self._check_statements,
        ):
            with self.about("the export"):
                check()

    @contextmanager
    def about(self, what: str) -> Iterator[None]:
        """Records an exception in the block as a fault."""
        try:
            yield
        except Fault as fault:
            self.faults.append(f"{what}: {fault}")
        except MALFORMED + UNREADABLE as error:
            self.faults.append(f"{what}: cannot be read ({type(error).__name__}: {error})")

    def _read_manifest(self) -> None:
        self.manifest = read_json(self.files.text(MANIFEST))
        if self.manifest["format"] not in (FORMAT, FIRST_FORMAT):
            raise Fault(f"{MANIFEST} has the format {self.manifest['format']}; this program reads {FORMAT} and earlier")

    def _check_files(self) -> None:
        listed = self.manifest["files"]
        for name, times in Counter(self.files.names).items():
            if times > 1:
                self.faults.append(f"{name}: is in the export {times} times")
            if name not in listed and name != MANIFEST:
                self.faults.append(f"{name}: the manifest does not name it")
        for name, entry in listed.items():
            with self.about(name):
                if name not in self.files.names:
                    raise Fault("is missing")
                digest, length = hashlib.sha256(), 0
                with self.files.open(name) as file:
                    while block := file.read(BLOCK):
                        digest.update(block)
                        length += len(block)
                if entry != {"bytes": length, "sha256": digest.hexdigest()}:
                    raise Fault("is not the file that the manifest names: its SHA-256 or its length differs")

    def _check_checkpoints(self) -> None:
        notes = noted(self.files.text(CHECKPOINTS))
        before, others = len(self.faults), []
        for at, (text, lines) in enumerate(notes, start=1):
            with self.about(f"{CHECKPOINTS} checkpoint {at}"):
                try:
                    head = opened(text, lines, self.key)
                except WrongKey as other:
                    others.append(other)
                    raise
                if self.heads and head[0] <= self.heads[-1][0]:
                    raise Fault("is not larger than the checkpoint before it")
                self.heads.append(head)
                self.times.sign(head[0], f"{text}\n{lines}\n", time_of(text, lines, self.key))
        if others and len(others) == len(notes):
            del self.faults[before:]  # one fault is enough
            raise others[0]
        if not self.heads:
            raise Fault("no checkpoint is proved, so no record can be proved")

    def _check_growth(self) -> None:
        proofs = {(step["from"], step["to"]): step["proof"] for step in read_json(self.files.text(CONSISTENCY))}
        steps = [(self.heads[at], self.heads[at + 1]) for at in range(len(self.heads) - 1)]
        if len(proofs) != len(steps):
            self.faults.append(f"{CONSISTENCY}: {len(proofs)} proofs for {len(steps)} steps")
        for (old, old_root), (new, new_root) in steps:
            with self.about(f"{CONSISTENCY} from {old} to {new}"):
                if not grew(old, new, (old_root, new_root), hashes(proofs[old, new])):
                    raise Fault("the larger checkpoint did not grow out of the smaller: the log was rewritten")

    def _before(self, index: int) -> int:
        """The size of the last checkpoint that does not hold the leaf yet."""
        at = bisect_right(self.heads, (index, LARGEST_ROOT))
        return self.heads[at - 1][0] if at else 0

    def _check_stamps(self) -> None:
        if STAMPS not in self.files.names:
            return
        for at, line in enumerate(self.files.text(STAMPS).splitlines(), start=1):
            with self.about(f"{STAMPS} line {at}"):
                self.times.stamp(read_json(line))
        self.times.settle()

    def compare(self, witness: str) -> None:
        """Compares the checkpoints with those of a witness: a file of notes, or SIZE:ROOT as one reads it somewhere."""
        if not self.heads:
            return
        with self.about(f"the witness {witness}"):
            known = witnessed(witness, self.key)
            for size, root in self.heads:
                if size in known and root not in known[size]:
                    raise Fault(f"has another root of the first {size} leaves: the log was rewritten")
            agreed = [size for size, _ in self.heads if size in known]
            if not agreed:
                raise Fault("has none of these checkpoints, so nothing was compared")
            self.witnessed.append(
                f"{len(agreed)} of {len(self.heads)} checkpoints are the same at the witness {witness}, the largest of "
                f"{agreed[-1]} leaves"
            )
            beyond = sum(count for size, count in self.behind.items() if size >= agreed[-1])
            if beyond:
                self.notes.append(f"{beyond} records are behind the last checkpoint that the witness {witness} has")

    def _check_record(self, line: bytes) -> None:
        entry = read_json(line.decode())
        index, body, disclosed = entry["index"], entry["body"], entry["disclosed"]
        record = read_json(body)
        self.seen["records"] += 1
        self.kinds[record["kind"]] += 1
        of = f"leaf {index} ({record['kind']} {record['id']!r})"
        if set(entry) != {"index", "body", "proof", "disclosed"} or not isinstance(index, int):
            raise Fault(f"{of} does not have the parts of a record")
        if index <= self.last:
            self.faults.append(f"{of} comes after leaf {self.last}: it is repeated, or in the wrong place")
        self.last = index
        self.behind[self._before(index)] += 1
        if canonical(record) != body:
            self.faults.append(f"{of} is not in canonical form")
        app = self.manifest["about"]["app"]
        if app is not None and record["app"] not in (app, ""):
            self.faults.append(f"{of} belongs to the app {record['app']!r}, not to {app!r}")
        size, root = self.heads[-1] if self.heads else (0, b"")
        leaf = hashlib.sha256(b"\x00" + body.encode()).digest()
        proved = included(index, size, leaf, root, hashes(entry["proof"]))
        if not proved:
            self.faults.append(f"{of} is not proved: the record or its proof was changed, or it is from another log")
        self._remember(index, record, proved=proved)
        self.times.see(of, index, record)
        if len(self.first) < SHOWN:
            values = {name: opening["value"] for name, opening in (disclosed or {}).items()}
            self.first.append((index, json.loads(body), values))
        self._check_disclosed(of, record.get("committed", {}), disclosed)

    def _remember(self, index: int, record: Any, *, proved: bool) -> None:
        """Keeps what later checks, the page and the summary need of a record."""
        if record["kind"] == "profile":
            self.definitions.setdefault(record["id"], set()).add(record["body"]["definition"])
        if record["kind"] == "rules":
            self.rules.add(record["body"]["digest"])
        if record["kind"] == "recovery":
            self.recoveries.append(recovery(index, record["body"]))
        if "verdict" in record:
            self.verdicts[record["verdict"]] += 1
        if record["kind"] == "interaction" and record.get("source_topic") is not None:
            partition = (record["source_topic"], record["source_partition"])
            self.positions.setdefault(partition, set()).add(record["source_offset"])
        if record["kind"] == POSITIONS and "files" in record["body"]:
            self.replays.append(record["body"])
        elif record["kind"] == POSITIONS and proved:
            body = record["body"]
            reading = (body["group"], body["topic"], body["partition"], body["topic_id"])
            self.statements.setdefault(reading, []).append(body)

    def _check_statements(self) -> None:
        """Names gaps between statements, and offsets that were stored and are not in the export."""
        about = self.manifest["about"]
        for (group, topic, partition, _), bodies in sorted(self.statements.items()):
            reached, known = None, sorted(self.positions.get((topic, partition), ()))
            for body in sorted(bodies, key=lambda its: (its["first"], its["next"])):
                if reached is not None and body["first"] > reached:
                    gap = offsets_of(topic, partition, reached, body["first"] - 1)
                    self.faults.append(f"{gap}: no statement says what became of that, as the group {group} reads it")
                reached = body["next"] if reached is None else max(reached, body["next"])
                for its in body.get("stored", ()):
                    missing = [run for low, high in its["offsets"] for run in absent(low, high, known)]
                    if about["app"] not in (None, its["app"]) or not missing:
                        continue
                    if not instants_within(about, its):
                        self.seen["at the edge"] += 1
                        continue
                    for first, last in missing:
                        named = offsets_of(topic, partition, first, last)
                        self.faults.append(f"{named}: stored for {its['app']}, and the record is not in the export")

    def _check_disclosed(self, of: str, committed: dict[str, str], disclosed: dict[str, Any] | None) -> None:
        left = sorted(set(committed) - set(disclosed or {}))
        self.seen["disclosed"] += bool(disclosed) and not left
        self.seen["partly"] += bool(disclosed) and bool(left)
        self.seen["withheld"] += bool(committed) and not disclosed
        if disclosed and left:
            self.notes.append(f"{of}: not disclosed: {', '.join(left)}")
        for field, opening in (disclosed or {}).items():
            made = hmac.new(bytes.fromhex(opening["key"]), canonical(opening["value"]).encode(), hashlib.sha256)
            if not hmac.compare_digest(made.hexdigest(), committed.get(field, "")):
                self.faults.append(f"{of}: its {field} is not what the record committed to")

    def _check_profiles(self) -> None:
        for name, profile in read_json(self.files.text(PROFILES)).items():
            digest = hashlib.sha256(canonical(profile["definition"]).encode()).hexdigest()
            if name not in self.definitions:
                self.seen["unproved profiles"] += 1
            elif digest not in self.definitions[name]:
                self.faults.append(f"{PROFILES}: the definition of {name} is not the one in the log")

    def _check_rules(self) -> None:
        for at, line in enumerate(self.files.text(RULES).splitlines(), start=1):
            with self.about(f"{RULES} line {at}"):
                rules = read_json(line)
                if hashlib.sha256(rules["source"].encode()).hexdigest() != rules["digest"]:
                    raise Fault("the rules do not have their digest")
                self.seen["unproved rules"] += rules["digest"] not in self.rules

    def _check_counts(self) -> None:
        counted = {
            "records": self.seen["records"],
            "kinds": dict(self.kinds),
            "disclosed": self.seen["disclosed"],
            "partly": self.seen["partly"],
            "withheld": self.seen["withheld"],
            "checkpoints": len(self.heads),
        }
        for entry in self.manifest["differs"]:
            if not {"index", "kind", "id", "how"} <= set(entry):
                raise Fault(f"{MANIFEST}: an entry under `differs` is malformed")
        if self.manifest["counts"] != counted:
            self.faults.append(f"{MANIFEST}: it counts {self.manifest['counts']}, the files hold {counted}")
        size, root = self.heads[-1] if self.heads else (0, b"")
        if self.manifest["checkpoint"] != {"size": size, "root": b64encode(root).decode()}:
            self.faults.append(f"{MANIFEST}: its checkpoint is not the last entry of {CHECKPOINTS}")

    def _check_page(self) -> None:
        if self.files.text(PAGE) != index_page(self.manifest, self.key.text, self.verdicts, self.first):
            raise Fault(
                f"not proved: {PAGE} is not the page that the proved records give: do not believe what it shows"
            )
        if self.files.text(KEY).strip() != self.key.text:
            raise Fault(f"not proved: {KEY} holds another key than the given one")

    def summary(self) -> list[str]:
        """What was proved, and what was not, in lines."""
        app, (size, root) = self.manifest["about"]["app"], self.heads[-1]
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))
        seen = self.seen
        texts = (
            f"{seen['disclosed']} disclosed in full, {seen['partly']} in part, {seen['withheld']} withheld or erased"
        )
        return [
            f"proved: {seen['records']} records ({kinds or 'none'}) of {app or 'every app'}{self._only()}",
            f"        as leaves of the log {self.key.name} at {size} leaves, root {b64encode(root).decode()}",
            f"        {texts}",
            f"        {len(self.heads)} checkpoints, each grown out of the one before",
            f"        {PAGE} shows these records, and nothing else",
            *(f"        {line}" for line in (*self.witnessed, *self.times.proved())),
            *self._completeness(),
            f"not proved: {self._left_out()}; who asked for the export and when; what the database holds now",
            f"        {seen['unproved profiles']} profiles and {seen['unproved rules']} rule sets without a record",
            *(f"        {line}" for line in self.times.open()),
            *(f"note: {note}" for note in self.notes),
            *(f"note: {note}" for note in self._differing()),
            *(f"note: {note}" for note in self.recoveries),
            *(f"note: {note}" for note in self.times.clocks()),
        ]

    def _completeness(self) -> Iterator[str]:
        """What the statements of the export say together, a line for each partition."""
        for (group, topic, partition, _), bodies in sorted(self.statements.items()):
            counts: Counter[str] = Counter()
            for body in bodies:
                for its in body.get("stored", ()):
                    counts["stored"] += sum(last - first + 1 for first, last in its["offsets"])
                counts["duplicate"] += len(body.get("duplicate", ()))
                counts["dead"] += sum(last - first + 1 for first, last in body.get("dead", ()))
                counts.update({f"skipped ({why})": number for why, number in body.get("skipped", {}).items()})
            said = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
            first, end = min(body["first"] for body in bodies), max(body["next"] for body in bodies)
            yield f"complete: {offsets_of(topic, partition, first, end - 1)}, as {group} read it, without a gap: {said}"
            for body in bodies:
                if body.get("unstated"):
                    gap = offsets_of(topic, partition, body["first"], body["next"] - 1)
                    self.notes.append(f"nobody stated what became of {gap}, as {body['by']} recorded at {body['at']}")
        for body in self.replays:
            for file in body["files"]:
                yield f"replayed: {file['name']}, {file['lines']} lines, SHA-256 {file['sha256']}"
            counted = ", ".join(f"{body[name]} {name}" for name in ("received", "stored", "duplicate", "dead"))
            yield f"        {counted}, as recorded at {body['at']}"
        if self.seen["at the edge"]:
            yield f"        {self.seen['at the edge']} statements speak of other times too: they are not checked"

    def _left_out(self) -> str:
        """What an export cannot show about what it does not hold."""
        if not self.statements:
            return "that no record was left out"
        return "that what never reached these partitions was recorded; what happened in others"

    def _only(self) -> str:
        """By which values the answers were chosen, where they were."""
        only = self.manifest["about"].get("only")
        return f", only with {only}" if only else ""

    def _differing(self) -> Iterator[str]:
        """What the export itself says about rows that were changed after they were sealed."""
        for entry in self.manifest["differs"]:
            of = f"leaf {entry['index']} ({entry['kind']} {entry['id']!r})"
            yield f"{of}: the database does not hold what was sealed: {'; '.join(entry['how'])}"


class Proof(Files):
    """A proof of a few leaves, in the form of the files of an export."""

    def __init__(self, path: Path) -> None:
        content = read_json(path.read_text(encoding="utf-8"))
        if content.get("format", PROOF_FORMAT) != PROOF_FORMAT:
            raise ValueError(f"it has the format {content['format']}; this program reads {PROOF_FORMAT}")
        records = content["records"] if "records" in content else content["leaves"]  # the API calls them leaves
        notes = content["checkpoints"] if "checkpoints" in content else [content["checkpoint"]]
        parts = [{name: its[name] for name in ("index", "body", "proof", "disclosed")} for its in records]
        self._texts = {
            RECORDS: "\n".join(map(json.dumps, parts)),
            CHECKPOINTS: "\n".join(notes),
            CONSISTENCY: json.dumps(content.get("consistency", [])),
            STAMPS: "\n".join(map(json.dumps, content.get("stamps", []))),
        }
        self.names = list(self._texts)

    def open(self, name: str) -> IO[bytes]:
        """Opens one of `names`."""
        return BytesIO(self._texts[name].encode())


class ProofVerifier(Verifier):
    """Checks one proof: the file that `monitor audit prove` writes, or what the API answers."""

    def run(self) -> None:
        """Checks everything; what cannot be read is a fault too. Stops early without a checkpoint."""
        with self.about("the proof"):
            self._check_checkpoints()
        if not self.heads:
            return
        with self.about("the proof"):
            self._check_growth()
        self._check_stamps()
        self.manifest = {"about": {"app": None}}
        with self.about("the proof"), self.files.open(RECORDS) as lines:
            for at, line in enumerate(lines, start=1):
                with self.about(f"record {at}"):
                    self._check_record(line)
            if not self.seen["records"]:
                raise Fault("has no record")

    def summary(self) -> list[str]:
        """What was proved, and what was not, in lines."""
        size, root = self.heads[-1]
        return [
            f"proved: {self.seen['records']} leaves of the log {self.key.name}",
            f"        at {size} leaves, root {b64encode(root).decode()}",
            *(f"        {line}" for line in (*self.times.details, *self.witnessed, *self.times.proved())),
            "not proved: that no other leaf is about this; what the database holds now",
            *(f"        {line}" for line in self.times.open()),
            *(f"note: {note}" for note in (*self.notes, *self.recoveries, *self.times.clocks())),
        ]


def recovery(index: int, body: Any) -> str:
    """What the leaf of a recovery says: that the log lost leaves when its database was restored from a backup."""
    first, last = body["restored"]["size"], body["lost"][-1][0] - 1
    return (
        f"leaf {index} is a recovery from a backup by {body['by']} at {body['at']} ({body['reason']}): leaves {first} "
        f"to {last} of an earlier history were lost, with {len(body['lost'])} signed checkpoints"
    )


def offsets_of(topic: str, partition: int, first: int, last: int) -> str:
    """Offsets of a partition in words; those of a file are bytes."""
    named = f"offset {first}" if first == last else f"offsets {first} to {last}"
    return f"{named} of {topic}/{partition}"


def absent(first: int, last: int, known: Sequence[int]) -> list[tuple[int, int]]:
    """The runs of offsets from `first` to `last` that are not known; `known` ascends, with nothing in it twice."""
    runs: list[tuple[int, int]] = []
    for offset in known[bisect_left(known, first) : bisect_right(known, last)]:
        if offset > first:
            runs.append((first, offset - 1))
        first = offset + 1
    return [*runs, (first, last)] if first <= last else runs


def instants_within(about: Any, its: Any) -> bool:
    """Whether all answers of which a statement speaks are of the span of the export."""
    start, end, earliest, latest = (
        instant(text) for text in (about["from"], about["to"], its["earliest"], its["latest"])
    )
    return start <= earliest and latest < end


def instant(text: str) -> datetime:
    """A time in the form of RFC 3339; Python before 3.11 does not read a Z."""
    return datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)


def hashes(encoded: Sequence[str]) -> list[bytes]:
    """The hashes of a proof."""
    return [b64decode(item, validate=True) for item in encoded]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code."""
    parser = argparse.ArgumentParser(description="Checks an audit export or a proof of monitor.")
    parser.add_argument("export", type=Path, help="the ZIP, the folder it was unpacked to, or the file of a proof")
    parser.add_argument(
        "--key", required=True, help="the public key of the log, name+hash+base64; do not take it from the export"
    )
    parser.add_argument(
        "--witness", action="append", default=[], help="a file of checkpoints from a witness, or SIZE:ROOT; repeatable"
    )
    parser.add_argument("--tsa", type=Path, help="certificates of time stamp authorities (PEM); runs openssl")
    parser.add_argument("--stamps", type=Path, help="a folder to write the time stamps to, for other tools")
    given = parser.parse_args(arguments)
    try:
        key = Key(given.key)
    except ValueError as error:
        parser.error(f"--key is not of the form name+hash+base64: {error}")
    for path in (given.export, *([given.tsa] if given.tsa else [])):
        if not path.exists():
            parser.error(f"{path} does not exist")
    if given.tsa and shutil.which("openssl") is None:
        parser.error("--tsa needs the program openssl, and it is not on this machine")
    try:
        verifier = a_verifier(given.export, key, given.tsa)
    except (*UNREADABLE, *MALFORMED) as error:
        sys.stdout.write(f"fault: {given.export} is neither an export nor a proof: {error}\n")
        return 1
    verifier.run()
    for witness in given.witness:
        verifier.compare(witness)
    if given.stamps:
        verifier.times.write(given.stamps)
    lines = [f"fault: {fault}" for fault in verifier.faults] or verifier.summary()
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 1 if verifier.faults else 0


def a_verifier(path: Path, key: Key, authority: Path | None) -> Verifier:
    """The verifier of an export, or of a proof, which is one file of JSON."""
    if path.is_dir() or zipfile.is_zipfile(path):
        return Verifier(Files(path), key, authority)
    return ProofVerifier(Proof(path), key, authority)


if __name__ == "__main__":
    sys.exit(main())
