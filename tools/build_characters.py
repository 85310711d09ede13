"""Builds the table of characters that `monitor/assess/embed/word_pieces.py` reads, from the library `tokenizers`.

    python -m tools.build_characters [--write]

The library's normaliser is asked what it makes of each character, so the table has the versions of Unicode that the
library was built with (they differ between its parts), and vectors do not change with Python's version. Without
--write the table that ships is compared with a newly built one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from unicodedata import combining

from tokenizers import Tokenizer, normalizers, pre_tokenizers

from monitor.assess.embed.weights import CHARACTERS, SHIPPED, TOKENIZER, shipped

PLANES = range(0x4_0000), range(0xE_0000, sys.maxunicode + 1)  # those between have no characters
SURROGATES = range(0xD800, 0xE000)
HANGUL = range(0xAC00, 0xD7A4)  # syllables; every version of Unicode decomposes them alike
OVERLAY = "\u0334"  # of the lowest combining class, 1: it goes before any other mark


def characters() -> bytes:
    """The table as JSON: `normal` are the characters that change, with what they become; the rest are sets.

    A set is written as ranges: first, last, first, last and so on.
    """
    whole: Callable[[str], str] = Tokenizer.from_file(str(shipped(TOKENIZER))).normalizer.normalize_str
    cleaned: Callable[[str], str] = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False
    ).normalize_str
    decomposed: Callable[[str], str] = normalizers.NFD().normalize_str

    every = [chr(code) for code in chain(*PLANES) if code not in SURROGATES]
    becomes = {it: whole(it) for it in every}
    empty = {it for it, new in becomes.items() if not new}
    removed = {it for it in empty if not cleaned(it)}
    marks = empty - removed
    spaces = {it for it in every if becomes[it].isspace()}
    ideographs = {it for it in every if becomes[it].startswith(" ")} - spaces
    becomes |= {it: becomes[it].strip() for it in ideographs}
    gone, alone = removed | marks | spaces, spaces | ideographs
    rest = [it for it in every if becomes[it] and it not in alone]
    words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str(" ".join(f"a{becomes[it]}a" for it in rest))
    whole_words = {word for word, _ in words}
    punctuation = {it for it in rest if f"a{becomes[it]}a" not in whole_words}
    if any(len(becomes[it]) > 1 for it in ideographs | punctuation):
        raise AssertionError("a character that is a word of its own becomes several")
    kept_marks = {it for it in rest if combining(it) and decomposed(f"a{it}{OVERLAY}") == f"a{OVERLAY}{it}"}
    reordered = {it for it in rest if not kept_marks.isdisjoint(becomes[it])}
    changed = {it: new for it, new in becomes.items() if it != new and it not in gone and ord(it) not in HANGUL}
    table = {
        "removed": _ranges(removed),
        "marks": _ranges(marks),
        "reordered": _ranges(reordered),
        "spaces": _ranges(spaces),
        "ideographs": _ranges(ideographs),
        "punctuation": _ranges(punctuation),
        "normal": changed,
    }
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in table.items())
    return f"{{\n{lines}\n}}\n".encode()


def _ranges(found: Iterable[str]) -> list[int]:
    flat: list[int] = []
    for code in sorted(map(ord, found)):
        if flat and flat[-1] == code - 1:
            flat[-1] = code
        else:
            flat += [code, code]
    return flat


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true", help="write the table into the package")
    write = arguments.parse_args().write
    content = characters()
    path = Path(str(SHIPPED / CHARACTERS))
    same = path.exists() and path.read_bytes() == content
    print(f"{CHARACTERS}: {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}", "as it ships" * same)
    if write:
        path.write_bytes(content)
    elif not same:
        sys.exit(f"{path} is another one: --write replaces it; then change its hash in weights.py")


if __name__ == "__main__":
    main()
