"""The files to check: those of an export, or a proof in their form."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import IO

from monitor.audit.verifier.canonical_json import read_json
from monitor.audit.verifier.terms import CHECKPOINTS, CONSISTENCY, PROOF_FORMAT, RECORDS, STAMPS

NAME_LENGTH_AT, LOCAL_HEADER, LISTED = 26, 30, 46  # in bytes: in the header of a file, of a header, of a listed file
DESCRIPTOR = 24  # at most
ENDS = (22, 98)  # of a ZIP without a comment, in its two forms


class Files:
    """The files of an export, in a ZIP or a folder."""

    def __init__(self, path: Path) -> None:
        self._folder = path if path.is_dir() else None
        self._zip = None if self._folder else zipfile.ZipFile(path)
        if self._zip:
            self.names = [info.filename for info in self._zip.infolist()]
            if any(
                info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in self._zip.infolist()
            ):
                raise ValueError("it is compressed in a way that no export is")
        else:
            found = [its for its in path.rglob("*") if its.is_symlink() or not its.is_dir()]
            self.names = [its.relative_to(path).as_posix() for its in found]
        self.has_more = self._zip is not None and has_more(self._zip, path)

    def open(self, name: str) -> IO[bytes]:
        """The content of one of `names` as a binary file, which the caller closes."""
        return self._zip.open(name) if self._zip else (self._folder or Path()).joinpath(name).open("rb")

    def text(self, name: str) -> str:
        """The whole text of a short file."""
        with self.open(name) as file:
            return file.read().decode()


def has_more(archive: zipfile.ZipFile, path: Path) -> bool:
    """Whether a ZIP has bytes beside its files and their list, in which another program may find other files."""
    reached, spare = 0, 0  # behind a file may stand its descriptor
    with path.open("rb") as file:
        for info in sorted(archive.infolist(), key=lambda its: its.header_offset):
            if not 0 <= info.header_offset - reached <= spare:
                return True
            file.seek(info.header_offset + NAME_LENGTH_AT)
            lengths = [int.from_bytes(file.read(2), "little") for _ in range(2)]  # of the name and of extra fields
            reached, spare = info.header_offset + LOCAL_HEADER + sum(lengths) + info.compress_size, DESCRIPTOR
    listed = sum(
        LISTED + len(info.orig_filename.encode()) + len(info.extra) + len(info.comment) for info in archive.infolist()
    )
    end = path.stat().st_size - archive.start_dir - listed
    return not 0 <= archive.start_dir - reached <= spare or end not in ENDS


class Proof(Files):
    """A proof of a few leaves, in the form of the files of an export."""

    def __init__(self, path: Path) -> None:
        self.content = content = read_json(path.read_text(encoding="utf-8"))
        if content.get("format", PROOF_FORMAT) != PROOF_FORMAT:
            raise ValueError(f"it has the format {content['format']}; this program reads {PROOF_FORMAT}")
        self.records = records = content["records"] if "records" in content else content["leaves"]  # as the API has it
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
