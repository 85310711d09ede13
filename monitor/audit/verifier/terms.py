"""What the parts share: names of forms and of files, what counts as unreadable, and the two kinds of fault."""

from __future__ import annotations

import sys
import zipfile
import zlib
from datetime import timedelta, timezone
from typing import Any

if sys.version_info < (3, 9):  # noqa: UP036  an auditor's Python may be older than monitor's
    sys.exit("verify.py needs Python 3.9 or later; this is " + sys.version.split()[0])

FORMAT, FIRST_FORMAT = "monitor-audit-export/2", "monitor-audit-export/1"
PROOF_FORMAT = "monitor-audit-proof/1"
MANIFEST, RECORDS, CHECKPOINTS = "manifest.json", "records.jsonl", "checkpoints.txt"
CONSISTENCY, PROFILES, RULES = "consistency.json", "profiles.json", "rules.jsonl"
PAGE, KEY, STAMPS = "index.html", "key.txt", "stamps.jsonl"
TIMESTAMP, RECEIPT = "rfc3161", "opentimestamps"  # the kinds of time stamps
POSITIONS = "positions"  # the kind of a statement of completeness
SHOWN = 500  # records in the table of the page, and lines of one kind in what is said
UTC = timezone(timedelta(0))
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)
UNREADABLE = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)  # RuntimeError: encrypted

Shown = tuple[int, Any, Any]  # the index of a record, its leaf, and its disclosed values by field


class Fault(Exception):
    """Something does not prove what it should."""


class WrongKey(Fault):
    """Another key signed the checkpoint."""
