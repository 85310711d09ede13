"""Renders pages with Jinja2, everything escaped; its filters format times, shares and foreign texts."""

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

from monitor.alert.figures import amount
from monitor.core.model import Verdict
from monitor.core.text.duration import format_duration
from monitor.core.text.plain import money
from monitor.privacy.masking import redact
from monitor.web.base.access import Identity, Permission

WEB_FOLDER = Path(__file__).parent.parent
VERDICTS: Mapping[str, tuple[str, str]] = {  # sign and name; the sign serves those who do not see the colour
    Verdict.GROUNDED: ("✓", "grounded"),
    Verdict.REFUSAL: ("⊘", "refusal"),
    Verdict.SELF_GENERATED: ("✗", "self-generated"),
}


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    path: str
    name: str
    permission: Permission = Permission.VIEW


NAVIGATION = (
    NavigationEntry("/", "Overview"),
    NavigationEntry("/interactions", "Interactions"),
    NavigationEntry("/alerts", "Alerts"),
    NavigationEntry("/review", "Review queue"),
    NavigationEntry("/probes", "Probes"),
    NavigationEntry("/reports", "Reports"),
    NavigationEntry("/profiles", "Profiles"),
    NavigationEntry("/dead-letters", "Dead letters"),
    NavigationEntry("/audit", "Audit"),
)


def page(request: Request, template: str, who: Identity, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Renders `template` with what every page needs: the user, the navigation, the token of its forms, the time."""
    now: datetime = request.app.state.guard.now()
    text = _ENVIRONMENT.get_template(template).render(
        request=request,
        who=who,
        navigation=[entry for entry in NAVIGATION if who.may(entry.permission)],
        current_path=_current_path(request.url.path),
        csrf=who.csrf or "",
        now=now,
        **context,
    )
    return HTMLResponse(text, status_code=status)


def bare_page(template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Renders a page for people who have not signed in."""
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(**context), status_code=status)


def local_path(path: str | None) -> str:
    """A path of this dashboard to go on to: `path` if it is one, else the overview."""
    plain = path is not None and path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if plain and path else "/"


def interaction_path(app: str, interaction_id: str) -> str:
    return f"/interactions/{_segment(app)}/{_segment(interaction_id)}"


def own_drawing(svg: str) -> Markup:
    """An SVG for a template, unescaped: only for what this program draws from numbers and its own words."""
    return Markup(svg)  # noqa: S704  no foreign text is in it


_LONGEST = 1e9  # seconds; a producer may send any number


def _current_path(path: str) -> str:
    """The path of the navigation entry that a page belongs to; empty for other pages."""
    head = "/" + path.split("/")[1]
    return head if head in {entry.path for entry in NAVIGATION} else ""


def _when(moment: datetime | None) -> Markup | str:
    """A time in UTC, to the minute; to the second for machines and under the pointer."""
    if moment is None:
        return "–"
    utc = moment.astimezone(UTC)
    to_the_second = utc.isoformat(timespec="seconds").replace("+00:00", "Z")
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(to_the_second, f"{utc:%Y-%m-%d %H:%M}")


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


def _seconds(value: float | None) -> str:
    return "–" if value is None else amount(min(value, _LONGEST), "seconds")


def _money(value: float | None) -> str:
    return "–" if value is None else money(value)


def _verdict(value: str | None) -> Markup | str:
    if value is None:
        return "–"
    sign, name = VERDICTS[value]
    return Markup('<span class="verdict {0}"><span aria-hidden="true">{1}</span> {2}</span>').format(value, sign, name)


def _short(text: str, most: int = 160) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _segment(text: str) -> str:
    """`text` as one segment of a path."""
    return quote(text.encode(errors="replace"), safe="")


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(WEB_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "when": _when,
        "share": _share,
        "figure": _figure,
        "count": _count,
        "length": _length,
        "seconds": _seconds,
        "money": _money,
        "verdict": _verdict,
        "short": _short,
        "segment": _segment,
        "masked": redact,
        "query": urlencode,
    }
    environment.globals |= {"VERDICTS": VERDICTS, "Permission": Permission}
    return environment


_ENVIRONMENT = _environment()
