"""Renders a report as one HTML page with its styles and charts inline, and without scripts.

Every text is escaped; only our own charts go in as they are. The page's content policy lets it load nothing.
"""

from __future__ import annotations

from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from monitor.report.weekly.actions import actions, calm
from monitor.report.weekly.content import digest
from monitor.report.weekly.document import Link, sections
from monitor.report.weekly.elements import Chart, Item
from monitor.report.weekly.summary import headline, period, title, warnings


def page(content: Item, link: Link, base: str | None = "") -> str:
    """The whole page, the same for the same content and links.

    `base` is the address of the installation, empty on a page that it serves itself; without one, paths are no links.
    """
    return _template().render(
        title=title(content),
        period=period(content),
        actions=actions(content),
        calm=calm(content),
        base=base,
        headline=headline(content),
        warnings=warnings(content),
        sections=sections(content, link),
        drawn=_drawn,
        digest=digest(content),
    )


def _drawn(chart: Chart) -> Markup:
    return Markup(chart.svg())  # noqa: S704  our own drawing, without text from outside


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("monitor.report.weekly"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("weekly.html")
