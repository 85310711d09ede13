"""The `LanguageModel` adapter for OpenAI and for any server that speaks its chat completions API."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from threading import BoundedSemaphore, Event
from time import monotonic
from typing import Any, TypeVar

from typing_extensions import override

from monitor.assess.llm.breaker import Breaker, CircuitOpen
from monitor.assess.llm.dialect import ChatMessage, Dialect, Structure
from monitor.assess.llm.endpoint import check_key
from monitor.assess.llm.exchange import Form, NoAnswer, Purpose, Reply, Request, Reservation, Spend
from monitor.assess.llm.parse import Completion, InvalidCompletion, completion_of, read
from monitor.assess.llm.refusal import AdaptedError, is_about_settings, is_too_long
from monitor.assess.llm.transport import Refused, Transport, Unanswered
from monitor.assess.ports import Budget, LanguageModel
from monitor.core.errors import Fatal, MonitorError, Retriable
from monitor.core.figures.prices import Price
from monitor.core.retry import delay_before
from monitor.core.stage import stage

T = TypeVar("T", bound=Form)
log = logging.getLogger(__name__)

_FAILURES, _COOLDOWN = 5, 30.0  # failures in a row; seconds
_TRIES = 4  # of one call, while the server is busy or out of reach
_FAIR = 5.0  # seconds that a server needs to have before a missing answer counts as its failure
_LONGEST_HOLD = 300.0  # seconds: the longest pause that a server may ask for
_LONGEST_WAIT = 30.0  # seconds that a call waits for its next try
_dice = random.SystemRandom()
_REPAIR = (
    "That is not in the form asked for: {problem}\nAnswer once more with one JSON object of this JSON Schema and "
    "nothing else:\n{schema}"
)


class ChatModel(LanguageModel):
    """One model of one server, for one purpose. Any number of threads may ask; `concurrency` calls run at a time.

    For every request to the server, repetitions and repairs included, the most that it can use is reserved before it,
    and replaced by what the server tells after it. It stays counted where the server may have worked and told nothing:
    an answer without usage, or none in time. A busy server is asked again when it says (`Retry-After`); a server that
    keeps failing gets no calls for half a minute.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str,
        base_url: str | None,
        purpose: Purpose,
        budget: Budget,
        price: Callable[[], Price | None] = lambda: None,
        concurrency: int = 8,
        timeout: float = 60.0,
        max_output_tokens: int = 4_096,
        max_input_chars: int = 200_000,
        structure: Structure = Structure.SCHEMA,
    ) -> None:
        """`timeout` applies to one request, in seconds; `price` gives the price in force when it is asked.

        Raises:
            WrongSettings: the key is empty or cannot be sent in a header.
        """
        check_key(api_key, of="the LLM's", setting="MONITOR_LLM__API_KEY")
        self._model = model
        self._purpose = purpose
        self._budget = budget
        self._price = price
        self._timeout = timeout
        self._max_input_chars = max_input_chars
        self._slots = BoundedSemaphore(concurrency)
        self._dialect = Dialect(structure=structure, max_output_tokens=max_output_tokens)
        self._breaker = Breaker(failures=_FAILURES, cooldown=_COOLDOWN, clock=monotonic)
        self._stop = Event()
        self._transport = Transport(api_key=api_key, base_url=base_url)

    @property
    @override
    def model(self) -> str:
        return self._model

    def close(self) -> None:
        """Closes the connections. Calls that wait for their next try end with `Retriable`."""
        self._stop.set()
        self._transport.close()

    @override
    def ask(self, request: Request[T], *, deadline: float | None = None) -> Reply[T]:
        """Sends back, once, an answer that is not in the form, with a description of the problem."""
        if len(request.data) > self._max_input_chars:
            message = f"the request has {len(request.data):,} characters, more than MONITOR_LLM__MAX_INPUT_CHARS"
            raise NoAnswer("too_long", message, Spend())
        with self._slot(deadline):
            return self._answered(request, deadline)

    def body(self, request: Request[Any]) -> dict[str, Any]:
        """The request in the format of the API, for callers that send it another way."""
        return self._dialect.body(self._model, request, self._dialect.messages(request))

    def most(self, body: Mapping[str, Any], *, discount: float = 1.0) -> Spend:
        """The most that a request can use: a token for each byte of it, and all the room for the answer.

        No tokenizer that works on bytes makes more, whatever the language; of English it makes a quarter.
        """
        length = len(json.dumps(body, ensure_ascii=False).encode())
        return self._spend(length, self._dialect.room(body), discount)

    def read(self, request: Request[T], body: object, *, reserved: Spend, discount: float) -> Reply[T]:
        """The reply in a chat completion that came another way, at `discount` of the price. The caller settles.

        Raises:
            NoAnswer: the completion holds no answer in the form asked for.
        """
        try:
            found = completion_of(body)
        except ValueError as error:
            raise NoAnswer("malformed", str(error), reserved) from None
        spend = self._reported_use(found, reserved, discount)
        try:
            return Reply(value=read(found, request.prompt.form), model=self._model, spend=spend)
        except InvalidCompletion as unfit:
            raise NoAnswer(unfit.reason, str(unfit), spend) from None

    @contextmanager
    def _slot(self, deadline: float | None) -> Iterator[None]:
        if not self._slots.acquire(timeout=None if deadline is None else max(0.0, deadline - monotonic())):
            raise Retriable("all calls of the language model were busy until the deadline")
        try:
            yield
        finally:
            self._slots.release()

    def _answered(self, request: Request[T], deadline: float | None) -> Reply[T]:
        messages, spend, factor, repaired = self._dialect.messages(request), Spend(), 1, False
        while True:
            try:
                found, used = self._completed(request, messages, factor, deadline)
            except NoAnswer as error:
                error.spend = spend + error.spend
                raise
            spend += used
            try:
                return Reply(value=read(found, request.prompt.form), model=self._model, spend=spend, repaired=repaired)
            except InvalidCompletion as unfit:
                if repaired or unfit.final:
                    raise NoAnswer(unfit.reason, str(unfit), spend) from None
                repaired = True
                if unfit.reason == "truncated":
                    factor = 2
                else:
                    asked = _REPAIR.format(problem=unfit, schema=json.dumps(request.prompt.schema))
                    messages.append({"role": "assistant", "content": found.content or ""})
                    messages.append({"role": "user", "content": asked})

    def _spend(self, input_tokens: int, output_tokens: int, discount: float = 1.0) -> Spend:
        """One call with so many tokens, at `discount` of the price; its cost is unknown without prices."""
        price = self._price()
        cost = None if price is None else price.cost(input_tokens, output_tokens) * discount
        return Spend(calls=1, input_tokens=input_tokens, output_tokens=output_tokens, cost=cost)

    def _reported_use(self, found: Completion, reserved: Spend, discount: float = 1.0) -> Spend:
        """What the server tells of its use; what it does not tell is taken to be all that was reserved."""
        return self._spend(
            reserved.input_tokens if found.input_tokens is None else found.input_tokens,
            reserved.output_tokens if found.output_tokens is None else found.output_tokens,
            discount,
        )

    def settle(self, reservation: Reservation, spend: Spend) -> None:
        """Counts what was used instead of what was reserved, if the budget can be reached."""
        try:
            self._budget.settle(reservation, spend)
        except Retriable as error:  # the answer has come and is paid for
            log.warning("a call stays counted as it was reserved, with %s: %s", reservation.spend, error)

    def _completed(
        self, request: Request[Any], messages: Sequence[ChatMessage], factor: int, deadline: float | None
    ) -> tuple[Completion, Spend]:
        """The server's completion, and what it took, requests without an answer included."""
        attempt, spend = 0, Spend()
        while True:
            try:
                self._enter(deadline)
            except CircuitOpen:
                raise
            except Retriable as error:
                self._wait(error, attempt, deadline)
                attempt += 1
                continue
            body = self._dialect.body(self._model, request, messages, factor=factor)
            result, used = self._tried(body, deadline)
            spend += used
            if isinstance(result, Completion):
                return result, spend
            if isinstance(result, NoAnswer):
                result.spend = spend
            if isinstance(result, Retriable):
                self._wait(result, attempt, deadline)
                attempt += 1
            elif not isinstance(result, AdaptedError):  # which comes at most twice for each parameter: the loop ends
                raise result

    def _tried(self, body: dict[str, Any], deadline: float | None) -> tuple[Completion | MonitorError, Spend]:
        """Sends one request within the budget; gives the completion or what went wrong, and what it used."""
        reservation = self._reserve(body)
        most = reservation.spend
        result: Completion | MonitorError
        try:
            with stage("chat", model=self._model, server=self._transport.host, purpose=self._purpose.value) as chat:
                result = self._sent(body, deadline)
                used = self._reported_use(result, most)
                chat.add(input_tokens=used.input_tokens, output_tokens=used.output_tokens)
        except Refused as refused:
            result, used = self._refusal(refused, body), most if refused.worked else Spend(calls=1)
        except Unanswered as unanswered:
            result, used = unanswered, most if unanswered.sent else Spend()
        except Retriable as invalid:  # an answer, which is paid for
            result, used = invalid, most
        if used != most:
            self.settle(reservation, used)
        return result, used

    def _enter(self, deadline: float | None) -> None:
        if self._stop.is_set():
            raise Retriable("the language model was closed")
        if deadline is not None and monotonic() >= deadline:
            raise Retriable("no time is left to ask the language model")
        self._breaker.enter()

    def _reserve(self, body: Mapping[str, Any]) -> Reservation:
        try:
            return self._budget.reserve(self._purpose, self._model, self.most(body))
        except BaseException:
            self._breaker.left()
            raise

    def _wait(self, error: Retriable, attempt: int, deadline: float | None) -> None:
        """Waits for the next try, or raises `error` if there is none."""
        delay = delay_before(attempt, error.retry_after, _dice.random())
        late = deadline is not None and monotonic() + delay >= deadline
        if attempt + 1 == _TRIES or delay > _LONGEST_WAIT or late or self._stop.wait(delay):
            raise error

    def _sent(self, body: dict[str, Any], deadline: float | None) -> Completion:
        """Sends one request and reports the outcome to the breaker."""
        begin = monotonic()
        until = begin + self._timeout if deadline is None else min(begin + self._timeout, deadline)
        try:
            content = self._transport.exchange(body, until)
        except Refused:
            raise  # the breaker learns from what it says
        except Unanswered as error:
            if error.late and until - begin < min(_FAIR, self._timeout):
                self._breaker.left()  # the server had too little time to count this as its failure
            else:
                self._breaker.failed(str(error))
            raise
        except BaseException:
            self._breaker.left()
            raise
        try:
            completion = completion_of(json.loads(content))
        except (ValueError, RecursionError) as error:
            problem = f"the language model at {self._transport.host} sent an invalid completion: {error}"
            self._breaker.failed(problem)
            raise Retriable(problem) from None
        self._breaker.succeeded()
        return completion

    def _refusal(self, refused: Refused, body: dict[str, Any]) -> MonitorError:
        status, quote = refused.status, refused.quote
        who = f"the language model {self._model} at {self._transport.host}"
        if refused.busy:
            if refused.wait is not None:
                self._breaker.hold(min(refused.wait, _LONGEST_HOLD))
            elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                self._breaker.failed(f"{who} has an error: status {status}")
            else:
                self._breaker.left()
            return Retriable(f"{who} is busy or over its limit: {quote}", retry_after=refused.wait)
        self._breaker.succeeded()
        if status == HTTPStatus.UNAUTHORIZED:  # without a quote, which may show parts of the key
            return Fatal(f"{who} does not accept the API key: set MONITOR_LLM__API_KEY to a valid one")
        data = "\n".join(message["content"] for message in body["messages"] if message["role"] != "system")
        if is_about_settings(status, quote, data):
            return Fatal(f"{who} is not available: check MONITOR_LLM__MODEL and MONITOR_LLM__BASE_URL ({quote})")
        too_long = is_too_long(status, quote)
        if not too_long and self._dialect.learned(body, quote):
            return AdaptedError()
        return NoAnswer("too_long" if too_long else "rejected", f"{who} refuses the request: {quote}", Spend())
