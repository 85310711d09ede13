"""Finds the leaves whose stored row is surely the sealed one, several times as fast as `compare_rows`.

The bodies that the stored rows would have are made column by column, from the text that PostgreSQL writes, which is the
canonical form of nearly every value, or close to it. A body made so may be wrong where the row is the sealed one, and
then `compare_rows` tells; it is never that of another row. What might be written in two ways, or like another value,
is left to `compare_rows` too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from psycopg.types.string import TextLoader
from pydantic_core import to_json

from monitor.audit import record
from monitor.audit.commitment import commitments
from monitor.store.audit.checks.column_text import BYTEA, JSONB_OID, NULL, WRITE, Texts, jsonb, oid_of
from monitor.store.audit.leaf import ENTRY, Leaf, occurred, of_leaf, version_of
from monitor.store.audit_queue import Kind
from monitor.store.audit_rows import PART, REVISES, TABLE

if TYPE_CHECKING:
    import psycopg

# Of each row the place of its leaf among those that are looked at, the secret, and the columns of the record.
_SELECT = """
    SELECT w.place::text, s.secret, {columns}
    FROM json_to_recordset(%(keys)s::json) AS w (place integer, app text, id text, part text, at timestamptz)
    JOIN {table} r ON r.app = w.app AND r.id = w.id AND r.occurred_at = w.at AND {part} = w.part
    JOIN audit_secret s ON s.app = w.app AND s.id = w.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """The columns of a kind's record, in the groups of `monitor.audit.record`.

    Those of `pair` are both in the record if either has a value. `scope` makes the keys of commitments, together with
    the kind; where `scope_if_set`, only if there is a value.
    """

    public: tuple[str, ...]
    optional: tuple[str, ...]
    personal: tuple[str, ...]
    scope: tuple[str, ...]
    scope_if_set: bool = False
    optional_personal: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        named = (*self.public, *self.optional, *self.personal, *self.scope, *self.optional_personal)
        return tuple(dict.fromkeys(("app", "id", *named, *self.pair, *self.digests)))


_FORM: Mapping[str, _Form] = {
    Kind.INTERACTION: _Form(
        public=record.INTERACTION_PUBLIC,
        optional=record.INTERACTION_OPTIONAL,
        personal=record.INTERACTION_PERSONAL,
        optional_personal=record.INTERACTION_DIGESTS,
        scope=record.INTERACTION_SCOPE,
        scope_if_set=True,
    ),
    Kind.ASSESSMENT: _Form(
        public=record.ASSESSMENT_PUBLIC,
        optional=record.ASSESSMENT_OPTIONAL,
        personal=record.ASSESSMENT_PERSONAL,
        pair=record.ASSESSMENT_RANK,
        digests=record.ASSESSMENT_DIGESTS,
        scope=record.ASSESSMENT_SCOPE,
    ),
    Kind.JUDGEMENT: _Form(
        public=record.JUDGEMENT_PUBLIC,
        optional=record.JUDGEMENT_OPTIONAL,
        personal=record.JUDGEMENT_PERSONAL,
        scope=record.JUDGEMENT_SCOPE,
    ),
}
_READ = {
    kind: _SELECT.format(
        columns=", ".join(f"r.{name}" for name in form.columns), table=TABLE[Kind(kind)].name, part=PART[Kind(kind)]
    )
    for kind, form in _FORM.items()
}


_OIDS: Mapping[str, Mapping[str, int]] = {
    kind: {name: oid_of(TABLE[Kind(kind)].c[name].type) for name in form.columns} for kind, form in _FORM.items()
}


def unchanged(connection: psycopg.Connection, kind: Kind, leaves: Sequence[Leaf]) -> set[int]:
    """The numbers of those leaves, all of one kind, whose body is surely that of the stored row.

    The others may be too: `compare_rows` tells.
    """
    wanted = [
        {"place": place, "app": leaf.app, "id": leaf.subject, "part": leaf.part, "at": at}
        for place, leaf in enumerate(leaves)
        if (at := occurred(leaf.body)) is not None
    ]
    if not wanted:
        return set()
    columns = _FORM[kind].columns
    with connection.cursor() as cursor:
        for oid in WRITE:
            cursor.adapters.register_loader(oid, TextLoader)
        cursor.execute(_READ[kind], {"keys": to_json(wanted).decode()})
        read = [column.type_code for column in cursor.description or ()]
        if read[1:] != [BYTEA, *(_OIDS[kind][name] for name in columns)]:
            return set()  # somebody changed the type of a column, and Python may not be able to read what is in it
        rows = cursor.fetchall()
    found = Counter(row[0] for row in rows)
    rows = [row for row in rows if found[row[0]] == 1]  # of rows that are stored twice, `compare_rows` chooses one
    if not rows:
        return set()
    places, secrets, *texts = zip(*rows, strict=True)
    its = [leaves[int(place)] for place in places]
    bodies = _bodies(kind, dict(zip(columns, texts, strict=True)), secrets, its)
    return {leaf.number for leaf, body in zip(its, bodies, strict=True) if leaf.body == body}


