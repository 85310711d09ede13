"""Lists the models that a server offers."""

from __future__ import annotations

import openai

from monitor.core.errors import OutOfReach, WrongSettings


def served_models(base_url: str, api_key: str) -> list[str]:
    """The names of the models, as the server lists them.

    Raises:
        OutOfReach: no OpenAI-compatible server answers.
        WrongSettings: the server refuses the key or has no list.
    """
    try:
        with openai.OpenAI(api_key=api_key, base_url=base_url, timeout=10.0, max_retries=0) as client:
            return [model.id for model in client.models.list()]
    except openai.APIConnectionError:
        raise OutOfReach(f"{base_url}: no OpenAI-compatible server answers there") from None
    except (openai.APIStatusError, ValueError) as error:
        raise WrongSettings(f"{base_url}: lists no models ({type(error).__name__}): set MONITOR_LLM__MODEL") from None
