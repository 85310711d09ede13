"""Writes the export for an auditor: a ZIP of records with proofs, and all that is needed to check and read them.

    records.jsonl     one record per line: its bytes, its index, its proof, what is disclosed of it
    checkpoints.txt   signed checkpoints, smallest first; every record is proved against the last one
    consistency.json  proofs that each checkpoint grew out of the one before
    profiles.json     the profiles under which verdicts were given
    rules.jsonl       the alert rules, one set per line
    index.html        a page for people
    stamps.jsonl      time stamps of checkpoints by authorities outside, one per line; not there without any
    key.txt           the public key of the log, to compare with one from elsewhere
    verify.py         checks the export with Python alone
    manifest.json     the contents, with the SHA-256 of each file

The same content gives the same bytes: those of a file, or those of a stream, where sizes follow the contents.
"""

from __future__ import annotations

import json
import zipfile
from base64 import b64encode
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO, NotRequired, TypedDict, Unpack

from monitor.audit.canonical import canonical
from monitor.audit.export_zip import Unsent, ZipWriter
from monitor.audit.merkle import leaf_hash, verify_inclusion
from monitor.audit.note import Checkpoint, opened
from monitor.audit.record import portable
from monitor.audit.stamp import Stamp
from monitor.audit.standalone import verify_py
from monitor.audit.verifier.page import index_page
from monitor.audit.verifier.terms import (
    CHECKPOINTS,
    CONSISTENCY,
    FORMAT,
    KEY,
    MANIFEST,
    PAGE,
    PROFILES,
    RECORDS,
    RULES,
    SHOWN,
    STAMPS,
    Shown,
)
from monitor.core.model import Json

_CHUNK = 2**16  # bytes


