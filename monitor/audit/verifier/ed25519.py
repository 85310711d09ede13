"""Ed25519 (RFC 8032, section 5.1). Only verification: nothing is secret, so nothing needs constant time."""

from __future__ import annotations

import hashlib

Point = tuple[int, int, int, int]
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
