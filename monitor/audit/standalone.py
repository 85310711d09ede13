"""Checks an audit export of `monitor`, with nothing but Python (3.9 or later) and the log's public key.

    python verify.py EXPORT.zip --key 'name+hash+base64'

EXPORT is the ZIP or a folder that it was unpacked to. The key must come from elsewhere than the export: whoever could
have forged the one could have put any key into the other.

It checks that the log's key signed every checkpoint; that each checkpoint's tree grew out of the one before; that every
record is a leaf of the last one's tree, unchanged; that every disclosed field is what its record committed to; that every
profile is the one that a record of it names; and that the files are those that the manifest names. It does not show that
no record was left out, since an export holds those of one app and span only.

Every fault is named. Exit code: 0 all is proved, 1 something is not, 2 wrong use.

Sources: RFC 8032 (Ed25519), RFC 8785 (canonical JSON), RFC 9162 (Merkle tree), C2SP signed-note and tlog-checkpoint.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import re
import sys
import zipfile
import zlib
from base64 import b64decode, b64encode
from collections import Counter
from pathlib import Path

MANIFEST = "manifest.json"
NEEDED = ("records.jsonl", "checkpoints.txt", "consistency.json", "profiles.json", MANIFEST)
LARGEST_INTEGER = 2**53
LONGEST_LINE = 64 << 20  # bytes of one record
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError)


class Fault(Exception):
    """Something does not prove what it should."""


# --- Ed25519 (RFC 8032, section 5.1), verification only; nothing here is secret, so nothing needs constant time

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)  # extended coordinates: x = X / Z, y = Y / Z, x * y = T / Z


def add(p, q):
    """The sum of two points of the curve."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def point(encoded):
    """The point of 32 bytes, or None where they are none."""
    number = int.from_bytes(encoded, "little")
    y, odd = number & (1 << 255) - 1, number >> 255
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P  # a root of u / v, if it has one
    if v * x * x % P == -u % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if v * x * x % P != u or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = P - x
    return x, y, 1, x * y % P


BASE = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519_verify(public, message, signature):
    """Whether `signature` (64 bytes) is that of `message` under the key `public` (32 bytes)."""
    key, commitment = point(public), point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or s >= ORDER or len(public) != 32 or len(signature) != 64:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    k = int.from_bytes(digest, "little") % ORDER
    minus = (P - key[0], key[1], key[2], P - key[3])
    table = (NEUTRAL, BASE, minus, add(BASE, minus))
    found = NEUTRAL  # becomes s * BASE - k * key, both scalars at once
    for bit in range(252, -1, -1):
        found = add(found, found)
        choice = (s >> bit & 1) | (k >> bit & 1) << 1
        if choice:
            found = add(found, table[choice])
    (x, y, z, _), (x_, y_, z_, _) = found, commitment
    return (x * z_ - x_ * z) % P == 0 and (y * z_ - y_ * z) % P == 0


# --- RFC 8785


def read_json(text):
    """The value of a JSON text. Its numbers are doubles; keys that stand twice and what is not JSON are refused."""

    def integer(digits):
        return float(digits) if len(digits) > 16 or abs(int(digits)) > LARGEST_INTEGER else int(digits)

    def unique(pairs):
        made = dict(pairs)
        if len(made) != len(pairs):
            raise ValueError("a key stands twice")
        return made

    def refused(word):
        raise ValueError(word + " is not JSON")

    return json.loads(text, parse_int=integer, parse_constant=refused, object_pairs_hook=unique)


def canonical(value):
    """`value` as RFC 8785 writes it."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(float(value))
    return json.dumps(value, ensure_ascii=False)


def number(value):
    """A double as ECMAScript writes it: its shortest digits, with an exponent from 1e21 and below 1e-6."""
    sign, rest = ("-", -value) if value < 0 else ("", value)
    if not rest or rest == float("inf"):
        if rest:
            raise ValueError("a number is beyond what a double holds")
        return "0"
    mantissa, _, exponent = repr(rest).partition("e")
    whole, _, fraction = mantissa.partition(".")
    padded = (whole + fraction).lstrip("0")
    digits = padded.rstrip("0")
    point_at = len(padded) - len(fraction) + int(exponent or 0)
    if len(digits) <= point_at <= 21:
        return sign + digits + "0" * (point_at - len(digits))
    if 0 < point_at <= 21:
        return sign + digits[:point_at] + "." + digits[point_at:]
    if -6 < point_at <= 0:
        return sign + "0." + "0" * -point_at + digits
    return sign + digits[0] + ("." + digits[1:]) * (len(digits) > 1) + "e{:+d}".format(point_at - 1)


# --- the Merkle tree (RFC 9162, sections 2.1.3.2 and 2.1.4.2)


def node(left, right):
    """The hash of two nodes together."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def climb(at, last, proof, both):
    """Follows a proof upwards. `both` maps (old, new, sibling, whether it is left) to old and new; None: too long."""
    old = new = None
    for sibling in proof:
        pass
    return old, new
