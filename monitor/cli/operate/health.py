"""`monitor health`: whether the processes that answer at the ports of the settings can work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from monitor.core.errors import OutOfReach, WrongSettings
from monitor.core.settings.load import load_settings

if TYPE_CHECKING:
    from monitor.core.settings.load import Settings

_PATIENCE = 5.0  # seconds for one answer; longer than `/readyz` waits for the database
_MOST = 1_000  # bytes shown of an answer


def health(
    *,
    url: Annotated[
        str | None,
        typer.Option(help="Ask this address, such as http://monitor:9464. Default: those of the settings, here."),
    ] = None,
    alive: Annotated[
        bool, typer.Option("--alive", help="Ask only whether the process lives, whatever the database does.")
    ] = False,
) -> None:
    """Ask the processes that answer at the ports set here whether they can work.

    The exit code is 0 if all can, 1 if one cannot, 3 if none answers. It asks at MONITOR_METRICS__PORT, where `run`,
    `consume` and `collect` answer, and MONITOR_WEB__PORT, where `serve` does, whatever their state directory is: set
    the ports as they have them. For health checks of containers.
    """
    from monitor.app.logs import say
    from monitor.app.metrics.health import LIVE, READY

    if url is not None and not url.startswith(("http://", "https://")):
        raise WrongSettings(f"--url: {url!r} is not an address: write http://monitor:9464")
    settings = load_settings() if url is None else None
    addresses = [str(url).rstrip("/")] if settings is None else addresses_of(settings)
    answers = {address: answer for address in addresses if (answer := _asked(address + (LIVE if alive else READY)))}
    if not answers:
        raise OutOfReach(
            f"nothing answers at {' or '.join(addresses)}: start `monitor run`, `monitor consume` or `monitor collect` "
            "with MONITOR_METRICS__PORT set, here too, or `monitor serve`"
        )
    for address, (_, said) in answers.items():
        typer.echo(f"{address}: {said}")
    if settings is not None and not settings.metrics.port:
        say("not asked: `run`, `consume` and `collect`, since MONITOR_METRICS__PORT is not set here")
    if not all(good for good, _ in answers.values()):
        raise typer.Exit(1)


def addresses_of(settings: Settings) -> list[str]:
    """Where the processes of these settings answer, seen from the machine on which they run."""
    metrics, web = settings.metrics, settings.web
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  an address to listen on, not to ask
    places = [(local.get(place.host, place.host), place.port) for place in (metrics, web) if place.port]
    return [f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}" for host, port in places]


def _asked(url: str) -> tuple[bool, str] | None:
    """Whether the answer is good, and the answer; None where nobody listens."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import ProxyHandler, build_opener

    from monitor.core.text.plain import readable

    try:
        with build_opener(ProxyHandler({})).open(url, timeout=_PATIENCE) as answer:  # never through a proxy
            return True, readable(answer.read(_MOST).decode(errors="replace").strip())
    except HTTPError as error:
        with error:
            said = readable(error.read(_MOST).decode(errors="replace").strip())
        return False, f"{error.code} {error.reason}: {said}"
    except URLError as error:
        if isinstance(error.reason, ConnectionRefusedError):
            return None
        return False, f"no answer: {error.reason}"
    except (HTTPException, OSError) as error:
        return False, f"no answer: {str(error) or type(error).__name__}"
