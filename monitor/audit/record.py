"""Makes the record of a stored row, which a leaf holds: public columns in clear, personal ones as commitments.

A row is a mapping by the column names of `monitor/store/tables/`. The leaf is the canonical bytes of the record, so
each value has one form: times are RFC 3339 in UTC with microseconds, REAL columns have only the digits that give the
float4 back (however the driver read it), and `portable` converts what canonical JSON cannot hold.

Each commitment has its own key under the interaction's secret; two judgements of one answer share none.

A record of a row has version 2. In version 1, which earlier releases sealed, a number that canonical JSON cannot hold
is committed to like its digits as text; since version 2 as `tagged` writes it. A stored row is compared with its leaf
in the version of the leaf.
"""

from __future__ import annotations

import hmac
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeAlias

from monitor.audit.canonical import LARGEST_INTEGER, TOO_DEEP, canonical, is_json
from monitor.audit.commitment import commitment, commitments, field_key
from monitor.core.model import Json

VERSION = 2  # of the record of a row
_UNTAGGED = 1
_ACT_VERSION = 1
INTERACTION, ASSESSMENT, JUDGEMENT = "interaction", "assessment", "judgement"

INTERACTION_PUBLIC = (
    *("occurred_at", "stored_at", "environment", "turn", "model", "prompt_version", "latency_ms"),
    *("input_tokens", "output_tokens", "marks", "source_topic", "source_partition", "source_offset"),
)
INTERACTION_PERSONAL = (
    *("question", "answer", "retrieved_documents", "supporting_documents", "reference_answer", "conversation_id"),
    *("tags", "trace_id"),
)
# Of tags that redaction changed; in a record only where there are some, so that other records stay as they were.
INTERACTION_DIGESTS = ("tag_digests",)
# In a record only where there is one, so that other records stay as they were.
INTERACTION_OPTIONAL = ("unscored", "replaced_at", "replaced_offset", "cost")
# Names a place in somebody else's system, for sending verdicts there, and says nothing about the answer.
INTERACTION_LEFT_OUT = ("span_id",)
ASSESSMENT_REAL = ("p_grounded", "p_refusal", "p_self_generated", "sdq", "sdrd", "sda", "qrd", "qa")
ASSESSMENT_PUBLIC = (
    *("occurred_at", "profile_hash", "profile_name", "embedding_model", "verdict", "rule_verdict", "reasons"),
    *("refusal_kind", "refusal_correct", "uncalibrated", "live", "revised_at"),
    *ASSESSMENT_REAL,
)
ASSESSMENT_RANK = ("rank", "reference")  # in a record only where there is one, so that other records stay as they were
ASSESSMENT_OPTIONAL = ("diagnosis",)  # likewise
ASSESSMENT_DIGESTS = ("features",)  # long but not personal: the record holds their SHA-256
# The server's own number of the transaction, which no writer knows: it orders new answers, and says nothing about them.
ASSESSMENT_LEFT_OUT = ("transaction_id",)
ASSESSMENT_PERSONAL = ("support", "evidence", "earlier")
JUDGEMENT_PUBLIC = (
    *("occurred_at", "metric", "model", "prompt_hash", "mode", "score", "calls", "input_tokens", "output_tokens"),
    *("cost", "judged_at"),
)
JUDGEMENT_OPTIONAL = ("inclusion",)  # releases that stored none have sealed records without it
JUDGEMENT_PERSONAL = ("parts", "reason")
# The columns that make the keys of commitments, beside the kind; that of an interaction only where it has a value.
INTERACTION_SCOPE = ("replaced_at",)
ASSESSMENT_SCOPE = ("profile_hash", "revised_at")
JUDGEMENT_SCOPE = ("metric", "model", "prompt_hash", "judged_at")

