"""The page, which holds nothing but what the manifest and the records say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from monitor.audit.verifier.terms import FIRST_FORMAT, POSITIONS, Shown

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
