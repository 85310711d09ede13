"""A chatbot that is a Python function: `module:function(question, history, conversation)`.

It returns the answer as a text, or as a dictionary with `answer`, and maybe `documents` and `version`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as Late
from typing import Any

from typing_extensions import override

from monitor.core.assessment_json import storable
from monitor.core.errors import WrongSettings
from monitor.core.pool import Pool
from monitor.core.text.plain import plain
from monitor.probe.target import LARGEST, MOST_DOCUMENTS, ChatbotAnswer, ChatbotFailed, Exchange, Target
from monitor.probe.targets.pace import Pace

_THREADS = 256


class FunctionTarget(Target):
    """Calls the function on a thread of its own, so that one that hangs is given up when its time is over."""

    def __init__(self, function: Callable[..., object], *, name: str, timeout: float, per_second: float | None) -> None:
        self._function = function
        self._name = name
        self._timeout = timeout
        self._pace = Pace(per_second)
        self._pool = Pool(_THREADS, "chatbot")

    @property
    @override
    def place(self) -> str:
        return f"python {self._name}"

    @override
    def close(self) -> None:
        self._pace.close()
        self._pool.close()

    @override
    def ask(self, question: str, *, history: Sequence[Exchange], conversation: str) -> ChatbotAnswer:
        self._pace.enter()
        before = [
            {"role": role, "content": text}
            for exchange in history
            for role, text in (("user", exchange.question), ("assistant", exchange.answer))
        ]
        future = self._pool.submit(lambda: self._function(question, before, conversation))
        try:
            said = future.result(self._timeout)
        except Late as error:
            if future.done():
                raise self._raised(error) from None
            raise ChatbotFailed("timeout", f"{self._name} gave no answer in {self._timeout:g} s") from None
        except CancelledError:
            raise ChatbotFailed("out_of_reach", f"{self._name} is not asked any more") from None
        except (Exception, SystemExit) as error:  # noqa: BLE001  the function is the team's own
            raise self._raised(error) from None
        return read_answer(said, of=self._name)

    def _raised(self, error: BaseException) -> ChatbotFailed:
        return ChatbotFailed("refused", f"{self._name} raised {type(error).__name__}")


def load_function(name: str, *, of: str) -> Callable[..., object]:
    """The function `module:function`; `of` says in messages where it is named.

    Raises:
        WrongSettings: there is none.
    """
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (Exception, SystemExit) as error:  # noqa: BLE001  the module is the team's own
        said = f"{type(error).__name__}: {plain(str(error))}"
        raise WrongSettings(
            f"{of}: cannot load {name!r}: {said}; write module:function, and name the module's folder in PYTHONPATH"
        ) from None
    if not callable(found):
        raise WrongSettings(f"{of}: {name!r} is not a function")
    return found  # type: ignore[no-any-return]


def read_answer(said: object, *, of: str) -> ChatbotAnswer:
    """The answer in what a function or a command returned.

    Raises:
        ChatbotFailed: it is neither a text nor a dictionary with `answer`, or it is too long.
    """
    fields: Mapping[str, Any] = said if isinstance(said, Mapping) else {"answer": said}
    documents, version = fields.get("documents", ()), fields.get("version")
    answer = fields.get("answer", "" if "documents" in fields else None)  # a retriever gives documents only
    if not isinstance(answer, str) or not isinstance(documents, list | tuple):
        raise ChatbotFailed("malformed", f'{of} returned neither a text nor {{"answer": …, "documents": […]}}')
    shown = [str(document) for document in documents[:MOST_DOCUMENTS]]
    if len(answer) + sum(map(len, shown)) > LARGEST:
        raise ChatbotFailed("too_long", f"{of} returned more than {LARGEST // 2**20} MiB")
    return ChatbotAnswer(
        text=storable(answer),
        documents=tuple(map(storable, shown)),
        version=None if version is None else storable(str(version)),
    )
