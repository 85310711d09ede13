"""The command line: `python verify.py`, as the text above describes it."""

from __future__ import annotations

import argparse
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from monitor.audit.verifier.archive import Files, Proof
from monitor.audit.verifier.export import ExportVerifier
from monitor.audit.verifier.notes import Key
from monitor.audit.verifier.proof import ProofVerifier
from monitor.audit.verifier.terms import MALFORMED, UNREADABLE


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code."""
    parser = argparse.ArgumentParser(description="Checks an audit export or a proof of monitor.")
    parser.add_argument("export", type=Path, help="the ZIP, the folder it was unpacked to, or the file of a proof")
    parser.add_argument(
        "--key", required=True, help="the public key of the log, name+hash+base64; do not take it from the export"
    )
    parser.add_argument(
        "--witness", action="append", default=[], help="a file of checkpoints from a witness, or SIZE:ROOT; repeatable"
    )
    parser.add_argument("--tsa", type=Path, help="certificates of time stamp authorities (PEM); runs openssl")
    parser.add_argument("--stamps", type=Path, help="a folder to write the time stamps to, for other tools")
    given = parser.parse_args(arguments)
    try:
        key = Key(given.key)
    except ValueError as error:
        parser.error(f"--key is not of the form name+hash+base64: {error}")
    for path in (given.export, *([given.tsa] if given.tsa else [])):
        if not path.exists():
            parser.error(f"{path} does not exist")
    if given.tsa and shutil.which("openssl") is None:
        parser.error("--tsa needs the program openssl, and it is not on this machine")
    try:
        verifier = a_verifier(given.export, key, given.tsa)
    except (*UNREADABLE, *MALFORMED) as error:
        show([f"fault: {given.export} is neither an export nor a proof: {error}"])
        return 1
    verifier.run()
    for witness in given.witness:
        verifier.compare(witness)
    if given.stamps:
        try:
            verifier.times.write(given.stamps)
        except OSError as error:
            parser.error(f"--stamps: {error}")
    show([f"fault: {fault}" for fault in verifier.faults] or verifier.summary())
    return 1 if verifier.faults else 0


def show(lines: Sequence[str]) -> None:
    """Prints lines. They hold texts that are not proved, which must not end a line, command a terminal or stop us."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        text = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line)
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def a_verifier(path: Path, key: Key, authority: Path | None) -> ExportVerifier | ProofVerifier:
    """The verifier of an export, or of a proof, which is one file of JSON."""
    if path.is_dir() or zipfile.is_zipfile(path):
        return ExportVerifier(Files(path), key, authority)
    with path.open("rb") as file:
        if file.read(2) == b"PK":
            raise ValueError("it begins as a ZIP does, and is not whole; get it again")
    return ProofVerifier(Proof(path), key, authority)


if __name__ == "__main__":
    sys.exit(main())