def _bodies(kind: Kind, texts: Mapping[str, Texts], secrets: Sequence[bytes], leaves: Sequence[Leaf]) -> Iterable[str]:
    """The bodies that leaves of these rows would have, were they sealed with what `leaves` say beside their rows."""
    form, sealed_at = _FORM[kind], {leaf.sealed_at: str(record.portable(leaf.sealed_at)) for leaf in leaves}

    def written(name: str) -> Sequence[str]:
        return WRITE[_OIDS[kind][name]](texts[name])

    fields = {name: _with_name(name, written(name)) for name in ("app", "id", *form.public)}
    fields["kind"] = [f',"kind":"{kind}"'] * len(leaves)
    fields["sealed_at"] = [f',"sealed_at":"{sealed_at[leaf.sealed_at]}"' for leaf in leaves]
    fields["v"] = [f',"v":{version_of(leaf.body)}' for leaf in leaves]
    fields |= {name: _with_name(name, written(name), texts[name]) for name in form.optional}
    if form.pair:
        first, second = (texts[name] for name in form.pair)
        either = [second[place] if text is None else text for place, text in enumerate(first)]
        fields |= {name: _with_name(name, written(name), either) for name in form.pair}
    for name in form.digests:
        digests = [f'"{sha256(value).hexdigest()}"' for value in _in_bytes(kind, name, texts[name])]
        fields[name] = _with_name(name, digests)
    said = [of_leaf(leaf.kind, leaf.body) for leaf in leaves]
    for name in (ENTRY, REVISES):
        fields[name] = [f',"{name}":{encode_basestring(str(it[name]))}' if name in it else "" for it in said]
    fields["committed"] = _committed(kind, texts, secrets, written)
    columns = [fields[name] for name in sorted(fields)]
    return ("{" + "".join(parts)[1:] + "}" for parts in zip(*columns, strict=True))


def _with_name(name: str, values: Iterable[str], only_if: Texts | None = None) -> list[str]:
    """The fields of an object; none where `only_if` has no value."""
    fields = [f',"{name}":{value}' for value in values]
    if only_if is None:
        return fields
    return ["" if it is None else one for one, it in zip(fields, only_if, strict=True)]


def _committed(
    kind: Kind, texts: Mapping[str, Texts], secrets: Sequence[bytes], written: Callable[[str], Sequence[str]]
) -> list[str]:
    form = _FORM[kind]
    names = sorted((*form.personal, *form.optional_personal))
    values = zip(*(_in_bytes(kind, name, texts[name]) for name in names), strict=True)
    left_out = [set[str]() for _ in secrets]
    for name in form.optional_personal:
        for place, text in enumerate(texts[name]):
            if text is None:
                left_out[place].add(name)
    made = []
    for secret, scope, of_row, without in zip(secrets, _scopes(kind, written), values, left_out, strict=True):
        its = {name: value for name, value in zip(names, of_row, strict=True) if name not in without}
        hashes = commitments(secret, scope, its)
        made.append(',"committed":{' + ",".join([f'"{name}":"{hash_}"' for name, hash_ in hashes.items()]) + "}")
    return made


def _scopes(kind: Kind, written: Callable[[str], Sequence[str]]) -> Iterable[str]:
    form = _FORM[kind]
    for values in zip(*map(written, form.scope), strict=True):
        named = () if form.scope_if_set and values == (NULL,) else values
        yield f'["{kind}"' + "".join([f",{value}" for value in named]) + "]"


def _in_bytes(kind: Kind, name: str, texts: Texts) -> Iterable[bytes]:
    """The values as they are committed to."""
    oid = _OIDS[kind][name]
    return map(jsonb, texts) if oid == JSONB_OID else (value.encode() for value in WRITE[oid](texts))
