"""How pages are written: Jinja2 with everything escaped, and how times, shares and foreign texts look in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from monitor.core.duration import format_duration
from monitor.core.model import Verdict
from monitor.privacy.masking import redact
from monitor.web.base.access import Identity, Permission

HERE = Path(__file__).parent.parent
VERDICTS: Mapping[str, tuple[str, str]] = {  # its sign, so that colour is not all that tells it, and its name
    Verdict.GROUNDED: ("✓", "grounded"),
    Verdict.REFUSAL: ("⊘", "refusal"),
    Verdict.SELF_GENERATED: ("✗", "self-generated"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the navigation."""

    path: str
    name: str
    permission: Permission = Permission.VIEW


PLACES = (
    Place("/", "Overview"),
    Place("/interactions", "Interactions"),
    Place("/alerts", "Alerts"),
    Place("/review", "Review queue"),
    Place("/reports", "Reports"),
    Place("/profiles", "Profiles"),
    Place("/dead-letters", "Dead letters"),
    Place("/audit", "Audit"),
)


def page(request: Request, template: str, who: Identity, *, status: int = 200, **context: Any) -> HTMLResponse:
    """`template` with what every page has: who looks, the navigation, the token of its forms, the time."""
    now: datetime = request.app.state.guard.now()
    places = [place for place in PLACES if who.may(place.permission)]
    text = _ENVIRONMENT.get_template(template).render(
        request=request, who=who, places=places, here=_here(request.url.path), csrf=who.csrf or "", now=now, **context
    )
    return HTMLResponse(text, status_code=status)


def bare_page(template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """One for people who have not signed in."""
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(**context), status_code=status)


def local(path: str | None) -> str:
    """A path of ours to go on to: `path` if it is one, else the overview."""
    plain = path is not None and path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if plain and path else "/"


def path_of(app: str, interaction_id: str) -> str:
    """Where an interaction is looked at."""
    return f"/interactions/{_segment(app)}/{_segment(interaction_id)}"


def _here(path: str) -> str:
    """The place that a path belongs to, empty where it is none of them."""
    head = "/" + path.split("/")[1]
    return head if head in {place.path for place in PLACES} else ""


def _when(moment: datetime | None) -> Markup | str:
    """A time in UTC, to the minute; machines and the pointer get it whole."""
    if moment is None:
        return "–"
    utc = moment.astimezone(UTC)
    whole = utc.isoformat(timespec="seconds").replace("+00:00", "Z")
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(whole, f"{utc:%Y-%m-%d %H:%M}")


def _share(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}%}".replace("%", "\u00a0%")


def _figure(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}".replace(",", "\u202f")


def _length(value: timedelta | float | None) -> str:
    if value is None:
        return "–"
    return format_duration(value if isinstance(value, timedelta) else timedelta(seconds=round(value)))


def _verdict(value: str | None) -> Markup | str:
    if value is None:
        return "–"
    sign, name = VERDICTS[value]
    return Markup('<span class="verdict {0}"><span aria-hidden="true">{1}</span> {2}</span>').format(value, sign, name)


def _short(text: str, most: int = 160) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _segment(text: str) -> str:
    """For one segment of a path."""
    return quote(text.encode(errors="replace"), safe="")


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "when": _when, "share": _share, "figure": _figure, "count": _count, "length": _length, "verdict": _verdict,
        "short": _short, "segment": _segment, "masked": redact, "query": urlencode,
    }  # fmt: skip
    environment.globals |= {"VERDICTS": VERDICTS, "Permission": Permission}
    return environment


_ENVIRONMENT = _environment()
