"""`observe_rag`: reports each call of a function that answers questions, without a change to its code.

It works on functions, coroutines, generators and asynchronous generators. What the function returns or raises passes
through unchanged, and each piece of a stream passes on before it is looked at.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeAlias, TypeVar, overload

from monitor.client.extract import SUPPORT, Extractor, answer_of, documents_of, found_in, question_of
from monitor.client.reporter import Reporter

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
_Begun: TypeAlias = Callable[[tuple[Any, ...], dict[str, Any]], "_Call"]
_CURRENT: ContextVar[dict[str, Any] | None] = ContextVar("monitor_client_call", default=None)


def note(**fields: Any) -> None:
    """Within an observed call, adds fields of its record that its return value does not show.

    `note(retrieved_documents=found, model="gpt-5")`. Outside of such a call it does nothing.
    """
    if (noted := _CURRENT.get()) is not None:
        noted.update(fields)


@functools.cache
def _from_environment() -> Reporter:
    return Reporter()


@overload
def observe_rag(function: AnyFunction, /) -> AnyFunction: ...
@overload
def observe_rag(
    *,
    reporter: Reporter | None = None,
    question: str | Extractor | None = None,
    documents: Extractor | None = None,
    answer: Extractor | None = None,
    **fields: Any,
) -> Callable[[AnyFunction], AnyFunction]: ...
def observe_rag(
    function: Callable[..., Any] | None = None,
    /,
    *,
    reporter: Reporter | None = None,
    question: str | Extractor | None = None,
    documents: Extractor | None = None,
    answer: Extractor | None = None,
    **fields: Any,
) -> Any:
    """Decorates a function so that each of its answers is recorded, with the time that it took.

    The question is the argument of the first name in `QUESTIONS` of `monitor.client.extract`, or else the first
    argument that is a text; `question` names another parameter, or gets the arguments by name. Answer, retrieved and
    supporting documents are found in the return value: a text is the answer; of a mapping or an object, the first name
    in `ANSWERS`, `DOCUMENTS` and `SUPPORT`; of a pair, the answer and the documents. `answer` and `documents` get the
    return value instead; of a generator, the list of what it has yielded. By themselves, pieces of text are joined, and
    mappings and objects are read as above. What `note` says within the call comes before all of that. `fields` are
    added to each record.

    An exception is recorded as a failed call and raised on. Without documents a turn is counted, not scored. Without a
    `reporter`, MONITOR_CLIENT_URL says where the records go.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function).parameters
        defaults = {name: one.default for name, one in parameters.items() if one.default is not one.empty}

        def begun(args: tuple[Any, ...], keywords: dict[str, Any]) -> _Call:
            return _Call(
                reporter or _from_environment(),
                lambda: question_of({**defaults, **dict(zip(parameters, args, strict=False)), **keywords}, question),
                answer or answer_of,
                documents or documents_of,
                fields,
            )

        return _watched(function, begun)

    return decorate if function is None else decorate(function)


def _watched(function: Callable[..., Any], begun: _Begun) -> Callable[..., Any]:
    if inspect.isasyncgenfunction(function):
        return _asynchronous_stream(function, begun)
    if inspect.iscoroutinefunction(function):
        return _coroutine(function, begun)
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def pieces(*args: Any, **keywords: Any) -> Generator[Any, Any, Any]:
            return (yield from _Stream(begun(args, keywords), function(*args, **keywords)))

        return pieces

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        call = begun(args, keywords)
        token = _CURRENT.set(call.noted)  # as `running` does, and quicker
        try:
            result = function(*args, **keywords)
        except BaseException as error:
            call.broke_off(error)
            raise
        finally:
            _CURRENT.reset(token)
        call.returned(result)
        return result

    return called


def _coroutine(function: Callable[..., Any], begun: _Begun) -> Callable[..., Any]:
    @functools.wraps(function)
    async def awaited(*args: Any, **keywords: Any) -> Any:
        call = begun(args, keywords)
        try:
            with call.running():
                result = await function(*args, **keywords)
        except BaseException as error:
            call.broke_off(error)
            raise
        call.returned(result)
        return result

    return awaited


def _asynchronous_stream(function: Callable[..., Any], begun: _Begun) -> Callable[..., Any]:
    @functools.wraps(function)
    async def stream(*args: Any, **keywords: Any) -> AsyncGenerator[Any, Any]:
        call, inner = begun(args, keywords), function(*args, **keywords)
        step: Callable[..., Any] = inner.asend
        value: Any = None
        try:
            while True:
                with call.running():
                    piece = await step(value)
                call.pieces.append(piece)
                try:
                    step, value = inner.asend, (yield piece)
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:  # thrown in by who reads the stream
                    step, value = inner.athrow, error
        except StopAsyncIteration:
            call.ended()
        except BaseException as error:
            call.broke_off(error)
            raise

    return stream


class _Stream(Generator[Any, Any, Any]):
    """A generator that passes everything on to another, and keeps what that yields."""

    def __init__(self, call: _Call, inner: Generator[Any, Any, Any]) -> None:
        self._call = call
        self._inner = inner

    def send(self, value: Any) -> Any:
        return self._step(self._inner.send, value)

    def throw(self, *error: Any) -> Any:
        return self._step(self._inner.throw, *error)

    def close(self) -> None:
        self._inner.close()
        self._call.broke_off(GeneratorExit())

    def _step(self, step: Callable[..., Any], *values: Any) -> Any:
        try:
            with self._call.running():
                piece = step(*values)
        except StopIteration:
            self._call.ended()
            raise
        except BaseException as error:
            self._call.broke_off(error)
            raise
        self._call.pieces.append(piece)
        return piece


class _Call:
    """One call of an observed function, from its arguments to its record. None of its methods raises an error."""

    def __init__(
        self,
        reporter: Reporter,
        question: Callable[[], Any],
        answer: Extractor,
        documents: Extractor,
        fields: Mapping[str, Any],
    ) -> None:
        self._reporter = reporter
        self._question = question
        self._answer = answer
        self._documents = documents
        self._fields = fields
        self._started = time.perf_counter()
        self.noted: dict[str, Any] = {}
        self._recorded = False
        self.pieces: list[Any] = []

    @contextmanager
    def running(self) -> Generator[None]:
        """While it runs, `note` adds to this call."""
        token = _CURRENT.set(self.noted)
        try:
            yield
        finally:
            with suppress(ValueError):  # a coroutine may be closed in another context than it ran in
                _CURRENT.reset(token)

    def returned(self, result: Any) -> None:
        self._record(result, failed=False)

    def ended(self) -> None:
        """The stream has come to its end."""
        self._record(self.pieces, failed=False)

    def broke_off(self, error: BaseException) -> None:
        """The call failed; or its reader left, and then the answer is as far as that got."""
        failed = isinstance(error, Exception)
        if failed or self.pieces:
            self._record(self.pieces, failed=failed)

    def _record(self, result: Any, *, failed: bool) -> None:
        if self._recorded:
            return
        self._recorded = True
        took = (time.perf_counter() - self._started) * 1000
        try:
            record = {"latency_ms": took, "question": self._question(), **self._fields}
            record["answer"] = None if failed else self._answer(result)
            record["retrieved_documents"] = None if failed else self._documents(result)
            record["supporting_documents"] = None if failed else found_in(result, SUPPORT)
            record.update(self.noted)
            if failed:
                record["answer"] = None
            self._reporter.record(**record)
        except Exception as error:
            self._reporter.drop(error)
