"""Takes the pictures of docs/images/: plays both demos, serves their pages, and looks at them with Chromium.

    .venv/bin/python tools/screenshots.py            # needs Chromium; takes some five minutes

Seed, sizes and browser settings are fixed, so pictures differ only where pages do, and in their times, which end when
the demo was played. Chromium itself packs them as WebP.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "images"
MONITOR = Path(sys.executable).parent / "monitor"
WIDTH = 1200
QUALITY = 0.82
SEED = "7"
LINK = re.compile(r"works once: ((http://127\.0\.0\.1:\d+)/\S+)")
_AS_WEBP = """async ([png, quality]) => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + png)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext('2d').drawImage(image, 0, 0);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({type: 'image/webp', quality})).arrayBuffer());
    return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A page to look at: in which demo, how to get there by links, and how much of it is shown.

    A path without a slash is a file in the demo's folder.
    """

    name: str
    demo: str
    path: str
    follow: tuple[str, ...] = ()
    height: int


PICTURES = (
    Picture(name="overview", demo="demo", path="/?span=1h", height=900),
    Picture(
        name="answer",
        demo="demo",
        path="/interactions?verdict=self_generated&span=24h",
        follow=("main a[href^='/interactions/quillmere-support/']",),
        height=1100,
    ),
    Picture(
        name="alert",
        demo="demo",
        path="/alerts?state=all",
        follow=("main a[href^='/alerts/']:not([href='/alerts/rules'])",),
        height=1000,
    ),
    Picture(name="report", demo="demo", path="week.html", height=1000),
    Picture(name="probe", demo="demo-probe", path="/probes", follow=("main a[href^='/probes/']",), height=900),
)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    arguments.add_argument("--output", type=Path, default=FOLDER)
    arguments.add_argument("--chromium", default=shutil.which("chromium"), help="default: the one on the path")
    chosen = arguments.parse_args()
    if chosen.chromium is None:
        sys.exit("Chromium is needed: apt-get install chromium, or --chromium PATH")
    chosen.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="monitor-screenshots-") as folder, sync_playwright() as playwright:
        Path(folder).chmod(0o755)  # PostgreSQL does not run as root, and its user has to get there
        chromium = playwright.chromium.launch(executable_path=chosen.chromium, args=["--no-sandbox"])
        _played(Path(folder), "demo", "--seed", SEED)
        _played(Path(folder), "demo", "--probe")
        _reported(Path(folder) / "demo")
        for demo in ("demo", "demo-probe"):
            with _serving(Path(folder) / demo) as (link, base):
                page = chromium.new_page(locale="en-GB", timezone_id="UTC")
                page.goto(link)  # signs in
                for picture in PICTURES:
                    if picture.demo == demo:
                        its = base if picture.path.startswith("/") else f"file://{folder}/{demo}/"
                        _take(chromium, page, picture, its + picture.path, chosen.output)
        chromium.close()


def _environment(state: Path) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MONITOR_")}
    return {**kept, "MONITOR_STATE_DIR": str(state), "MONITOR_WEB__PORT": "0"}


def _played(state: Path, *words: str) -> None:
    subprocess.run([MONITOR, *words, "--plain"], check=True, env=_environment(state), cwd=state)


def _reported(state: Path) -> None:
    """Writes the report of this week, in which the demo was played; it is no page of the dashboard before Monday."""
    week = f"{datetime.now(UTC):%G-W%V}"
    words = ["report", "weekly", "--week", week, "--output", "week.html"]
    subprocess.run([MONITOR, *words], check=True, env=_environment(state), cwd=state)


@contextmanager
def _serving(state: Path) -> Iterator[tuple[str, str]]:
    """The link that signs in to the pages of a demo, and their address."""
    serving = [MONITOR, "serve"]
    with subprocess.Popen(serving, stderr=subprocess.PIPE, text=True, env=_environment(state), cwd=state) as server:
        try:
            yield next((found[1], found[2]) for line in server.stderr or () if (found := LINK.search(line)))
        finally:
            server.terminate()


def _take(browser: Browser, page: Page, picture: Picture, address: str, folder: Path) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": WIDTH, "height": picture.height})
        page.goto(address)
        for link in picture.follow:
            page.locator(link).first.click()
            page.wait_for_load_state("load")
        png = base64.b64encode(page.screenshot()).decode()
        blank = browser.new_page()
        webp = base64.b64decode(blank.evaluate(_AS_WEBP, [png, QUALITY]))
        blank.close()
        file = folder / f"{picture.name}{'-dark' if scheme == 'dark' else ''}.webp"
        file.write_bytes(webp)
        print(f"{file.name}: {len(webp) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
