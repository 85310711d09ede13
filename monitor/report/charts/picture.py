"""Makes a PNG of an SVG element, for receivers that show no SVG. resvg draws it in this process; nothing is fetched."""

from __future__ import annotations

from importlib.resources import as_file, files

import resvg_py

_FONT, _FAMILY = "Roboto-Regular.ttf", "Roboto"


def png(svg: str, *, scale: float) -> bytes:
    """The picture, `scale` pixels for each of the element's.

    Words are written in the font beside this file, so they are the same on a machine without any. Fonts of the machine
    are looked for only if there is other than ASCII text, which takes a while.
    """
    with as_file(files(__package__) / _FONT) as font:
        return resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=scale,
            font_files=[str(font)],
            font_family=_FAMILY,
            sans_serif_family=_FAMILY,
            skip_system_fonts=svg.isascii(),
        )
