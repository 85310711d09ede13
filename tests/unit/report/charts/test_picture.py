from __future__ import annotations

import struct
import zlib

import pytest

from monitor.report.charts import picture
from monitor.report.charts.drawing import course_chart
from tests.factories.alert.notifications import a_course

WORDS = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><text y="15">{}</text></svg>'


def ink(png: bytes) -> int:
    """How many bytes of the picture's rows are not empty; rows are as PNG filters them."""
    data, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        data += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + length
    return sum(byte != 0 for byte in zlib.decompress(data))


def test_words_are_drawn_without_any_font_of_the_machine(monkeypatch):
    used = []

    def render(**options):
        used.append(options["skip_system_fonts"])
        return real(**options)

    real = picture.resvg_py.svg_to_bytes
    monkeypatch.setattr(picture.resvg_py, "svg_to_bytes", render)
    long, short, none = (ink(picture.png(WORDS.format(text), scale=2)) for text in ("12:30", "1", ""))
    assert long > short > none
    picture.png(WORDS.format("答え"), scale=1)
    assert used == [True, True, True, False]


@pytest.mark.parametrize(
    "name", ["</svg><script>x</script>", "&nbsp; \x00 \x1b", "\ud800 \u202e", "拒否の割合", "é ü ß"]
)
def test_any_name_can_be_drawn(name):
    assert course_chart(a_course(name=name)).startswith(b"\x89PNG")


def test_the_title_is_in_the_picture():
    assert course_chart(a_course(name="rate of refusal")) != course_chart(a_course(name="rate of negative"))


def test_the_picture_stays_small_enough_for_a_mail():
    points = a_course().points * 40
    assert len(course_chart(a_course(points=points))) < 500_000