class Stored(StrEnum):
    """What became of the row that a leaf is about."""

    SAME = "same"
    DIFFERS = "differs"  # and no erasure, retention or revision accounts for it
    REVISED = "revised"  # a later leaf is about its current state
    ERASED = "erased"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRecord:
    """One leaf with its proof against the last checkpoint.

    `body` is the text of the leaf. `disclosed` opens its commitments, in the form of `record.disclosed`; it is None
    where the texts were erased or are withheld, or where there are no commitments. `stored` is the state of its row,
    None for an act, and `differs` says in sentences how the row differs from what was sealed.
    """

    index: int
    body: str
    proof: Sequence[bytes]
    disclosed: Mapping[str, Mapping[str, Json]] | None
    stored: Stored | None = None
    differs: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyProof:
    """Proof that the tree of `new` leaves grew out of that of `old`."""

    old: int
    new: int
    proof: Sequence[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportAbout:
    """The request: for which app (None: every app) and span [start, end) of `occurred_at`, by whom and when.

    `only` says by which values answers were chosen, as `conversation c-17`; None: all of them are in.
    """

    app: str | None
    start: datetime
    end: datetime
    made_at: datetime
    made_by: str
    verifier_key: str
    only: str | None = None


@dataclass(slots=True)
class _Counts:
    """Counts of the records in `records.jsonl`."""

    records: int = 0
    disclosed: int = 0
    partly: int = 0
    withheld: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    first: list[Shown] = field(default_factory=list)
    differs: list[Json] = field(default_factory=list)


class ExportParts(TypedDict):
    """What an export is made of.

    `records` are in the order of their indices; `checkpoints` are signed notes, at least one, in the order of size;
    `consistency` has one proof from each to the next; `stamps` are of these checkpoints; `profiles` are by hash, with
    `name`, `embedding_model` and `definition`; each of `rules` is a rule set from the trail, with `source` and its
    SHA-256 as `digest`.
    """

    records: Iterable[ExportedRecord]
    checkpoints: Sequence[str]
    consistency: Sequence[ConsistencyProof]
    profiles: Mapping[str, Mapping[str, Json]]
    rules: Iterable[Mapping[str, Json]]
    about: ExportAbout
    stamps: NotRequired[Sequence[Stamp]]


def write_export(out: BinaryIO, **parts: Unpack[ExportParts]) -> Mapping[str, Json]:
    """Writes the ZIP to `out` and returns its manifest. Records are written as they come, and not kept in memory.

    Under `differs` the manifest lists the records whose rows are not what was sealed, which are proved all the same,
    and leaves that somebody has replaced, which are not.

    Raises:
        ValueError: records out of order, or no checkpoint.
        NotProved: `about.verifier_key` did not sign a checkpoint.
    """
    steps = _steps(out, **parts)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            manifest: Mapping[str, Json] = done.value
            return manifest


def stream_export(**parts: Unpack[ExportParts]) -> Iterator[bytes]:
    """The ZIP in chunks of at least `_CHUNK` bytes, the last one excepted, while the records come.

    Raises as `write_export`, when the first chunk is taken or in between: the ZIP then lacks its end, so that no
    program opens it.
    """
    out = Unsent()
    for _ in _steps(out, **parts):
        if out.size >= _CHUNK:
            yield out.take()
    yield out.take()


def _steps(
    out: BinaryIO,
    *,
    records: Iterable[ExportedRecord],
    checkpoints: Sequence[str],
    consistency: Sequence[ConsistencyProof],
    profiles: Mapping[str, Mapping[str, Json]],
    rules: Iterable[Mapping[str, Json]],
    about: ExportAbout,
    stamps: Sequence[Stamp] = (),
) -> Generator[None, None, Mapping[str, Json]]:
    """Writes the ZIP to `out`, pauses after each record, and returns the manifest."""
    if not checkpoints:
        raise ValueError("an export needs a checkpoint to prove its records against")
    heads = [opened(note, about.verifier_key) for note in checkpoints]
    last = heads[-1]
    asked: dict[str, Json] = {
        "app": about.app,
        "from": portable(about.start),
        "to": portable(about.end),
        "made_at": portable(about.made_at),
        "made_by": about.made_by,
        "origin": last.origin,
        **({} if about.only is None else {"only": about.only}),
    }
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        writer = ZipWriter(archive)
        counts = _Counts()
        with writer.file(RECORDS) as file:
            for line in _lines(records, counts, last):
                file.write(line)
                yield
        steps: list[Json] = [{"from": step.old, "to": step.new, "proof": _base64(step.proof)} for step in consistency]
        head: dict[str, Json] = {"size": last.size, "root": b64encode(last.root).decode()}
        manifest: dict[str, Json] = {
            "format": FORMAT,
            "about": asked,
            "checkpoint": head,
            "counts": {
                "records": counts.records,
                "kinds": dict(counts.kinds),
                "disclosed": counts.disclosed,
                "partly": counts.partly,
                "withheld": counts.withheld,
                "checkpoints": len(checkpoints),
            },
            "differs": counts.differs,
        }
        page = index_page(manifest, about.verifier_key, counts.verdicts, counts.first)
        for name, content in (
            (CHECKPOINTS, "\n".join(checkpoints).encode()),
            (CONSISTENCY, canonical(steps)),
            (PROFILES, _readable(portable({name: dict(profile) for name, profile in profiles.items()}))),
            (RULES, b"".join(map(_rule_line, rules))),
            *([(STAMPS, b"".join(canonical(stamp.json()) + b"\n" for stamp in stamps))] if stamps else ()),
            (PAGE, page.encode()),
            (KEY, f"{about.verifier_key}\n".encode()),
            ("verify.py", verify_py().encode()),
        ):
            with writer.file(name) as file:
                file.write(content)
        manifest["files"] = dict(sorted(writer.written.items()))
        with writer.file(MANIFEST) as file:
            file.write(_readable(manifest))
    return manifest


def _lines(records: Iterable[ExportedRecord], counts: _Counts, head: Checkpoint) -> Iterator[bytes]:
    last = -1
    for record in records:
        if record.index <= last:
            raise ValueError(f"leaf {record.index} comes after leaf {last}")
        last = record.index
        proved = verify_inclusion(record.index, head.size, leaf_hash(record.body.encode()), head.root, record.proof)
        leaf = json.loads(record.body) if proved else _claimed(record.body)
        counts.records += 1
        counts.kinds[leaf["kind"]] += 1
        committed = leaf.get("committed") or {}
        opened_ = len(record.disclosed or {})
        counts.disclosed += 0 < opened_ == len(committed)
        counts.partly += 0 < opened_ < len(committed)
        counts.withheld += bool(committed) and not opened_
        how = list(record.differs)
        if not proved:
            how.append("its proof does not hold: it was replaced, or the tree around it")
        if how:
            named = {"index": record.index, "kind": leaf["kind"], "app": leaf["app"], "id": leaf["id"]}
            counts.differs.append({**named, "how": [*how]})
        if "verdict" in leaf:
            counts.verdicts[leaf["verdict"]] += 1
        if len(counts.first) < SHOWN:
            values = {name: opening["value"] for name, opening in (record.disclosed or {}).items()}
            counts.first.append((record.index, leaf, values))
        disclosed: Json = None
        if record.disclosed is not None:
            disclosed = {name: dict(of) for name, of in record.disclosed.items()}
        proof = _base64(record.proof)
        yield canonical({"index": record.index, "body": record.body, "proof": proof, "disclosed": disclosed}) + b"\n"


def _claimed(body: str) -> dict[str, str]:
    """What a leaf that is not proved says it is about: somebody may have put anything into its place."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    found = said if isinstance(said, dict) else {}
    return {name: its if isinstance(its := found.get(name), str) else "" for name in ("kind", "app", "id")}


def _rule_line(rule: Mapping[str, Json]) -> bytes:
    """A rule set; nothing of one that somebody has replaced by what has no canonical form."""
    try:
        return canonical(portable(dict(rule))) + b"\n"
    except ValueError:
        return b""


def _base64(proof: Sequence[bytes]) -> list[Json]:
    return [b64encode(item).decode() for item in proof]


def _readable(value: Json) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()
