"""Runs console commands in the test's own process, as somebody at a terminal types them.

A process for each would load the program and the model again, which takes far longer than most commands do.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import pytest
import typer
from typing_extensions import override

from monitor.__main__ import main
from monitor.assess.embed.cache import CachedEmbedder, CachedTokenEncoder
from monitor.assess.embed.minilm import MiniLMEmbedder

_BYTES = 2**26  # of vectors, more than the texts of the pages have
_LOOK_EVERY = 0.05  # seconds


class LoadedModel:
    """The model that ships, loaded once for many commands; it remembers every text."""

    def __init__(self) -> None:
        self._model = MiniLMEmbedder(cache_dir=Path(), threads=1)  # this build needs no cache on disk
        embedder = CachedEmbedder(self._model, _BYTES)
        encoder = CachedTokenEncoder(self._model, _BYTES, embedder=embedder)
        self.model, self.dimensions, self.token_model = embedder.model, embedder.dimensions, encoder.token_model
        self.embed, self.encode, self.sentences = embedder.embed, encoder.encode, encoder.sentences

    def close(self) -> None:
        """A command no longer needs it, but the next one may."""

    def unload(self) -> None:
        self._model.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


class _Terminal(io.TextIOWrapper):
    """A stream that takes itself for a terminal; what is typed lies ready in it."""

    def __init__(self, typed: str = "") -> None:
        self.bytes = io.BytesIO(typed.encode())
        super().__init__(self.bytes, encoding="utf-8", write_through=True)

    @override
    def isatty(self) -> bool:
        return True


class _Pipe(_Terminal):
    @override
    def isatty(self) -> bool:
        return False


def run(
    words: Sequence[str],
    settings: Mapping[str, str],
    *,
    typed: str = "",
    interactive: bool = False,
    until: Callable[[], bool] | None = None,
) -> Ended:
    """Runs `monitor` with these words to its end; where it asks, `typed` is the answer.

    Its output goes to a pipe, unless it is `interactive`. A command that goes on until it is told to end is told so by
    SIGTERM once `until` holds. The main thread calls.
    """
    stdin, out, err = _Terminal(typed), _Terminal() if interactive else _Pipe(), _Pipe()
    collections, ended = gc.get_threshold(), Event()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in {"NO_COLOR": "1", "COLUMNS": "200", **settings}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", stdin)
        patch.setattr(sys, "argv", ["monitor", *words])
        patch.setattr(typer, "getchar", lambda: stdin.read(1) or "q")
        watching = Thread(target=_tell_to_end, args=(until or ended.wait, ended))
        watching.start()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            gc.set_threshold(*collections)
            ended.set()
            watching.join()
    return Ended(code=code, out=out.bytes.getvalue().decode(), err=err.bytes.getvalue().decode())


def _tell_to_end(until: Callable[[], bool], ended: Event) -> None:
    while not ended.is_set() and not until():
        ended.wait(_LOOK_EVERY)
    if not ended.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