# The columns that identify a row among those of its kind and interaction. A field occurs in one kind only.
_IDENTIFIED_BY = {
    **dict.fromkeys(
        (*INTERACTION_PERSONAL, *INTERACTION_DIGESTS), (INTERACTION, ())
    ),  # and its scope if it was replaced
    **dict.fromkeys(ASSESSMENT_PERSONAL, (ASSESSMENT, ASSESSMENT_SCOPE)),
    **dict.fromkeys(JUDGEMENT_PERSONAL, (JUDGEMENT, JUDGEMENT_SCOPE)),
}
_UTC = "+00:00"
_NUMBER = "$number"
_FLOAT4 = struct.Struct("<f")
_PORTABLE = frozenset({str, bool, type(None)})

Row: TypeAlias = Mapping[str, Any]
Record: TypeAlias = dict[str, Json]
Write: TypeAlias = Callable[[Json], bytes]  # the values that are committed to: `canonical`, or a faster one


def interaction_record(row: Row, secret: bytes, version: int = VERSION, write: Write = canonical) -> Record:
    """The record of a row of `interaction`."""
    record = _record(INTERACTION, row, INTERACTION_PUBLIC, version)
    record |= {name: portable(row[name]) for name in INTERACTION_OPTIONAL if row.get(name) is not None}
    digests = () if row.get("tag_digests") is None else INTERACTION_DIGESTS
    return record | _committed(row, secret, (*INTERACTION_PERSONAL, *digests), version, write)


def assessment_record(row: Row, secret: bytes, version: int = VERSION, write: Write = canonical) -> Record:
    """The record of a row of `assessment`; `secret` is that of the interaction."""
    record = _record(ASSESSMENT, row, ASSESSMENT_PUBLIC, version)
    for name in ASSESSMENT_REAL:
        record[name] = float4(row[name])
    if any(row.get(name) is not None for name in ASSESSMENT_RANK):  # an earlier row kept in a revision may have none
        record |= {"rank": float4(row.get("rank")), "reference": row.get("reference")}
    record |= {name: portable(row[name]) for name in ASSESSMENT_OPTIONAL if row.get(name) is not None}
    for name in ASSESSMENT_DIGESTS:
        record[name] = sha256(_canonical(row[name], version, write)).hexdigest()
    return record | _committed(row, secret, ASSESSMENT_PERSONAL, version, write)


def judgement_record(row: Row, secret: bytes, version: int = VERSION, write: Write = canonical) -> Record:
    """The record of a row of `judgement`; `secret` is that of the interaction."""
    record = _record(JUDGEMENT, row, JUDGEMENT_PUBLIC, version)
    record |= {name: portable(row[name]) for name in JUDGEMENT_OPTIONAL if row.get(name) is not None}
    return record | _committed(row, secret, JUDGEMENT_PERSONAL, version, write)


def act_record(*, kind: str, app: str, subject: str, body: Mapping[str, Json]) -> Record:
    """The record of an act on `subject`; all of it is public."""
    return {"v": _ACT_VERSION, "kind": kind, "app": app, "id": subject, "body": portable(dict(body))}


def disclosed(row: Row, secret: bytes, fields: Iterable[str], version: int = VERSION) -> dict[str, dict[str, Json]]:
    """`{"key": hex, "value": ...}` for each of the personal `fields`, which open the commitments of this row.

    `version` is that of the record whose commitments are to be opened.

    A row that was changed after it was sealed opens only the commitments of its later record: check each with `opens`.

    Raises:
        KeyError: a field is not personal, or not in this row.
    """
    return {
        name: {"key": field_key(secret, _scope(row, name) + name).hex(), "value": _in_version(row[name], version)}
        for name in fields
    }


def opens(record: Mapping[str, Json], field: str, key: str, value: Json) -> bool:
    """Whether the record commits to `value` as `field`; `key` is the key of the field, in hex."""
    commitments = record.get("committed")
    held = commitments.get(field) if isinstance(commitments, dict) else None
    if not isinstance(held, str):
        return False
    try:
        made = commitment(bytes.fromhex(key), value)
    except ValueError:
        return False
    return hmac.compare_digest(made, held)


