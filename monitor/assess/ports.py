"""Protocols of assessing: completers, models, embedders, detectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from monitor.assess.detect.detection import Claim, Detection
    from monitor.assess.embed.tokens import Tokens
    from monitor.assess.llm.exchange import Form, Purpose, Reply, Request, Spend
    from monitor.core.model import Interaction, Support


T = TypeVar("T", bound="Form")


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
