"""Writes the page of an export: one HTML file that loads nothing, with all chatbot text escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from monitor.core.model import Json

SHOWN = 500  # records in the table
_LONGEST = 600  # characters of a text in the table
_STYLE = """
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

_HOW = """\
<h2>How to check this export</h2>
<p>You need Python 3.9 or later, and the public key, which must come from the operator of the log and not from here:</p>
<pre>python verify.py EXPORT.zip --key 'name+hash+base64'</pre>
<p>Each record is a leaf of the log's Merkle tree, whose root the checkpoint signs. A leaf holds personal fields as
commitments; where they are disclosed, the key beside the value opens them. After an erasure nothing opens them any
more, and the leaf is still proved. No export can show that no record was left out. This page is for reading; what is
proved is <code>records.jsonl</code>.</p>
<h2>Records</h2>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingRecord:
    """A record whose stored row is not what was sealed; `how` says in sentences how it differs."""

    index: int
    kind: str
    app: str
    id: str
    how: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRecord:
    """One record of the table: its index, what its leaf says, and its disclosed values.

    `differs`: the stored row is not what was sealed.
    """

    index: int
    leaf: Mapping[str, Json]
    values: Mapping[str, Json]
    differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures above the table; `about` and `checkpoint` are those of the manifest."""

    about: Mapping[str, Json]
    checkpoint: Mapping[str, Json]
    kinds: Mapping[str, int]
    verdicts: Mapping[str, int]
    disclosed: int
    partly: int
    withheld: int
    differs: Sequence[DifferingRecord]
    verifier_key: str


def index_page(summary: Summary, first: Sequence[ShownRecord]) -> str:
    """The whole page in HTML; `first` are the records of its table."""
    about, records = summary.about, sum(summary.kinds.values())
    asked = {
        "App": about["app"] or "every app",
        "Span": f"{about['from']} to {about['to']}",
        "Made": f"{about['made_at']} by {about['made_by']}",
        "Log": about["origin"],
        "Checkpoint": f"{summary.checkpoint['size']} leaves, root {summary.checkpoint['root']}",
        "Public key": summary.verifier_key,
        "Records": records,
        "Disclosed in full": summary.disclosed,
        "Disclosed in part": summary.partly,
        "Erased or withheld": summary.withheld,
        "Not stored as sealed": len(summary.differs),
    }
    differing = [
        (record.index, record.kind, record.app, record.id, "; ".join(record.how)) for record in summary.differs
    ]
    columns = ("Leaf", "Kind", "App", "Id", "When", "What", "Question", "Answer")
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>Audit export</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Audit export</h1>",
            _table("About this export", ("What", "Value"), asked.items()),
            *([_table("Not stored as sealed", ("Leaf", "Kind", "App", "Id", "How"), differing)] if differing else ()),
            _table("Records by kind", ("Kind", "Records"), sorted(summary.kinds.items())),
            _table("Assessments by verdict", ("Verdict", "Assessments"), sorted(summary.verdicts.items())),
            _HOW,
            _table(f"The first {len(first)} of {records}", columns, map(_cells, first)),
            "</main>\n</body>\n</html>\n",
        )
    )


def _cells(shown: ShownRecord) -> tuple[object, ...]:
    leaf, values = shown.leaf, shown.values
    when = leaf.get("occurred_at") or ""
    committed = leaf.get("committed")
    why = "(not shown: the stored row is not what was sealed)" if shown.differs else "(erased or withheld)"
    withheld = why if isinstance(committed, dict) and "question" in committed else ""
    texts = (_text(values[name]) if name in values else withheld for name in ("question", "answer"))
    return (shown.index, leaf["kind"], leaf["app"], leaf["id"], when, _what(leaf), *texts)


def _what(leaf: Mapping[str, Json]) -> str:
    if "verdict" in leaf:
        return " ".join((_text(leaf["verdict"]), _text(leaf.get("reasons") or "")))
    if "metric" in leaf:
        return f"{_text(leaf['metric'])} {_text(leaf.get('score'))}"
    return _text(leaf["body"]) if "body" in leaf else ""


def _text(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _table(caption: str, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="wide" role="region" aria-label="{escape(caption)}" tabindex="0">\n'
        f"<table><caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