def portable(value: Any) -> Json:
    """The `value` of a column in a form that canonical JSON can hold.

    A time becomes text. An integer beyond 2**53 becomes a double if a double holds it exactly, else its digits as text.
    A float that is not finite becomes one of the words NaN, Infinity and -Infinity.

    Raises:
        ValueError: `value` has more levels than Python can take.
    """
    try:
        if isinstance(value, dict):
            return {name: portable(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [portable(item) for item in value]
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return _beyond(value)
    return value  # type: ignore[no-any-return]


def tagged(value: Any) -> Json:
    """`value`, which came from JSON, with `{"$number": text}` for each number that canonical JSON cannot hold.

    A key that begins with `$` gets another `$`, so that no object looks like such a number.

    Raises:
        ValueError: as `portable`.
    """
    try:
        if isinstance(value, dict):
            return {f"${name}" if name.startswith("$") else name: tagged(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [tagged(item) for item in value]
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    held = portable(value)
    return {_NUMBER: held} if isinstance(held, str) and not isinstance(value, str) else held


def _record(kind: str, row: Row, public: Iterable[str], version: int) -> Record:
    record: Record = {"v": version, "kind": kind, "app": row["app"], "id": row["id"]}
    for name in public:
        value = row[name]
        record[name] = value if type(value) in _PORTABLE else _public(value)  # nearly all values are portable
    return record


def _public(value: Any) -> Json:
    """As `portable`. Raises TypeError where JSON has no such type, as when somebody changed that of a column."""
    kind = type(value)
    if kind is datetime:
        return _time(value)
    if kind is float and value.is_integer() and abs(value) <= LARGEST_INTEGER:
        return int(value)  # which is written the same, and faster
    made = portable(value)
    if not is_json(made):
        raise TypeError(f"a {type(value).__name__} has no form in a record")
    return made


def _committed(row: Row, secret: bytes, fields: tuple[str, ...], version: int, write: Write) -> Record:
    written = {name: _canonical(row[name], version, write) for name in fields}
    return {"committed": commitments(secret, _scope(row, fields[0]), written)}


def _canonical(value: Any, version: int, write: Write) -> bytes:
    try:
        written = write(value)
    except ValueError:  # rare, so this is faster than checking first
        return canonical(_in_version(value, version))
    # Only where this occurs may a key begin with $. Looking for one byte first is many times as fast.
    is_tagged = version != _UNTAGGED and b"$" in written and b'"$' in written
    return canonical(tagged(value)) if is_tagged else written


def _in_version(value: Any, version: int) -> Json:
    return portable(value) if version == _UNTAGGED else tagged(value)


def _scope(row: Row, field: str) -> str:
    """The prefix of field names from which the keys of a row are made."""
    kind, columns = _IDENTIFIED_BY[field]
    if not columns and row.get("replaced_at") is None:
        return f'["{kind}"]'
    return canonical([kind, *(portable(row[name]) for name in columns or INTERACTION_SCOPE)]).decode()


def _time(value: datetime) -> str:
    """A time in UTC, which most times are in."""
    written = value.isoformat(timespec="microseconds")
    if not written.endswith(_UTC):
        written = value.astimezone(UTC).isoformat(timespec="microseconds")
    return written[: -len(_UTC)] + "Z"


def _beyond(value: int) -> Json:
    try:
        near = float(value)
    except OverflowError:
        return str(value)
    return near if int(near) == value else str(value)


def float4(value: float | None) -> Json:
    if value is None or not math.isfinite(value):
        return portable(value)
    stored = _FLOAT4.pack(value)
    (exact,) = _FLOAT4.unpack(stored)
    # The fewest digits that give it back, from six on. Seven first: where they do not, neither do six.
    if _FLOAT4.pack(short := float(f"{exact:.7g}")) == stored:
        return shorter if _FLOAT4.pack(shorter := float(f"{exact:.6g}")) == stored else short
    return short if _FLOAT4.pack(short := float(f"{exact:.8g}")) == stored else float(f"{exact:.9g}")
