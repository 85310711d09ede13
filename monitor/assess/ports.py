"""The protocols through which the pipeline, the judge and the caches use models and services."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from monitor.assess.conversation.turn import Turn
    from monitor.assess.detect.detection import Claim, Detection
    from monitor.assess.embed.sentences import Vectors
    from monitor.assess.embed.tokens import Tokens
    from monitor.assess.llm.exchange import Form, Purpose, Reply, Request, Reservation, Spend
    from monitor.core.model import Interaction, Support


T = TypeVar("T", bound="Form")
MOST_RERANKED: Final = 50  # texts of one interaction that a reranker scores; a cross-encoder is slow


class Completer(Protocol):
    """Supplies supporting documents for interactions whose event carries none."""

    def complete(self, interactions: Sequence[Interaction]) -> list[Support]:
        """One `Support` per interaction, in order.

        Raises:
            Retriable: the service behind the completer is out of reach for now.
        """


class Conversations(Protocol):
    """Knows the earlier turns of conversations."""

    def before(self, interactions: Sequence[Interaction], leaning: Collection[int]) -> Mapping[int, Sequence[Turn]]:
        """The last turns before `interactions[i]` for each i of `leaning`, the first one first, and never a later one.

        They are of the same app and conversation, and at most `MOST_TURNS`. The other interactions are given because
        they may be such turns. Never raises and never waits for long: what cannot be looked up is left out.
        """


class LanguageModel(Protocol):
    """Asks a language model for answers of a given form. Any number of threads may call at the same time."""

    @property
    def model(self) -> str:
        """Name of the model as the server knows it; it is stored with each result."""

    def ask(self, request: Request[T], *, deadline: float | None = None) -> Reply[T]:
        """The answer in the form that the prompt asks for, before `deadline` (on the clock of `time.monotonic`).

        Raises:
            BudgetSpent, Retriable: the call cannot be made now; nothing is wrong with the request.
            NoAnswer: the model does not answer this request in the form asked for.
            Fatal: the server refuses permanently (key, model); the message says what to change.
        """


class Budget(Protocol):
    """Limits the calls of language models and counts what they use. Threads and processes may share a budget."""

    def reserve(self, purpose: Purpose, model: str, most: Spend) -> Reservation:
        """Counts the most that the caller is about to use. It stays counted until it is settled, or for good.

        Raises:
            BudgetSpent: too little is left for now, and nothing was counted; `retry_after` says when to ask again.
            Retriable: the budget is out of reach for now.
        """

    def settle(self, reservation: Reservation, spend: Spend) -> None:
        """Counts what was used instead of what was reserved; an empty `spend` gives everything back.

        Raises:
            Retriable: the budget is out of reach for now.
        """


class Embedder(Protocol):
    """Turns texts into sentence vectors. Any number of threads may call, unless the class says otherwise."""

    @property
    def model(self) -> str:
        """The name of the model build; each profile belongs to one."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions), in order.

        Raises:
            Retriable: the provider is out of reach or over its limit for now.
            Fatal: the provider refuses permanently (wrong key, unknown model).
        """


@runtime_checkable
class Piecewise(Protocol):
    """An embedder whose call is several requests, each of which costs money whether or not the next one succeeds."""

    def pieces(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], NDArray[np.float32]]]:
        """Yields positions in `texts` with their unit vectors, piece by piece; together they cover each position once.

        Raises:
            Retriable, Fatal: as `embed` does; the pieces yielded before remain valid.
        """


@runtime_checkable
class TokenEncoder(Protocol):
    """Turns texts into token vectors in context. One thread calls at a time."""

    @property
    def token_model(self) -> str:
        """The name of the model build; each profile belongs to one."""

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, in order; no tokens for an empty text. Callers must not write to them."""

    def sentences(self, texts: Sequence[str]) -> list[Vectors]:
        """Unit vectors of the sentences of each text, as `embed/sentences.py` cuts them, shape (sentences, dimensions).

        In order; a zero row for a sentence without tokens. Callers must not write to them.
        """


@runtime_checkable
class OnePass(Protocol):
    """A token encoder that is also an embedder, and computes everything from one pass of the model."""

    def embed_and_encode(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[Tokens], list[Vectors]]:
        """The results of `embed`, `encode` and `sentences`; raises what they raise."""


class Detector(Protocol):
    """Estimates how likely an answer says something that its documents do not. Any number of threads may call."""

    @property
    def model(self) -> str:
        """The model's name with a hash of everything that its scores depend on; a profile that uses them names it."""

    def detect(self, claims: Sequence[Claim]) -> list[Detection | None]:
        """One detection per claim, in order; None for a claim without documents or answer, or one that is too long.

        Raises:
            Retriable: the model cannot run for now.
        """


class Reranker(Protocol):
    """Scores texts by how well they answer a question. Any number of threads may call."""

    @property
    def model(self) -> str:
        """The model's name with a hash of everything that its scores depend on; it is recorded with the ranks."""

    def rank(self, question: str, texts: Sequence[str]) -> list[float] | None:
        """One score in [0, 1] per text, in order, the higher the better; only their order means something.

        None where the model has no scores to give (an empty question, a run that failed, values that are not numbers):
        the caller keeps the order that it has. A diagnosis holds up no event, so nothing here asks for a retry.

        Raises:
            ValueError: there are more than `MOST_RERANKED` texts.
        """
