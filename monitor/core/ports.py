"""Protocols at the seams. The core depends on these; `app.py` alone decides which adapter stands behind each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from monitor.assess.detect.detection import Claim, Detection
    from monitor.assess.embed.tokens import Tokens
    from monitor.assess.llm.exchange import Form, Purpose, Reply, Request, Spend
    from monitor.core.errors import Fenced
    from monitor.core.message import Message, Offset, Progress, StoredOffset
    from monitor.core.model import Batch, Interaction, Support, Tally

T = TypeVar("T", bound="Form")


class Source(Protocol):
    """Where messages come from.

    One thread calls it, but for `stored` and `fenced`, which the writing one calls, and `progress`, which any may.
    """

    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        """The next messages in order, empty when none came within `timeout` seconds, None at the end of the input.

        Raises:
            Retriable: the source is out of reach for now.
            Fatal: it cannot be read at all.
        """

    def offsets(self) -> Sequence[Offset]:
        """How far it was read since the last call, to be stored with what the polls since then gave.

        Empty for a source that keeps no place.
        """

    def hold(self) -> None:
        """Called again and again, instead of `poll`, while what was polled cannot go on; gives nothing, waits little.

        A source that others share keeps up its place among them meanwhile.
        """

    def stored(self, offsets: Sequence[Offset]) -> None:
        """Told after the transaction that holds `offsets` has committed; never before."""

    def fenced(self, offsets: Sequence[Offset], error: Fenced) -> None:
        """Told instead that nothing of a batch was stored, since others have read on; what is theirs is given up.

        Raises:
            Fenced: `error` itself, from a source that cannot be shared.
        """

    def progress(self) -> Sequence[Progress]:
        """How far the partitions that are its own were stored; empty for a source that ends by itself.

        One of which nothing is known yet is left out.
        """

    def close(self) -> None:
        """Gives back what it holds."""


class GroupOffsets(Protocol):
    """How far a consumer group has read, for the source that goes on from there. Methods may raise `Retriable`."""

    def stored(self) -> Mapping[tuple[str, int], StoredOffset]:
        """By topic and partition; what was never read is not there."""

    def pin(self, offsets: Sequence[Offset]) -> None:
        """Stores where partitions begin that have no offset yet; the others stay as they are."""


class Completer(Protocol):
    """Supplies supporting documents for interactions whose generator was not asked."""

    def complete(self, interactions: Sequence[Interaction]) -> list[Support]:
        """One `Support` per interaction, in order.

        Raises:
            Retriable: the service behind it is out of reach for now.
        """


class LanguageModel(Protocol):
    """Asks a language model for answers of a given form; any number of threads may call at a time."""

    @property
    def model(self) -> str:
        """The model's name."""

    def ask(self, request: Request[T], *, deadline: float | None = None) -> Reply[T]:
        """The answer in the form that the prompt asks for, before `deadline` (of `time.monotonic`).

        Raises:
            BudgetSpent, Retriable: not now; nothing is wrong with the request.
            NoAnswer: the model does not answer this request in the form asked for.
            Fatal: the server refuses for good (key, model); the message says how to mend it.
        """


class Budget(Protocol):
    """What calls of language models may use, and what they used. Any number of threads and processes may share it."""

    def take(self, purpose: Purpose, model: str, *, calls: int = 1) -> None:
        """Takes so many calls, to be made now.

        Raises:
            BudgetSpent: there is nothing left of it for now; nothing was taken. `retry_after` says when there will be.
            Retriable: it cannot be asked for now.
        """

    def count(self, purpose: Purpose, model: str, spend: Spend) -> None:
        """Adds the tokens and the cost of calls that were taken before; may raise `Retriable`."""


class Embedder(Protocol):
    """Texts to sentence vectors; any number of threads may call at a time."""

    @property
    def model(self) -> str:
        """Name of the model build; a profile belongs to one."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions), in order.

        Raises:
            Retriable: the provider is out of reach or over its limit for now.
            Fatal: the provider refuses for good (wrong key, unknown model).
        """


@runtime_checkable
class TokenEncoder(Protocol):
    """Texts to token vectors in context; one thread calls at a time."""

    @property
    def token_model(self) -> str:
        """Name of the model build; a profile belongs to one."""

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, in order; none for an empty text. What is given is not to be written to."""


class Detector(Protocol):
    """Says how likely something in an answer is not carried by its documents; any number of threads may call."""

    @property
    def model(self) -> str:
        """Name of the model with a hash of all that its scores depend on; a profile that uses them belongs to it."""

    def detect(self, claims: Sequence[Claim]) -> list[Detection | None]:
        """One detection per claim, in order; None where nothing can be said: no documents, an empty answer, too long.

        Raises:
            Retriable: the model cannot be run for now.
        """


class Store(Protocol):
    """Keeps everything; one `write` is one transaction."""

    def write(self, batch: Batch) -> Tally:
        """Stores a batch and its rollup in one transaction. Interactions whose (app, id) is known count as duplicate.

        Raises:
            Retriable: the database is out of reach for now; nothing of the batch was stored.
            Fenced: an offset is not the expected one any more: somebody else reads the same source; nothing was stored.
        """
