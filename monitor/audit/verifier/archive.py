"""The files to check: those of an export, or a proof in their form."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import IO

from monitor.audit.verifier.canonical_json import read_json
from monitor.audit.verifier.terms import CHECKPOINTS, CONSISTENCY, PROOF_FORMAT, RECORDS, STAMPS


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
        """The content of one of `names` as a binary file, which the caller closes."""
        return self._zip.open(name) if self._zip else (self._folder or Path()).joinpath(name).open("rb")

    def text(self, name: str) -> str:
        """The whole text of a short file."""
        with self.open(name) as file:
            return file.read().decode()


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
        return BytesIO(self._texts[name].encode())
